package io.spindle.net;

import io.spindle.Answers;
import io.spindle.Code;
import io.spindle.Destinations;
import io.spindle.FlowReady;
import io.spindle.Message;
import io.spindle.NotTaken;
import io.spindle.NotTakenException;
import io.spindle.RequestOptions;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.SpindleException;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.ReceivedMessage;
import io.spindle.protocol.RequestWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** Messages that programs send: at once where there is room, otherwise by a caller that waits, or by a future. */
final class MessageSender {
  private final ConnectionState state;
  private final ClientSession session;
  private final PendingCalls calls;
  private final ReentrantLock lock;
  private final LinkWriter link;
  private final EventQueue events;
  private final boolean isIndependent;
  private boolean flowsWantBuffer; // a FlowReady is due once the send buffer has room

  MessageSender(ConnectionState state, LinkWriter link, EventQueue events) {
    this.state = state;
    this.session = state.session();
    this.calls = state.calls();
    this.lock = state.lock();
    this.link = link;
    this.events = events;
    this.isIndependent = state.options().independentFlows();
  }

  /** Null, or why a message to the groups cannot be sent now. */
  private Code whyNot(Destinations groups) {
    if (!state.canSend()) {
      return Code.NOT_CONNECTED;
    }
    boolean waits = state.isFull() || calls.hasSendsBefore(groups, isIndependent);
    return waits ? Code.WOULD_BLOCK : null;
  }

  /** Whether a message to the groups could be sent at once. */
  private boolean hasRoomFor(Destinations groups) {
    return !state.isFull() && session.writer().hasRoom(groups) && !session.writer().isFlushed(groups);
  }

  private long sendDeadline(Duration timeout) {
    return Clock.after(timeout == null ? state.options().sendTimeout() : timeout);
  }

  // --- Calls that wait ---

  /** `length` bytes of `bytes` from `from` on. */
  void multicast(Service service, Destinations groups, byte[] bytes, int from, int length, SendOptions how) {
    lock.lock();
    try {
      Code code = whyNot(groups);
      if (code == null) {
        code = session.writer().multicast(service, groups, bytes, from, length, how);
      } else if (code == Code.WOULD_BLOCK) {
        ConnectionState.check(RequestWriter.check(groups, length, how)); // what will never be taken is refused at once
      }
      if (code == Code.WOULD_BLOCK || code == Code.FLUSHING) {
        sendLater(
            groups,
            how.timeout(),
            code,
            () -> session.writer().multicast(service, groups, bytes, from, length, how));
      } else {
        ConnectionState.check(code);
        link.flush();
      }
    } finally {
      lock.unlock();
    }
  }

  void reply(Message request, byte[] payload, SendOptions how) {
    Destinations to = Destinations.of(request.sender());
    Supplier<Code> attempt = () -> session.engine().answer((ReceivedMessage) request, payload, how);
    lock.lock();
    try {
      Code code = whyNot(to);
      if (code == null) {
        code = attempt.get();
      }
      if (code == Code.WOULD_BLOCK) {
        sendLater(to, how.timeout(), code, attempt);
      } else {
        ConnectionState.check(code);
        link.flush();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until `attempt` has sent, or fails. */
  private void sendLater(Destinations groups, Duration timeout, Code first, Supplier<Code> attempt) {
    if (state.isOwnThread()) {
      throw new SpindleException(first);
    }
    long deadline = sendDeadline(timeout);
    Code code = first;
    do {
      boolean isInTime =
          state.waitFor(deadline, () -> !state.canSend() || (whyNot(groups) == null && hasRoomFor(groups)));
      if (!isInTime) {
        throw new SpindleException(Code.TIMED_OUT);
      }
      code = whyNot(groups);
      if (code == null) {
        code = attempt.get();
      }
    } while (code == Code.WOULD_BLOCK || code == Code.FLUSHING);
    ConnectionState.check(code);
    link.flush();
  }

  // --- Calls that do not ---

  boolean tryMulticast(Service service, Destinations groups, byte[] bytes, int from, int length, SendOptions how) {
    lock.lock();
    try {
      Code code = whyNot(groups);
      if (code == Code.WOULD_BLOCK) {
        ConnectionState.check(RequestWriter.check(groups, length, how));
        flowsWantBuffer = true;
      } else if (code == null) {
        code = session.writer().multicast(service, groups, bytes, from, length, how);
      }
      if (code == Code.WOULD_BLOCK) {
        session.writer().wantReady(groups);
        return false;
      }
      ConnectionState.check(code);
      link.flush();
      return true;
    } finally {
      lock.unlock();
    }
  }

  CompletableFuture<Void> multicastAsync(Service service, Destinations groups, byte[] payload, SendOptions how) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    Supplier<Code> attempt = () -> session.writer().multicast(service, groups, payload, how);
    Code bad = RequestWriter.check(groups, payload.length, how);
    return bad != null
        ? ConnectionState.failed(bad)
        : sendSoon(groups, payload.length, sendDeadline(how.timeout()), future, true, attempt);
  }

  /**
   * Sends by `attempt` now, or when there is room, in the order of calls; with `endsWithIt` the future ends then. Where as much
   * waits as the send buffer has bytes, it ends with WOULD_BLOCK.
   */
  <T> CompletableFuture<T> sendSoon(
      Destinations groups,
      long bytes,
      long deadline,
      CompletableFuture<T> future,
      boolean endsWithIt,
      Supplier<Code> attempt) {
    PendingCalls.Call call = null;
    Code code;
    lock.lock();
    try {
      code = whyNot(groups);
      if (code == null) {
        code = attempt.get();
      }
      boolean waits = code == Code.WOULD_BLOCK || code == Code.FLUSHING;
      if (waits && state.isFullOfSends()) {
        code = Code.WOULD_BLOCK;
      } else if (waits) {
        call = calls.addSend(groups, attempt, bytes, deadline, future, endsWithIt);
        code = null;
        state.wakeThread();
      } else if (code == null) {
        link.flush();
        state.wakeThread(); // it has to know of deadlines
      }
    } finally {
      lock.unlock();
    }
    if (call != null) {
      forgetIfCancelled(call);
    } else if (code != null) {
      future.completeExceptionally(new SpindleException(code));
    } else if (endsWithIt) {
      future.complete(null);
    }
    return future;
  }

  private void forgetIfCancelled(PendingCalls.Call call) {
    ConnectionState.whenCancelled(call.future, () -> forget(() -> call));
  }

  /** `call` is asked with the lock; null: it has not been made yet. */
  void forget(Supplier<PendingCalls.Call> call) {
    lock.lock();
    try {
      PendingCalls.Call made = call.get();
      if (made != null && calls.forget(made)) {
        noteFewer();
      }
    } finally {
      lock.unlock();
    }
  }

  CompletableFuture<Void> writable(Destinations groups, Duration timeout) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    PendingCalls.Call call;
    lock.lock();
    try {
      Code code = whyNot(groups); // tryMulticast would go by it, too
      if (code == Code.NOT_CONNECTED) {
        return ConnectionState.failed(code);
      }
      if (code == null && hasRoomFor(groups)) {
        return CompletableFuture.completedFuture(null);
      }
      call = calls.addWritable(groups, Clock.after(timeout), future);
      state.wakeThread();
    } finally {
      lock.unlock();
    }
    forgetIfCancelled(call);
    return future;
  }

  CompletableFuture<Void> confirm(Duration timeout) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    PendingCalls.Call call;
    lock.lock();
    try {
      if (!state.canSend() || session.writer().confirm() != null) {
        NotTaken lost = session.writer().notTaken();
        return lost.isNothing()
            ? CompletableFuture.completedFuture(null)
            : CompletableFuture.failedFuture(new NotTakenException(Code.NOT_CONNECTED, lost));
      }
      call = calls.addConfirm(session.writer().lastRequest(), Clock.after(timeout), future);
      link.flush();
      state.wakeThread();
    } finally {
      lock.unlock();
    }
    forgetIfCancelled(call);
    return future;
  }

  CompletableFuture<Answers> request(Destinations groups, byte[] payload, RequestOptions how) {
    CompletableFuture<Answers> future = new CompletableFuture<>();
    Code bad =
        RequestWriter.check(groups, payload.length, new SendOptions(how.type(), false, 0, null, how.headers()));
    if (bad == null && how.answers() < 0) {
      bad = Code.BAD_ARGUMENT;
    }
    if (bad != null) {
      return ConnectionState.failed(bad);
    }
    long deadline = Clock.after(how.timeout());
    PendingCalls.Call[] call = new PendingCalls.Call[1];
    Supplier<Code> attempt =
        () -> {
          var asked = session.engine().ask(groups, payload, how);
          if (asked.error() == null) {
            call[0] = calls.addRequest(asked.number(), deadline, future);
          }
          return asked.error();
        };
    sendSoon(groups, payload.length, deadline, future, false, attempt);
    ConnectionState.whenCancelled(future, () -> forget(() -> call[0]));
    return future;
  }

  // --- What happens. The caller holds the lock ---

  /** Some of the output was written, or cannot be. */
  void noteWritten(boolean hasFailed) {
    if (calls.wantsRoom() && (hasFailed || !state.isFull())) {
      noteRoom();
    }
    if (flowsWantBuffer && session.writer().outputSize() <= state.options().sendBufferBytes() / 2) {
      tellReadyFlows();
    }
  }

  /** Time has passed. */
  void expire(long now) {
    if (calls.expire(now)) {
      noteFewer();
    }
  }

  /** What has ended without being sent holds up nothing any more, such as what was to be sent to another group. */
  private void noteFewer() {
    noteRoom();
    state.tellChanged();
  }

  /** There may be room for what waits for it. */
  void noteRoom() {
    calls.noteRoom(groups -> !state.canSend() || hasRoomFor(groups), isIndependent);
    if (calls.hasDone() || state.hasOutput()) {
      state.wakeThread();
    }
  }

  /** FlowReady to those who found the send buffer full, now that half of it is free. */
  private void tellReadyFlows() {
    flowsWantBuffer = false;
    List<FlowReady> ready = session.writer().takeReady();
    if (!ready.isEmpty() && !state.isClosing() && !state.hasEnded()) {
      events.push(new ArrayList<>(ready), 256L * ready.size());
    }
  }
}
