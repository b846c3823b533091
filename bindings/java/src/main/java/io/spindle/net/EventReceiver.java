package io.spindle.net;

import io.spindle.Code;
import io.spindle.Event;
import io.spindle.SpindleException;
import io.spindle.protocol.ClientSession;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;

/** Gives the program the events that wait for it: to threads that ask, or to a subscriber. */
final class EventReceiver {
  private final ConnectionState state;
  private final EventQueue events;
  private final GroupRequests groups;
  private final EventPublisher publisher;

  EventReceiver(ConnectionState state, EventQueue events, GroupRequests groups, Executor executor) {
    this.state = state;
    this.events = events;
    this.groups = groups;
    publisher = new EventPublisher(this::poll, events::isFinished, work -> start(executor, work));
  }

  /**
   * Has the program's executor do it, by way of the connection's thread: where that executor runs what it is given at once,
   * no call of the program's is held up by events.
   */
  private void start(Executor executor, EventPublisher.Work work) {
    if (!state.isOwnThread() && state.runSoon(() -> hand(executor, work))) {
      return;
    }
    hand(executor, work);
  }

  /** A subscriber that fails, or an executor that refuses, is the program's own affair: the connection takes no harm. */
  private static void hand(Executor executor, EventPublisher.Work work) {
    try {
      executor.execute(work);
    } catch (RuntimeException | Error failure) {
      report(failure);
      try {
        work.refused(failure);
      } catch (RuntimeException | Error another) {
        report(another);
      }
    }
  }

  private static void report(Throwable failure) {
    Thread here = Thread.currentThread();
    here.getUncaughtExceptionHandler().uncaughtException(here, failure);
  }

  /**
   * Something has come. The caller holds the lock; the subscriber, which may be called within this by its executor, is told
   * when nobody does.
   */
  void noteArrival() {
    if (publisher.hasSubscriber()) {
      state.calls().addDone(publisher::wake);
      state.wakeThread();
    }
  }

  Flow.Publisher<Event> publisher() {
    return publisher;
  }

  private Event poll() {
    Event event = events.poll();
    groups.noteGiven(event);
    return event;
  }

  Event receive() {
    return take(ClientSession.NEVER);
  }

  Event receive(Duration timeout) {
    Event event = poll();
    if (event != null) {
      return event;
    }
    if (timeout.isZero() || timeout.isNegative()) {
      if (events.isFinished()) {
        throw new SpindleException(Code.NOT_CONNECTED);
      }
      return null;
    }
    return take(Clock.after(timeout));
  }

  private Event take(long deadline) {
    if (state.isOwnThread()) {
      Event event = poll();
      if (event == null) {
        throw new SpindleException(Code.WOULD_BLOCK);
      }
      return event;
    }
    try {
      Event event = events.take(deadline);
      if (event == null && events.isFinished()) {
        throw new SpindleException(Code.NOT_CONNECTED);
      }
      groups.noteGiven(event);
      return event;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new SpindleException(Code.CANCELLED);
    }
  }
}
