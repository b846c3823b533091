package io.spindle.net;

import io.spindle.Answers;
import io.spindle.Code;
import io.spindle.ConnectOptions;
import io.spindle.Event;
import io.spindle.Name;
import io.spindle.RequestFailed;
import io.spindle.SpindleException;
import io.spindle.protocol.BulkNews;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.Observer;
import io.spindle.protocol.SessionOptions;
import java.nio.channels.Selector;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What the parts of a connection share: one lock, what it guards, and how far the connection has come. It guards the
 * state of the parts, too. Who calls holds it, unless it is said otherwise.
 */
final class ConnectionState implements Observer {
  private final ConnectOptions options;
  private final Selector selector;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private int waiters; // for `changed`
  private Thread thread; // the connection's own
  private boolean isThreadAsleep;
  private boolean isThreadDone;
  private final ClientSession session;
  private final PendingCalls calls;
  private final JoinedGroups joined = new JoinedGroups();
  private volatile Name privateName = Name.of("");
  private long connectUntil; // up to the first welcome
  private boolean wasWelcomed; // by any daemon
  private boolean isUnwanted; // whoever was to have it has gone
  private boolean hasWriteFailed; // on the connection that there is
  private boolean isDraining;
  private boolean isClosing;
  private long closingUntil = ClientSession.NEVER;
  private boolean hasEnded;
  private BulkCalls channels; // null: the program hears of none
  private String address = ""; // of the server that was dialled last

  ConnectionState(ConnectOptions options, Selector selector) {
    this.options = options;
    this.selector = selector;
    session = new ClientSession(sessionOptions(options), this);
    calls = new PendingCalls(session.engine());
  }

  private static SessionOptions sessionOptions(ConnectOptions options) {
    return new SessionOptions(
        options.name(),
        options.independentFlows(),
        options.slowPolicy().ordinal(),
        Math.max(1, options.addresses().size()),
        Clock.nanos(options.connectTimeout()),
        Clock.nanos(options.reconnectTimeout()),
        options.resume(),
        Clock.nanos(options.keepalive()),
        options.bulk() != null,
        System.nanoTime() ^ System.currentTimeMillis() << 20);
  }

  // What never changes; for any thread.

  ConnectOptions options() {
    return options;
  }

  Selector selector() {
    return selector;
  }

  ReentrantLock lock() {
    return lock;
  }

  <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  // What the lock guards. The session's reader is the thread's own.

  ClientSession session() {
    return session;
  }

  PendingCalls calls() {
    return calls;
  }

  JoinedGroups joined() {
    return joined;
  }

  /** Before the thread starts. */
  void setChannels(BulkCalls own) {
    channels = own;
  }

  void setAddress(String dialled) {
    address = dialled;
  }

  String address() {
    return address;
  }

  // --- Errors ---

  static void check(Code code) {
    if (code != null) {
      throw new SpindleException(code);
    }
  }

  static <T> CompletableFuture<T> failed(Code code) {
    return CompletableFuture.failedFuture(new SpindleException(code));
  }

  static <T> void whenCancelled(CompletableFuture<T> future, Runnable work) {
    future.whenComplete(
        (value, failure) -> {
          if (future.isCancelled()) {
            work.run();
          }
        });
  }

  // --- Waiting ---

  /** Whether the condition holds in time. It is looked at whenever something has changed. CANCELLED: an interrupt. */
  boolean waitFor(long deadline, BooleanSupplier condition) {
    waiters++;
    try {
      while (!condition.getAsBoolean()) {
        if (deadline == ClientSession.NEVER) {
          changed.await();
        } else if (changed.awaitNanos(deadline - Clock.now()) <= 0 && !condition.getAsBoolean()) {
          return false;
        }
      }
      return true;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      if (condition.getAsBoolean()) {
        return true;
      }
      throw new SpindleException(Code.CANCELLED);
    } finally {
      waiters--;
    }
  }

  /** Waits on through interrupts. */
  void awaitUninterruptibly(BooleanSupplier condition) {
    waiters++;
    while (!condition.getAsBoolean()) {
      changed.awaitUninterruptibly();
    }
    waiters--;
  }

  void tellChanged() {
    if (waiters > 0) {
      changed.signalAll();
    }
  }

  // --- The thread ---

  /** Before it starts. */
  void setThread(Thread own) {
    thread = own;
  }

  /** For any thread. */
  boolean isOwnThread() {
    return Thread.currentThread() == thread;
  }

  void setThreadAsleep(boolean on) {
    isThreadAsleep = on;
  }

  void wakeThread() {
    if (isThreadAsleep) {
      isThreadAsleep = false;
      selector.wakeup();
    }
  }

  /** Nothing that is given to it is done any more. */
  void noteThreadDone() {
    isThreadDone = true;
  }

  /** Has the thread do it without the lock. False: it is gone. For any thread, which need not hold the lock. */
  boolean runSoon(Runnable work) {
    lock.lock();
    try {
      if (!isThreadDone) {
        calls.addDone(work);
        wakeThread();
      }
      return !isThreadDone;
    } finally {
      lock.unlock();
    }
  }

  // --- How far it has come ---

  /** For any thread. */
  Name privateName() {
    return privateName;
  }

  void beginConnecting() {
    // A program may wait for ever: that is not yet NEVER.
    connectUntil = Math.min(Clock.after(options.connectTimeout()), ClientSession.NEVER - 1);
    session.start(Clock.now());
  }

  /** Up to when a daemon has to welcome the client; NEVER once one has, or where it may take as long as it does. */
  long connectUntil() {
    return connectUntil;
  }

  boolean wasWelcomed() {
    return wasWelcomed;
  }

  /** The thread gives up, although a daemon may welcome the client meanwhile. */
  void stopConnecting() {
    isUnwanted = true;
    connectUntil = Clock.now();
    selector.wakeup();
  }

  void noteConnected() {
    if (!session.isConnected()) {
      return;
    }
    wasWelcomed = true;
    if (!isUnwanted) {
      connectUntil = ClientSession.NEVER;
    }
    if (!privateName.equals(session.reader().privateName())) {
      privateName = session.reader().privateName();
    }
  }

  void setWriteFailed(boolean on) {
    hasWriteFailed = on;
  }

  boolean hasWriteFailed() {
    return hasWriteFailed;
  }

  /** Whether requests can be made. */
  boolean canSend() {
    return !isClosing && !hasEnded && (!hasWriteFailed || session.returns());
  }

  /** Whether the send buffer is full. */
  boolean isFull() {
    return session.writer().outputSize() >= sendBufferBytes();
  }

  /** One at least: a message may exceed what there is room for, and not what there is no room for at all. */
  private long sendBufferBytes() {
    return Math.max(1, options.sendBufferBytes());
  }

  /** Whether no more messages may wait for room by futures. */
  boolean isFullOfSends() {
    return calls.sendBytes() >= sendBufferBytes();
  }

  /** Whether what the daemon sends is read, where its events go to these. */
  boolean takesEvents(EventQueue events) {
    return isClosing || isDraining || !events.isFull();
  }

  boolean hasOutput() {
    return session.writer().writableSize() > 0;
  }

  void beginDraining() {
    isDraining = true;
    selector.wakeup(); // it may have stopped reading
  }

  boolean isDraining() {
    return isDraining;
  }

  /** Says bye, whose answer is waited for up to then. */
  void beginClosing(long deadline) {
    if (isClosing || hasEnded) {
      return;
    }
    isClosing = true;
    closingUntil = deadline;
    session.writer().bye();
    tellChanged();
    selector.wakeup();
  }

  /** The daemon's last word is waited for no longer. */
  void hurry() {
    closingUntil = Clock.now();
    selector.wakeup();
  }

  boolean isClosing() {
    return isClosing;
  }

  long closingUntil() {
    return closingUntil;
  }

  /** Disconnected is among the events. */
  void noteEnded() {
    hasEnded = true;
  }

  boolean hasEnded() {
    return hasEnded;
  }

  // Observer.

  @Override
  public boolean refused(int request, RequestFailed failed) {
    joined.noteRefused(failed);
    return calls.noteRefused(request, failed.code());
  }

  @Override
  public boolean joinRefused(RequestFailed failed) {
    joined.noteRefused(failed);
    return calls.noteJoinRefused(failed.group(), failed.code());
  }

  @Override
  public void confirmed(int request) {
    calls.noteConfirmed(request);
  }

  @Override
  public void answered(long number, Code error, Answers answers) {
    calls.noteAnswered(number, error, answers);
  }

  @Override
  public void channelAnswered(int request, Code error) {
    if (channels != null) {
      channels.answered(request, error);
    }
  }

  @Override
  public Event channelNews(BulkNews news, int before) {
    return channels == null ? null : channels.take(news);
  }

  @Override
  public List<Event> channelsLeft(Name group) {
    return channels == null ? List.of() : channels.left(group);
  }

  @Override
  public void sessionBeganAnew() {
    calls.beginAnew();
    if (channels != null) {
      channels.sessionBeganAnew();
    }
  }

  @Override
  public void sessionEnded() {
    if (channels != null) {
      channels.sessionEnded();
    }
  }
}
