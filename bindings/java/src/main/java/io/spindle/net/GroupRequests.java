package io.spindle.net;

import io.spindle.Code;
import io.spindle.Destinations;
import io.spindle.Event;
import io.spindle.FlushRequest;
import io.spindle.GroupView;
import io.spindle.JoinOptions;
import io.spindle.Name;
import io.spindle.Reconnected;
import io.spindle.SpindleException;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.Names;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** What a program asks its daemon about groups: to join and leave them, who is in them, and to flush them. */
final class GroupRequests {
  private final ConnectionState state;
  private final ClientSession session;
  private final ReentrantLock lock;
  private final LinkWriter link;
  private final MessageSender sender;
  private final Set<Name> autoFlush = new HashSet<>(); // groups in which `noteGiven` answers requests to flush

  GroupRequests(ConnectionState state, LinkWriter link, MessageSender sender) {
    this.state = state;
    this.session = state.session();
    this.lock = state.lock();
    this.link = link;
    this.sender = sender;
  }

  CompletableFuture<GroupView> join(Name group, JoinOptions how) {
    CompletableFuture<GroupView> future = new CompletableFuture<>();
    if (!Names.isGroup(group)) {
      return ConnectionState.failed(Code.BAD_GROUP_NAME);
    }
    long deadline = Clock.after(how.timeout());
    Destinations to = Destinations.of(group);
    PendingCalls.Call[] call = new PendingCalls.Call[1];
    Supplier<Code> attempt =
        () -> {
          Code code = askToJoin(group, how);
          if (code == null) {
            call[0] = state.calls().addJoin(session.writer().lastRequest(), group, deadline, future);
          }
          return code;
        };
    sender.sendSoon(to, 0, deadline, future, false, attempt);
    ConnectionState.whenCancelled(future, () -> sender.forget(() -> call[0]));
    return future;
  }

  private Code askToJoin(Name group, JoinOptions how) {
    if (!state.canSend()) {
      return Code.NOT_CONNECTED;
    }
    Code code = session.writer().join(group, how.synchronous());
    if (code == null) {
      state.joined().asked(group);
      if (how.synchronous() && how.autoFlush()) {
        autoFlush.add(group);
      } else {
        autoFlush.remove(group);
      }
    }
    return code;
  }

  void requestJoin(Name group, JoinOptions how) {
    ask(group, () -> askToJoin(group, how));
  }

  void leave(Name group) {
    ask(group, () -> session.leave(group));
  }

  void requestView(Name group) {
    ask(group, () -> session.writer().requestView(group));
  }

  void requestFlow(Destinations groups) {
    ask(() -> session.writer().requestFlow(groups));
  }

  private void ask(Name group, Supplier<Code> request) {
    if (!Names.isGroup(group)) {
      throw new SpindleException(Code.BAD_GROUP_NAME);
    }
    ask(request);
  }

  /** Waits for room in the send buffer. */
  private void ask(Supplier<Code> request) {
    lock.lock();
    try {
      if (state.canSend() && state.isFull()) {
        if (state.isOwnThread()) {
          throw new SpindleException(Code.WOULD_BLOCK);
        }
        long deadline = Clock.after(state.options().sendTimeout());
        if (!state.waitFor(deadline, () -> !state.canSend() || !state.isFull())) {
          throw new SpindleException(Code.TIMED_OUT);
        }
      }
      ConnectionState.check(state.canSend() ? request.get() : Code.NOT_CONNECTED);
      link.flush();
    } finally {
      lock.unlock();
    }
  }

  /** Leaves all groups, as far as there is room in time. The caller holds the lock. */
  void leaveAll(long deadline) {
    for (Name group : state.joined().names()) {
      boolean hasRoom =
          !state.isFull()
              || (!state.isOwnThread() && state.waitFor(deadline, () -> !state.canSend() || !state.isFull()));
      if (!hasRoom || !state.canSend() || session.leave(group) != null) {
        return;
      }
      link.flush();
    }
  }

  // --- Flushes ---

  /** Waits for nothing: who is asked to flush may be the one who makes room. */
  void flushOk(FlushRequest request) {
    lock.lock();
    try {
      ConnectionState.check(state.canSend() ? session.writer().flushOk(request) : Code.NOT_CONNECTED);
      link.flush();
    } finally {
      lock.unlock();
    }
  }

  /** Of what is unknown; while the connection drains or closes they are told by what comes of that. */
  private void noteTold(Reconnected again) {
    lock.lock();
    try {
      if (!state.isDraining() && !state.isClosing()) {
        session.writer().noteToldUnknown(again.unknown().size());
      }
    } finally {
      lock.unlock();
    }
  }

  /** The program has been given the event, or is about to be. */
  void noteGiven(Event event) {
    if (event instanceof Reconnected again) {
      noteTold(again);
    }
    if (!(event instanceof FlushRequest request)) {
      return;
    }
    lock.lock();
    try {
      if (autoFlush.contains(request.group()) && state.canSend() && session.writer().flushOk(request) == null) {
        link.flush();
      }
    } finally {
      lock.unlock();
    }
  }
}
