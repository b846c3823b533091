package io.spindle.net;

import io.spindle.Code;
import io.spindle.protocol.ClientSession;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.util.List;
import java.util.concurrent.ThreadFactory;

/**
 * Connects to the server that the session says, hangs up when it says so, and connects again. Of the connection's
 * thread, which holds the lock.
 */
final class LinkKeeper {
  private final ConnectionState state;
  private final ClientSession session;
  private final LinkWriter link;
  private final EventDelivery delivery;
  private final List<String> servers;
  private final Dialler dialler;
  private SelectionKey selected; // of the link
  private boolean mayHaveMore; // the link, although its socket has none

  LinkKeeper(ConnectionState state, LinkWriter link, EventDelivery delivery, ThreadFactory threads) {
    this.state = state;
    this.session = state.session();
    this.link = link;
    this.delivery = delivery;
    this.servers = state.options().addresses();
    this.dialler = new Dialler(state.options(), threads);
  }

  /** Null: there is no link. */
  SelectionKey selected() {
    return selected;
  }

  boolean mayHaveMore() {
    return mayHaveMore;
  }

  void setMayHaveMore(boolean on) {
    mayHaveMore = on;
  }

  /** Whether something has come of it, after which there may be more to do. */
  boolean goOn() {
    if (session.takeHangUp()) {
      hangUp();
    }
    int server = session.takeDial();
    if (server >= 0) {
      state.setAddress(servers.isEmpty() ? "" : servers.get(server));
      dialler.start(state.address(), session.dialUntil(), state.selector()::wakeup);
    }
    Dialler.Outcome outcome = dialler.take();
    if (outcome != null) {
      greet(outcome);
    }
    return outcome != null;
  }

  private void greet(Dialler.Outcome outcome) {
    if (outcome.link() == null) {
      session.failed(Clock.now(), outcome.code(), outcome.text());
      delivery.deliver(); // it may have been the last try
      return;
    }
    try {
      selected = outcome.link().channel().register(state.selector(), 0);
    } catch (ClosedChannelException abandoned) {
      session.failed(Clock.now(), Code.CONNECT_FAILED, Code.CONNECT_FAILED.text());
      delivery.deliver();
      return;
    }
    link.begin(outcome.link());
    mayHaveMore = true;
    session.connected(outcome.token());
    link.writeSome();
  }

  void hangUp() {
    dialler.abandon();
    link.end();
    selected = null;
    mayHaveMore = false;
  }
}
