package io.spindle.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.Answers;
import io.spindle.Code;
import io.spindle.ConnectOptions;
import io.spindle.Connection;
import io.spindle.Destinations;
import io.spindle.Event;
import io.spindle.JoinOptions;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.NotTakenException;
import io.spindle.Reconnected;
import io.spindle.RequestFailed;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.Spindle;
import io.spindle.TestDaemon;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class ClientSessionTest {
  private static final Name DEN = Name.of("den");
  private static final Name NEWS = Name.of("news");
  private static final Name FORMER = Name.of("#ann#alpha");
  private static final Name OWN = Name.of("#ann#beta");

  private static final long SECOND = 1_000_000_000L;

  private static ClientSession newSession(int servers, long connectTimeout) {
    return new ClientSession(
        new SessionOptions("ann", false, 0, servers, connectTimeout, 60 * SECOND, false, 0, false, 1),
        new Observer() {
          @Override
          public boolean refused(int request, RequestFailed failed) {
            return false;
          }

          @Override
          public void confirmed(int request) {}

          @Override
          public void answered(long number, Code error, Answers answers) {}
        });
  }

  private ClientSession session = newSession(1, 5 * SECOND);
  private long now;

  private void read(Output frames) {
    session.reader().read(ByteBuffer.wrap(frames.toBytes()));
  }

  private void connect(Name name) {
    assertEquals(0, session.takeDial());
    session.connected("");
    read(PlayedDaemon.welcome(name));
    session.settle(now);
    assertTrue(session.isConnected());
  }

  private static Output view(Name group, Consumer<Output> rest) {
    Output frame = new Output();
    int head = frame.beginFrame(Frames.VIEW);
    frame.name(group);
    frame.varint(1);
    frame.name(Name.of("beta"));
    frame.u64(1);
    frame.varint(1);
    rest.accept(frame);
    frame.endFrame(head);
    return frame;
  }

  /** A view of all members. */
  private static Output view(Name group, Name... members) {
    return view(
        group,
        frame -> {
          frame.u8(1); // somebody has joined
          frame.u8(0);
          frame.u64(0);
          frame.varint(0);
          frame.varint(0);
          frame.varint(0);
          frame.varint(members.length);
          List.of(members).forEach(frame::name);
        });
  }

  /** It was in both groups, and has come to another daemon, where it has asked to join them. */
  private void begin() {
    session.start(now);
    connect(FORMER);
    for (Name group : List.of(DEN, NEWS)) {
      assertNull(session.writer().join(group, false));
      read(view(group, FORMER));
    }
    session.settle(now);
    session.reader().end(session.engine().endReason(), "");
    session.settle(now);
    now = session.nextDeadline();
    session.handleTime(now);
    connect(OWN);
    session.reader().takeEvents();
    write();
  }

  private void write() {
    for (ByteBuffer piece = session.writer().output(); piece != null; piece = session.writer().output()) {
      session.consume(piece.remaining());
    }
  }

  /** Another thread may be reading then. */
  @Test
  void leavingLeavesTheReaderAlone() {
    begin();
    assertNull(session.writer().multicast(Service.AGREED, Destinations.of(NEWS), new byte[] {1}, SendOptions.DEFAULT));
    read(view(NEWS, OWN));
    assertNull(session.leave(DEN));
    List<EventReader.SeenView> seen = session.reader().takeSeenViews();
    assertEquals(List.of(NEWS), seen.stream().map(EventReader.SeenView::group).toList());
  }

  @Test
  void whatIsSentGoesOnceTheLastGroupIsLeft() {
    begin();
    assertNull(session.writer().multicast(Service.AGREED, Destinations.of(NEWS), new byte[] {1}, SendOptions.DEFAULT));
    assertNull(session.leave(DEN));
    read(view(NEWS, FORMER, OWN));
    session.settle(now);
    assertEquals(0, session.writer().writableSize());
    assertNull(session.leave(NEWS));
    assertTrue(session.writer().writableSize() > 0);
  }

  /** The last view of the group, where its client was FORMER. */
  private static Output farewell(Name group) {
    return view(
        group,
        frame -> {
          frame.u8(2); // somebody has left
          frame.u8(3);
          frame.u64(0);
          frame.varint(0);
          frame.varint(1);
          frame.name(FORMER);
          frame.varint(0);
          frame.varint(0);
        });
  }

  private static Output reply(int request, Code code) {
    Output frame = new Output();
    int head = frame.beginFrame(Frames.REPLY);
    frame.varint32(request);
    frame.u16(code == null ? 0 : code.number());
    frame.endFrame(head);
    return frame;
  }

  /** A join that was on its way is not to be. */
  private static Output refusedJoin(Name group) {
    return refused(2, Code.MODE_MISMATCH, group);
  }

  private static Output refused(int what, Code code, Name group) {
    Output frame = new Output();
    int head = frame.beginFrame(Frames.REFUSED);
    frame.u8(what);
    frame.u16(code.number());
    frame.varint(0);
    frame.name(group);
    frame.endFrame(head);
    return frame;
  }

  private void hear(Output... frames) {
    for (Output each : frames) {
      read(each);
      session.settle(now);
    }
  }

  private void join(boolean synchronous) {
    assertNull(session.writer().join(NEWS, synchronous));
  }

  /** The join has its answer. */
  private void joinAndLeave() {
    session.start(now);
    connect(FORMER);
    join(false);
    hear(reply(1, null));
    assertNull(session.leave(NEWS));
  }

  @Test
  void aLeaveBehindARefusedJoinHasNoLastView() {
    leaveBehindARefusedJoin(true);
  }

  /** The answer is that it finds no member. */
  @Test
  void aLeaveBehindARefusedJoinEndsOnceWhereItsAnswerIsToCome() {
    leaveBehindARefusedJoin(false);
  }

  private void leaveBehindARefusedJoin(boolean isAnsweredBefore) {
    joinAndLeave();
    if (isAnsweredBefore) {
      hear(reply(2, null));
    }
    hear(refusedJoin(NEWS));
    join(true);
    assertNull(session.leave(NEWS));
    if (!isAnsweredBefore) {
      hear(reply(2, Code.NOT_A_MEMBER));
    }
    assertTrue(session.writer().isLeaving(NEWS), "the second time");
    hear(reply(3, null), reply(4, null), view(NEWS, FORMER), farewell(NEWS));
    assertFalse(session.writer().isLeaving(NEWS));
  }

  private boolean isJoinedAgain() {
    write();
    session.reader().end(session.engine().endReason(), "");
    session.settle(now);
    now = session.nextDeadline();
    session.handleTime(now);
    connect(OWN);
    return session.writer().pendingJoin(NEWS) != 0;
  }

  /** Its turn in the order comes behind the answers to what was asked behind it. */
  @Test
  void aJoinBehindARefusedOneStands() {
    joinAndLeave();
    join(true);
    hear(reply(2, null), reply(3, null), refusedJoin(NEWS));
    assertTrue(isJoinedAgain());
    hear(reply(4, null), refusedJoin(NEWS));
    assertFalse(isJoinedAgain(), "nobody has asked since");
  }

  /** The answers come behind that. */
  @Test
  void aJoinBehindARefusedOneStandsWhereItsAnswerIsToCome() {
    joinAndLeave();
    join(true);
    hear(refusedJoin(NEWS), reply(2, Code.NOT_A_MEMBER), reply(3, null));
    assertTrue(isJoinedAgain());
  }

  @Test
  void aJoinBehindOneThatIsRefusedAtOnceStands() {
    session.start(now);
    connect(FORMER);
    join(false);
    join(true);
    hear(reply(1, Code.MODE_MISMATCH), reply(2, null));
    assertTrue(isJoinedAgain());
    join(false);
    hear(reply(3, Code.MODE_MISMATCH), reply(4, Code.MODE_MISMATCH));
    assertFalse(isJoinedAgain());
  }

  /** The answer to it comes with the news that the client has been taken out of the group. */
  @Test
  void aJoinOfAGroupThatTheClientIsTakenOutOfStands() {
    session.start(now);
    connect(FORMER);
    join(false);
    hear(reply(1, null), view(NEWS, FORMER));
    join(true);
    read(refused(1, Code.FLUSH_TIMEOUT, NEWS));
    hear(reply(2, null));
    assertTrue(isJoinedAgain());
    hear(reply(3, null), refused(1, Code.FLUSH_TIMEOUT, NEWS));
    assertFalse(isJoinedAgain());
  }

  /** As a daemon does for a client that joins a group, and then as another one that does not let it in. */
  private static void serve(ServerSocket server, CompletableFuture<Void> hasSent) {
    try {
      try (Socket first = server.accept()) {
        first.getOutputStream().write(PlayedDaemon.welcome(FORMER).toBytes());
        PlayedDaemon.awaitFrame(new DataInputStream(first.getInputStream()), Frames.JOIN);
        first.getOutputStream().write(view(DEN, FORMER).toBytes());
      }
      try (Socket second = server.accept()) {
        second.getOutputStream().write(PlayedDaemon.welcome(OWN).toBytes());
        PlayedDaemon.awaitFrame(new DataInputStream(second.getInputStream()), Frames.SEND);
        hasSent.complete(null);
      }
    } catch (IOException failure) {
      hasSent.completeExceptionally(failure);
    }
  }

  /** They accept it, and say nothing. */
  @Test
  void allServersAreTriedInTheTimeThatThereIsToComeBack() {
    session = newSession(2, ClientSession.NEVER);
    session.start(now);
    connect(FORMER);
    session.reader().end(session.engine().endReason(), "");
    session.settle(now);
    final long lost = now;
    List<Integer> tried = new ArrayList<>();
    while (!session.isOver()) {
      now = session.nextDeadline();
      session.handleTime(now);
      int server = session.takeDial();
      if (server >= 0) {
        tried.add(server);
        session.connected("");
        assertTrue(session.dialUntil() - lost <= 65 * SECOND);
      }
    }
    assertEquals(List.of(0, 1), tried.subList(0, 2));
    assertTrue(now - lost < 70 * SECOND);
  }

  /** Answers a confirm: nothing has been sent in this session. */
  private static void answerConfirm(Socket client, DataInputStream from) throws IOException {
    byte[] confirm = PlayedDaemon.awaitFrame(from, Frames.CONFIRM);
    Output answer = new Output();
    int head = answer.beginFrame(Frames.CONFIRMED);
    answer.bytes(confirm, 0, confirm.length);
    answer.varint(0);
    answer.endFrame(head);
    client.getOutputStream().write(answer.toBytes());
  }

  /** As a daemon that is gone as it is asked for a confirmation, and then as another one. */
  private static void serveConfirms(ServerSocket server, CompletableFuture<Void> isOver) {
    try {
      try (Socket first = server.accept()) {
        first.getOutputStream().write(PlayedDaemon.welcome(FORMER).toBytes());
        PlayedDaemon.awaitFrame(new DataInputStream(first.getInputStream()), Frames.CONFIRM);
      }
      try (Socket second = server.accept()) {
        second.getOutputStream().write(PlayedDaemon.welcome(OWN).toBytes());
        DataInputStream from = new DataInputStream(second.getInputStream());
        answerConfirm(second, from);
        answerConfirm(second, from);
        isOver.complete(null);
      }
    } catch (IOException failure) {
      isOver.completeExceptionally(failure);
    }
  }

  private static NotTakenException failureOf(CompletableFuture<Void> confirmation) {
    ExecutionException failure =
        assertThrows(ExecutionException.class, () -> confirmation.get(TestDaemon.PATIENCE_S, TimeUnit.SECONDS));
    return assertInstanceOf(NotTakenException.class, failure.getCause());
  }

  /** What the former daemon may have let in, or not, the new one can say nothing of. */
  @Test
  void confirmationsCountWhatIsUnknownUntilTheProgramHasBeenToldOfIt() throws Exception {
    CompletableFuture<Void> isOver = new CompletableFuture<>();
    try (ServerSocket server = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
      Thread daemon = new Thread(() -> serveConfirms(server, isOver));
      daemon.start();
      ConnectOptions options =
          ConnectOptions.at("tcp:127.0.0.1:" + server.getLocalPort()).withKeepalive(Duration.ofHours(1));
      try (Connection ann = Spindle.connect(options)) {
        for (int i = 0; i < 3; i++) {
          ann.multicast(Service.AGREED, "news", new byte[1]);
        }
        NotTakenException lost = failureOf(ann.confirm(Duration.ofHours(1)));
        assertEquals(Code.CONNECTION_LOST, lost.code());
        assertEquals(new NotTaken(3, false), lost.notTaken());
        lost = failureOf(ann.confirm(Duration.ofHours(1)));
        assertEquals(new NotTaken(3, false), lost.notTaken(), "it has not been told before");
        assertEquals(3, assertInstanceOf(Reconnected.class, ann.receive()).unknown().size());
        ann.confirm(Duration.ofHours(1)).get(TestDaemon.PATIENCE_S, TimeUnit.SECONDS);
        isOver.get(TestDaemon.PATIENCE_S, TimeUnit.SECONDS);
      }
      daemon.join();
    }
  }

  /** Its thread waits for nothing else then, and for long. */
  @Test
  void leavingWakesAConnectionThatWaits() throws Exception {
    CompletableFuture<Void> hasSent = new CompletableFuture<>();
    try (ServerSocket server = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
      Thread daemon = new Thread(() -> serve(server, hasSent));
      daemon.start();
      ConnectOptions options =
          ConnectOptions.at("tcp:127.0.0.1:" + server.getLocalPort()).withKeepalive(Duration.ofHours(1));
      try (Connection ann = Spindle.connect(options)) {
        ann.requestJoin(DEN, JoinOptions.DEFAULT);
        Event event = ann.receive();
        while (!(event instanceof Reconnected)) {
          event = ann.receive();
        }
        assertTrue(((Reconnected) event).fenced());
        ann.multicast(Service.AGREED, "news", new byte[1]);
        ann.leave(DEN);
        hasSent.get(TestDaemon.PATIENCE_S, TimeUnit.SECONDS);
      }
      daemon.join();
    }
  }
}
