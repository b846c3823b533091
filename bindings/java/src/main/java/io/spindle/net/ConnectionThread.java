package io.spindle.net;

import io.spindle.Code;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.EventReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The connection's own thread: writes what has gathered, waits for the socket, reads, and does what is due by time. It
 * holds the lock but where it waits, reads, writes, and runs what depends on futures.
 */
final class ConnectionThread {
  private static final int READ_BYTES = 64 << 10; // at once: it stays in the processor's cache

  // Where more has come than is read at once: before what depends on that is written, and the socket is asked again.
  private static final int READS_MAX = 4;

  private final ConnectionState state;
  private final ClientSession session;
  private final PendingCalls calls;
  private final ReentrantLock lock;
  private final Selector selector;
  private final LinkWriter writer;
  private final LinkKeeper keeper;
  private final EventDelivery delivery;
  private final MessageSender sender;
  private final FeedCalls feeds;
  private final EventQueue events;
  private ByteBuffer room; // what is read into

  ConnectionThread(
      ConnectionState state,
      LinkWriter writer,
      LinkKeeper keeper,
      EventDelivery delivery,
      MessageSender sender,
      FeedCalls feeds,
      EventQueue events) {
    this.state = state;
    this.session = state.session();
    this.calls = state.calls();
    this.lock = state.lock();
    this.selector = state.selector();
    this.writer = writer;
    this.keeper = keeper;
    this.delivery = delivery;
    this.sender = sender;
    this.feeds = feeds;
    this.events = events;
  }

  void run() {
    lock.lock();
    try {
      while (turn()) {
        continue;
      }
    } catch (RuntimeException | Error bug) {
      endFor(bug);
      throw bug;
    } finally {
      state.noteThreadDone();
      lock.unlock();
      try {
        selector.close();
      } catch (IOException gone) {
        // It is closed.
      }
    }
  }

  /** A mistake of this library, or no memory: whoever waits must not wait for ever. */
  private void endFor(Throwable bug) {
    if (!lock.isHeldByCurrentThread()) {
      lock.lock();
    }
    writer.abandon();
    if (!state.hasEnded()) {
      state.noteEnded();
      Code code = bug instanceof OutOfMemoryError ? Code.OUT_OF_MEMORY : Code.INTERNAL_ERROR;
      List<Event> last = new ArrayList<>();
      last.add(new Disconnected(code, bug.toString(), session.writer().notTaken()));
      events.push(last, 0);
      calls.end(code);
      calls.endRequests(code);
      feeds.end(code);
      state.sessionEnded();
    }
    state.tellChanged();
    for (Runnable done = calls.takeFirstDone(); done != null; done = calls.takeFirstDone()) {
      lock.unlock();
      try {
        done.run();
      } catch (RuntimeException | Error another) {
        // What fails, such as a program's handler of exceptions that nobody has caught, keeps no others from their end.
      } finally {
        lock.lock();
      }
    }
  }

  /** One round: write, wait, read, handle. False when there is nothing left to do for ever. */
  private boolean turn() {
    runDone();
    if (state.hasEnded()) {
      if (writer.link() == null && !session.takeHangUp()) {
        return false;
      }
      keeper.hangUp();
      return true;
    }
    long now = Clock.now();
    if (session.nextDeadline() <= now) {
      // It may be time to give the connection up: whoever writes is let finish, so that it is known what was written.
      writer.awaitWriter();
      session.handleTime(Clock.now());
      delivery.deliver();
      return true;
    }
    feeds.handleTime(now);
    if (keeper.goOn()) {
      return true;
    }
    if (writer.hasWork()) {
      writer.writeSome();
    }
    writer.endOutput();
    int ready = select();
    now = Clock.now();
    if (!calls.isEmpty()) {
      sender.expire(now);
    }
    feeds.expire(now);
    if (state.isClosing() && now >= state.closingUntil()) {
      giveUp(Code.CLOSED_BY_CLIENT, "the client closed the connection before the daemon had answered");
      return true;
    }
    if (state.connectUntil() <= now) {
      giveUp(Code.TIMED_OUT, "the daemon did not welcome the client in time");
      return true;
    }
    if (writer.link() == null) {
      return true;
    }
    if ((ready & SelectionKey.OP_WRITE) != 0) {
      writer.goOn();
    }
    boolean mayRead = (ready & SelectionKey.OP_READ) != 0 || keeper.mayHaveMore();
    for (int i = 0; i < READS_MAX && mayRead && takesEvents(); i++) {
      readSocket();
      mayRead = keeper.mayHaveMore() && !state.hasEnded() && writer.link() != null;
    }
    return true;
  }

  private void giveUp(Code code, String text) {
    session.giveUp(code, text);
    delivery.deliver();
  }

  /** Runs what depends on calls that have ended, without the lock. */
  private void runDone() {
    while (calls.hasDone()) {
      Iterator<Runnable> done = calls.takeDone().iterator();
      lock.unlock();
      try {
        while (done.hasNext()) {
          done.next().run();
        }
      } finally {
        lock.lock();
        done.forEachRemaining(calls::addDone); // where one of them has failed
      }
    }
  }

  private boolean takesEvents() {
    return state.takesEvents(events);
  }

  /** Waits for the socket, a wake-up or the end of patience. Gives what the socket is ready for. */
  private int select() {
    int wanted = 0;
    if (writer.link() != null) {
      wanted = (takesEvents() ? SelectionKey.OP_READ : 0) | (writer.wantsSocket() ? SelectionKey.OP_WRITE : 0);
    }
    boolean hasMoreToRead = writer.link() != null && keeper.mayHaveMore() && takesEvents();
    session.setReading(takesEvents());
    final boolean hasMoreToDo = writer.hasWork() || hasMoreToRead || calls.hasDone();
    state.setThreadAsleep(!hasMoreToDo);
    final long deadline = nextDeadline();
    final SelectionKey key = keeper.selected();
    lock.unlock();
    int ready = 0;
    try {
      if (key != null && key.isValid() && key.interestOps() != wanted) {
        key.interestOps(wanted);
      }
      long millis = hasMoreToDo ? 0 : Clock.millisUntil(deadline);
      if (millis == 0) {
        selector.selectNow();
      } else {
        selector.select(millis == Long.MAX_VALUE ? 0 : millis);
      }
      if (selector.selectedKeys().remove(key) && key.isValid()) {
        ready = key.readyOps();
      }
    } catch (IOException failure) {
      throw new IllegalStateException("the selector fails: " + failure.getMessage(), failure);
    } finally {
      Thread.interrupted(); // it is nobody's to interrupt
      lock.lock();
      state.setThreadAsleep(false);
    }
    return ready;
  }

  private long nextDeadline() {
    long first = Math.min(session.nextDeadline(), state.connectUntil());
    first = Math.min(first, Math.min(calls.nextDeadline(), state.closingUntil()));
    return Math.min(first, feeds.nextDeadline());
  }

  private void readSocket() {
    final EventReader reader = session.reader();
    final Link from = writer.link();
    Code reason = null;
    String text = "";
    lock.unlock();
    try {
      if (room == null || room.isDirect() != from.readsDirectly()) {
        room = from.readsDirectly() ? ByteBuffer.allocateDirect(READ_BYTES) : ByteBuffer.allocate(READ_BYTES);
      }
      room.clear();
      int count = from.read(room);
      keeper.setMayHaveMore(!room.hasRemaining() || from.mayHaveMore());
      if (count > 0) {
        reader.read(room.flip());
      } else if (count < 0) {
        reason = Code.CONNECTION_LOST;
      }
    } catch (Link.ProtectionFailed failure) {
      reason = Code.TLS_FAILED;
      text = failure.getMessage();
    } catch (IOException failure) {
      reason = Code.CONNECTION_LOST;
    } finally {
      lock.lock();
    }
    if (reason != null && !reader.hasEnded()) {
      reader.end(reason == Code.TLS_FAILED ? reason : session.engine().endReason(), text);
    }
    delivery.deliver();
  }
}
