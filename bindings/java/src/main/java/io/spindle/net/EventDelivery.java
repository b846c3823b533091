package io.spindle.net;

import io.spindle.Code;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.GroupView;
import io.spindle.RequestFailed;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.EventReader;
import java.util.List;

/** Brings what the session has made of the daemon's bytes to whom it concerns: the events' queue, and calls that wait. */
final class EventDelivery {
  private final ConnectionState state;
  private final ClientSession session;
  private final LinkWriter link;
  private final MessageSender sender;
  private final FeedCalls feeds;
  private final EventQueue events;

  EventDelivery(ConnectionState state, LinkWriter link, MessageSender sender, FeedCalls feeds, EventQueue events) {
    this.state = state;
    this.session = state.session();
    this.link = link;
    this.sender = sender;
    this.feeds = feeds;
    this.events = events;
  }

  /** The connection's thread does, and holds the lock. */
  void deliver() {
    boolean hasViews = session.isSettlingDue() && settle();
    EventReader reader = session.reader();
    long bytes = reader.eventBytes();
    if (bytes == 0 && !session.isOver()) {
      return;
    }
    List<Event> arrived = reader.takeEvents();
    if (arrived.isEmpty()) {
      return;
    }
    if (hasViews) {
      noteViews(arrived);
    }
    if (state.isClosing()) {
      arrived.removeIf(event -> !tellsOfWhatWasSent(event));
    }
    // Who receives Disconnected finds the connection closed, and who finds it closed finds Disconnected.
    boolean isOver = session.isOver() && !state.hasEnded();
    Code end = isOver ? ((Disconnected) arrived.get(arrived.size() - 1)).code() : null;
    feeds.tell();
    events.push(arrived, bytes);
    if (isOver) {
      state.noteEnded();
      state.calls().end(end);
    }
    state.tellChanged();
  }

  /** Brings the session what its reader has learned. Whether views are among the events. */
  private boolean settle() {
    EventReader reader = session.reader();
    final long reconnections = session.reconnections();
    // Whoever writes is let finish, so that it is known what was written on a connection that is gone.
    if (reader.hasEnded()) {
      link.letFinish();
    }
    boolean hasViews = reader.hasViews();
    session.settle(Clock.now());
    hasViews |= session.reconnections() != reconnections;
    state.noteConnected();
    feeds.tell();
    state.tellChanged(); // flows may have room
    if (state.calls().wantsRoom()) {
      sender.noteRoom();
    }
    return hasViews;
  }

  private void noteViews(List<Event> arrived) {
    for (Event event : arrived) {
      state.joined().note(event, session.writer().groups());
      if (event instanceof GroupView view) {
        state.calls().noteView(view, state.privateName());
      }
    }
  }

  private static boolean tellsOfWhatWasSent(Event event) {
    return event instanceof Disconnected
        || (event instanceof RequestFailed failed && failed.request() == RequestFailed.Request.SEND);
  }
}
