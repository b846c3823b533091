package io.spindle.net;

import io.spindle.Code;
import io.spindle.Event;
import io.spindle.SpindleException;
import io.spindle.protocol.ClientSession;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;

/** Gives the program the events that wait for it: to threads that ask, or to a subscriber. Nobody holds the lock here. */
final class EventReceiver {
  private final ConnectionState state;
  private final EventQueue events;
  private final GroupRequests groups;
  private final EventPublisher publisher;

  EventReceiver(ConnectionState state, EventQueue events, GroupRequests groups, Executor executor) {
    this.state = state;
    this.events = events;
    this.groups = groups;
    publisher = new EventPublisher(this::poll, events::isFinished, executor);
  }

  /** Something has come. */
  void wake() {
    publisher.wake();
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
