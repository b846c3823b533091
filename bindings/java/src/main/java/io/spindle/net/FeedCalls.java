package io.spindle.net;

import io.spindle.Code;
import io.spindle.Feed;
import io.spindle.FeedFlow;
import io.spindle.FeedOptions;
import io.spindle.ListenOptions;
import io.spindle.Name;
import io.spindle.SpindleException;
import io.spindle.protocol.ClientFeeds;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** Feeds of the program's own, and those that it listens to. */
final class FeedCalls {
  private final ConnectionState state;
  private final ClientFeeds feeds;
  private final ReentrantLock lock;
  private final LinkWriter link;
  private final EventQueue events;
  private final Map<Long, Opening> opening = new HashMap<>();

  FeedCalls(ConnectionState state, LinkWriter link, EventQueue events) {
    this.state = state;
    this.feeds = state.session().engine().feeds();
    this.lock = state.lock();
    this.link = link;
    this.events = events;
  }

  /** A feed that the daemon has been asked for. */
  private record Opening(CompletableFuture<Feed> future, long until) {}

  /** A feed of this client's own. */
  private final class OwnFeed implements Feed {
    private final long id;

    OwnFeed(long id) {
      this.id = id;
    }

    @Override
    public long id() {
      return id;
    }

    @Override
    public boolean isOpen() {
      return state.locked(() -> feeds.isOpen(id));
    }

    @Override
    public boolean trySend(byte[] message) {
      lock.lock();
      try {
        Code code = state.canSend() ? feeds.send(id, message) : Code.NOT_CONNECTED;
        if (code == Code.WOULD_BLOCK) {
          return false;
        }
        ConnectionState.check(code);
        link.flush();
        return true;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public Optional<FeedFlow> flow() {
      return state.locked(() -> feeds.flow(id));
    }

    @Override
    public long dropped() {
      return state.locked(() -> feeds.dropped(id));
    }

    @Override
    public void close() {
      closeFeed(id);
    }
  }

  CompletableFuture<Feed> open(Name group, FeedOptions how) {
    CompletableFuture<Feed> future = new CompletableFuture<>();
    long id;
    lock.lock();
    try {
      Code code = how.repairFor().isNegative() ? Code.BAD_ARGUMENT : state.canSend() ? null : Code.NOT_CONNECTED;
      if (code == null) {
        code = feeds.open(group, Clock.nanos(how.repairFor()) / 1000, how.bytesPerSecond(), how.dropOldest());
      }
      if (code != null) {
        return ConnectionState.failed(code);
      }
      id = feeds.lastId();
      opening.put(id, new Opening(future, Clock.after(how.timeout())));
      link.flush();
      state.wakeThread();
    } finally {
      lock.unlock();
    }
    ConnectionState.whenCancelled(future, () -> closeFeed(id));
    return future;
  }

  private void closeFeed(long id) {
    lock.lock();
    try {
      feeds.close(id);
      opening.remove(id);
      if (state.canSend()) {
        link.flush();
      }
    } finally {
      lock.unlock();
    }
  }

  void listen(Name group, ListenOptions how) {
    ConnectionState.check(how.deadline().isNegative() ? Code.BAD_ARGUMENT : null);
    ask(() -> feeds.listen(group, how.ordered(), Clock.nanos(how.deadline())));
  }

  void stopListening(Name group) {
    ask(() -> feeds.stopListening(group));
  }

  /** Waits for nothing. */
  private void ask(Supplier<Code> request) {
    lock.lock();
    try {
      ConnectionState.check(state.canSend() ? request.get() : Code.NOT_CONNECTED);
      link.flush();
    } finally {
      lock.unlock();
    }
  }

  // --- By the connection's thread, which holds the lock ---

  /** Hands on what feeds have to tell. */
  void tell() {
    PendingCalls calls = state.calls();
    for (ClientFeeds.OpenedOwn opened : feeds.takeOpened()) {
      Opening asked = opening.remove(opened.feed());
      if (asked != null && opened.error() == null) {
        calls.addDone(() -> asked.future().complete(new OwnFeed(opened.feed())));
      } else if (asked != null) {
        calls.addDone(() -> asked.future().completeExceptionally(new SpindleException(opened.error())));
      }
    }
    if (!feeds.hasEvents()) {
      return;
    }
    var told = feeds.takeEvents();
    if (!state.isClosing() && !state.hasEnded()) {
      events.pushFeeds(told);
    }
  }

  void handleTime(long now) {
    if (feeds.nextDeadline() <= now) {
      feeds.handleTime(now);
      tell();
    }
  }

  /** Ends what waits too long to be opened. */
  void expire(long now) {
    opening
        .entrySet()
        .removeIf(
            each -> {
              Opening asked = each.getValue();
              if (asked.until() > now) {
                return false;
              }
              feeds.close(each.getKey());
              state.calls()
                  .addDone(() -> asked.future().completeExceptionally(new SpindleException(Code.TIMED_OUT)));
              return true;
            });
  }

  /** The connection has ended, and the engine will tell of no feed any more. */
  void end(Code code) {
    for (Opening asked : opening.values()) {
      state.calls().addDone(() -> asked.future().completeExceptionally(new SpindleException(code)));
    }
    opening.clear();
  }

  long nextDeadline() {
    long first = feeds.nextDeadline();
    for (Opening each : opening.values()) {
      first = Math.min(first, each.until());
    }
    return first;
  }
}
