package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.BulkOptions;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.ConnectOptions;
import io.spindle.Event;
import io.spindle.FlushRequest;
import io.spindle.Name;
import io.spindle.TestDaemon;
import io.spindle.protocol.BulkRequest;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.PlayedDaemon;
import io.spindle.store.StoreException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a new session has not told of. */
final class UntoldChannelsTest {
  private static final long RETOLD_WITHIN = 10_000_000; // ns
  private static final int LOOKS = 20; // more than it is to be heard before the end

  /** One that the daemon is not heard in at first. */
  private static final class ScriptedSession implements BulkIo.Session {
    final CountDownLatch looks = new CountDownLatch(LOOKS);
    final CountDownLatch end = new CountDownLatch(1);
    volatile boolean hears;

    @Override
    public boolean ask(BulkRequest request) {
      return true;
    }

    @Override
    public void give(Event event) {}

    @Override
    public void askAndGive(BulkRequest request, Event event) {}

    @Override
    public void noteFailure(ChannelId channel, StoreException failure) {}

    @Override
    public boolean isTold() {
      looks.countDown();
      return hears;
    }

    @Override
    public void endUntold() {
      end.countDown();
    }

    @Override
    public String address() {
      return "";
    }

    @Override
    public void noteBroken(Code code, String text) {}

    @Override
    public long expire(long now) {
      return ClientSession.NEVER;
    }
  }

  private static boolean await(CountDownLatch latch) throws InterruptedException {
    return latch.await(TestDaemon.PATIENCE_S, TimeUnit.SECONDS);
  }

  /** A program that takes no events has the daemon's offers wait unread, and a session may be lost before it has told. */
  @Test
  void endOnlyInTimeInWhichTheDaemonIsHeard() throws Exception {
    ScriptedSession session = new ScriptedSession();
    Dialler dialler = new Dialler(ConnectOptions.DEFAULT, Thread::new);
    BulkIo io = new BulkIo(session, dialler, Thread::new, 1, RETOLD_WITHIN);
    io.start(1);
    io.runSoon(io::sessionBeganAnew);
    assertTrue(await(session.looks), "nobody asks");
    assertEquals(1, session.end.getCount());
    session.hears = true;
    assertTrue(await(session.end), "there is no end");
    io.stop();
    io.awaitEnd();
  }

  private static List<Event> request() {
    return new ArrayList<>(List.of(new FlushRequest(Name.of("den"), 1)));
  }

  @Test
  void theDaemonIsHeardWhereItIsReadOnAConnection() throws Exception {
    try (Selector selector = Selector.open()) {
      ConnectOptions options = ConnectOptions.DEFAULT.withBulk(BulkOptions.DEFAULT);
      ConnectionState state = new ConnectionState(options, selector);
      EventQueue events = new EventQueue(1000, () -> {}, () -> {});
      BulkCalls bulk = new BulkCalls(state, new LinkWriter(state), events, BulkOptions.DEFAULT, Thread::new);
      ClientSession session = state.session();
      session.start(Clock.now());
      assertEquals(0, session.takeDial());
      assertFalse(bulk.isTold(), "nobody is there");
      session.connected("");
      assertFalse(bulk.isTold(), "nobody has said anything");
      session.reader().read(ByteBuffer.wrap(PlayedDaemon.welcome(Name.of("#ann#alpha")).toBytes()));
      session.settle(Clock.now());
      assertTrue(bulk.isTold());
      events.push(request(), 2000);
      assertFalse(bulk.isTold(), "nothing is read");
      events.poll();
      events.poll();
      assertTrue(bulk.isTold());
      session.reader().end(Code.CONNECTION_LOST, "");
      session.settle(Clock.now());
      assertTrue(state.canSend());
      assertFalse(bulk.isTold(), "it is on its way back");
    }
  }
}
