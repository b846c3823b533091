package io.spindle.net;

import io.spindle.Answers;
import io.spindle.Code;
import io.spindle.ConnectOptions;
import io.spindle.Connection;
import io.spindle.Destinations;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.Feed;
import io.spindle.FeedFlow;
import io.spindle.FeedOptions;
import io.spindle.FlowReady;
import io.spindle.FlushRequest;
import io.spindle.GroupView;
import io.spindle.JoinOptions;
import io.spindle.ListenOptions;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.NotTakenException;
import io.spindle.RequestFailed;
import io.spindle.RequestOptions;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.SpindleException;
import io.spindle.protocol.ClientFeeds;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.EventReader;
import io.spindle.protocol.Names;
import io.spindle.protocol.Observer;
import io.spindle.protocol.ReceivedMessage;
import io.spindle.protocol.RequestWriter;
import io.spindle.protocol.SessionOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** A connection: the socket, its thread, and the session between them and the callers. */
public final class SocketConnection implements Connection, Observer {
  // A caller that comes back sooner than this, in the mean, does nothing but send: its messages are left to gather for the
  // connection's thread. Any other message is written by its caller at once.
  private static final long BURST_GAP = 2_000; // ns
  // In a burst the clock, which costs as much as a small message, is read for each so many messages.
  private static final int SENDS_PER_LOOK_MAX = 8;

  private final ConnectOptions options;
  private final EventQueue events;
  private final EventPublisher publisher;
  private final Selector selector;
  private final Thread thread;
  private volatile Name privateName = Name.of("");

  // The thread's own.
  private final Dialler dialler;
  private SelectionKey selected; // of `link`
  private boolean mayHaveMore; // the link, although its socket has none

  private final ReentrantLock lock = new ReentrantLock(); // guards what follows, and the session but for its reader
  private final Condition changed = lock.newCondition();
  private final ClientSession session;
  private final PendingCalls calls;
  private final JoinedGroups joined = new JoinedGroups();
  private final Map<Long, Opening> opening = new HashMap<>();
  private final Set<Name> autoFlush = new HashSet<>(); // groups in which `noteGiven` answers requests to flush
  private Link link; // null: none
  private boolean isBlocked; // the socket has taken less than it was offered
  private boolean isWriterBusy;
  private boolean hasWriteFailed;
  private boolean isThreadAsleep;
  private int waiters; // for `changed`
  private boolean flowsWantBuffer; // a FlowReady is due once the send buffer has room
  private long lookedAt; // when the clock was last read for a send
  private int sendsSinceLook;
  private int sendsPerLook = 1; // more in a burst
  private long connectUntil; // up to the first welcome
  private boolean isDraining;
  private boolean isClosing;
  private boolean hasEndedOutput;
  private long closingUntil = ClientSession.NEVER;
  private boolean hasEnded;

  private SocketConnection(ConnectOptions options) throws IOException {
    this.options = options;
    ThreadFactory given = options.threadFactory();
    ThreadFactory threads =
        given != null
            ? given
            : work -> {
              Thread made = new Thread(work, "spindle");
              made.setDaemon(true);
              return made;
            };
    Executor executor = options.executor() != null ? options.executor() : ForkJoinPool.commonPool();
    selector = Selector.open();
    events = new EventQueue(options.receiveBufferBytes(), selector::wakeup, this::noteArrival);
    publisher = new EventPublisher(this::poll, this::isFinished, executor);
    session = new ClientSession(sessionOptions(options), this);
    calls = new PendingCalls(session.engine());
    dialler = new Dialler(options, threads);
    thread = threads.newThread(this::run);
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
        System.nanoTime() ^ System.currentTimeMillis() << 20);
  }

  /** Connects, and waits for the daemon's welcome. */
  public static Connection open(ConnectOptions options) {
    if (!options.name().isEmpty() && !Names.isClient(Name.of(options.name()))) {
      throw new SpindleException(Code.BAD_CLIENT_NAME);
    }
    options.addresses().forEach(Address::parse);
    SocketConnection connection;
    try {
      connection = new SocketConnection(options);
    } catch (IOException failure) {
      throw new SpindleException(Code.CONNECT_FAILED, "no selector is to be had: " + failure.getMessage());
    }
    connection.connect();
    return connection;
  }

  private void connect() {
    lock.lock();
    try {
      connectUntil = Clock.after(options.connectTimeout());
      session.start(Clock.now());
      thread.start();
      waitFor(ClientSession.NEVER, () -> hasEnded || connectUntil == ClientSession.NEVER);
      if (!hasEnded) {
        return;
      }
    } catch (SpindleException interrupted) {
      connectUntil = Clock.now(); // the thread gives up
      selector.wakeup();
      throw interrupted;
    } finally {
      lock.unlock();
    }
    for (Event event = events.poll(); event != null; event = events.poll()) {
      if (event instanceof Disconnected end) {
        throw new SpindleException(end.code(), end.text());
      }
    }
  }

  /** A feed that the daemon has been asked for. */
  private record Opening(CompletableFuture<Feed> future, long until) {}

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  private static <T> void whenCancelled(CompletableFuture<T> future, Runnable work) {
    future.whenComplete(
        (value, failure) -> {
          if (future.isCancelled()) {
            work.run();
          }
        });
  }

  private static void check(Code code) {
    if (code != null) {
      throw new SpindleException(code);
    }
  }

  // --- Waiting. The caller holds the lock ---

  /** Whether the condition holds in time. It is looked at whenever something has changed. CANCELLED: an interrupt. */
  private boolean waitFor(long deadline, BooleanSupplier condition) {
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

  private void waitWhileWriting() {
    waiters++;
    while (isWriterBusy) {
      changed.awaitUninterruptibly();
    }
    waiters--;
  }

  private void tellChanged() {
    if (waiters > 0) {
      changed.signalAll();
    }
  }

  private boolean isOwnThread() {
    return Thread.currentThread() == thread;
  }

  // --- Sending ---

  private boolean canSend() {
    return !isClosing && !hasEnded && (!hasWriteFailed || session.returns());
  }

  private boolean canWrite() {
    return link != null && !hasWriteFailed && !isBlocked && !isWriterBusy;
  }

  private boolean isFull() {
    return session.writer().outputSize() >= options.sendBufferBytes();
  }

  private boolean hasOutput() {
    return session.writer().writableSize() > 0;
  }

  /** Whether a message to the groups could be sent at once. */
  private boolean hasRoomFor(Destinations groups) {
    return !isFull() && session.writer().hasRoom(groups);
  }

  /** Null, or why a message to the groups cannot be sent now. */
  private Code whyNot(Destinations groups) {
    if (!canSend()) {
      return Code.NOT_CONNECTED;
    }
    boolean waits = isFull() || calls.hasSendsBefore(groups, options.independentFlows());
    return waits ? Code.WOULD_BLOCK : null;
  }

  @Override
  public void multicast(Service service, Destinations groups, byte[] payload, SendOptions how) {
    lock.lock();
    try {
      Code code = whyNot(groups);
      if (code == null) {
        code = session.writer().multicast(service, groups, payload, how);
      } else if (code == Code.WOULD_BLOCK) {
        check(RequestWriter.check(groups, payload, how)); // what will never be taken is refused at once
      }
      if (code == Code.WOULD_BLOCK || code == Code.FLUSHING) {
        sendLater(groups, how.timeout(), code, () -> session.writer().multicast(service, groups, payload, how));
      } else {
        check(code);
        flush();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until `attempt` has sent, or fails. */
  private void sendLater(Destinations groups, Duration timeout, Code first, Supplier<Code> attempt) {
    if (isOwnThread()) {
      throw new SpindleException(first);
    }
    long deadline = Clock.after(timeout == null ? options.sendTimeout() : timeout);
    Code code = first;
    do {
      boolean isInTime =
          waitFor(
              deadline,
              () ->
                  !canSend()
                      || (whyNot(groups) == null
                          && session.writer().hasRoom(groups)
                          && !session.writer().isFlushed(groups)));
      if (!isInTime) {
        throw new SpindleException(Code.TIMED_OUT);
      }
      code = whyNot(groups);
      if (code == null) {
        code = attempt.get();
      }
    } while (code == Code.WOULD_BLOCK || code == Code.FLUSHING);
    check(code);
    flush();
  }

  @Override
  public boolean tryMulticast(Service service, Destinations groups, byte[] payload, SendOptions how) {
    lock.lock();
    try {
      Code code = whyNot(groups);
      if (code == Code.WOULD_BLOCK) {
        check(RequestWriter.check(groups, payload, how));
        flowsWantBuffer = true;
      } else if (code == null) {
        code = session.writer().multicast(service, groups, payload, how);
      }
      if (code == Code.WOULD_BLOCK) {
        session.writer().wantReady(groups);
        return false;
      }
      check(code);
      flush();
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletableFuture<Void> multicastAsync(
      Service service, Destinations groups, byte[] payload, SendOptions how) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    long deadline = Clock.after(how.timeout() == null ? options.sendTimeout() : how.timeout());
    Supplier<Code> attempt = () -> session.writer().multicast(service, groups, payload, how);
    Code bad = RequestWriter.check(groups, payload, how);
    return bad != null ? failed(bad) : sendSoon(groups, deadline, future, true, attempt);
  }

  private static <T> CompletableFuture<T> failed(Code code) {
    return CompletableFuture.failedFuture(new SpindleException(code));
  }

  /** Sends by `attempt` now, or when there is room, in the order of calls; with `endsWithIt` the future ends then. */
  private <T> CompletableFuture<T> sendSoon(
      Destinations groups, long deadline, CompletableFuture<T> future, boolean endsWithIt, Supplier<Code> attempt) {
    PendingCalls.Call call = null;
    Code code;
    lock.lock();
    try {
      code = whyNot(groups);
      if (code == null) {
        code = attempt.get();
      }
      if (code == Code.WOULD_BLOCK || code == Code.FLUSHING) {
        call = calls.addSend(groups, attempt, deadline, future, endsWithIt);
        code = null;
        wakeThread();
      } else if (code == null) {
        flush();
        wakeThread(); // it has to know of deadlines
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
    whenCancelled(call.future, () -> forget(() -> call));
  }

  /** `call` is asked with the lock; null: it has not been made yet. */
  private void forget(Supplier<PendingCalls.Call> call) {
    lock.lock();
    try {
      PendingCalls.Call made = call.get();
      if (made != null) {
        calls.forget(made);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Has the output written: by whoever writes at the moment, by the connection's thread, or by the caller. */
  private void flush() {
    if (isWriterBusy) {
      return; // that thread looks for more when it is done
    }
    boolean isBurst = isBurst();
    if (!canWrite()) {
      return; // the socket is full, or there is none, and the thread waits for it
    }
    if (isBurst) {
      if (!isOwnThread()) {
        wakeThread();
      }
      return;
    }
    writeSome();
    lookedAt = Clock.now();
    if (hasOutput() || (link != null && link.hasUnsent())) {
      wakeThread();
    }
  }

  /** Whether whoever sends now does nothing else. */
  private boolean isBurst() {
    if (++sendsSinceLook < sendsPerLook) {
      return true;
    }
    long now = Clock.now();
    boolean isBurst = now - lookedAt < sendsPerLook * BURST_GAP;
    sendsPerLook = isBurst ? Math.min(2 * sendsPerLook, SENDS_PER_LOOK_MAX) : 1;
    sendsSinceLook = 0;
    lookedAt = now;
    return isBurst;
  }

  private void wakeThread() {
    if (isThreadAsleep) {
      isThreadAsleep = false;
      selector.wakeup();
    }
  }

  /** Writes what the socket takes, without the lock: all that has gathered goes in one piece. */
  private void writeSome() {
    ByteBuffer piece = session.writer().output(); // stays where it is
    if (piece == null) {
      return;
    }
    isWriterBusy = true;
    sendsPerLook = 1; // who sends next may come after a while
    final Link to = link;
    final int start = piece.position();
    boolean hasFailed = true;
    lock.unlock();
    try {
      to.write(piece);
      hasFailed = false;
    } catch (IOException failure) {
      // Who reads finds out why.
    } finally {
      lock.lock();
      isWriterBusy = false;
      // What was taken before a failure may have come.
      noteWritten(to, piece.position() - start, piece.hasRemaining(), hasFailed);
    }
  }

  private void noteWritten(Link to, int sent, boolean isMoreLeft, boolean hasFailed) {
    isBlocked = isMoreLeft && !hasFailed;
    session.consume(sent);
    if (hasFailed) {
      // The reason may still be waiting to be read: the thread goes on reading up to the end of what came.
      hasWriteFailed = true;
      if (!session.returns()) {
        session.writer().dropOutput();
      }
      to.shutDown();
    }
    tellChanged();
    if (calls.wantsRoom() && (hasFailed || !isFull())) {
      noteRoom();
    }
    if (flowsWantBuffer && session.writer().outputSize() <= options.sendBufferBytes() / 2) {
      tellReadyFlows();
    }
  }

  private void noteRoom() {
    calls.noteRoom(groups -> !canSend() || hasRoomFor(groups), options.independentFlows());
    if (calls.hasDone() || hasOutput()) {
      wakeThread();
    }
  }

  /** FlowReady to those who found the send buffer full, now that half of it is free. */
  private void tellReadyFlows() {
    flowsWantBuffer = false;
    List<FlowReady> ready = session.writer().takeReady();
    if (!ready.isEmpty() && !isClosing && !hasEnded) {
      events.push(new ArrayList<>(ready), 256L * ready.size());
    }
  }

  // --- Groups ---

  @Override
  public CompletableFuture<GroupView> join(Name group, JoinOptions how) {
    CompletableFuture<GroupView> future = new CompletableFuture<>();
    if (!Names.isGroup(group)) {
      return failed(Code.BAD_GROUP_NAME);
    }
    long deadline = Clock.after(how.timeout());
    Destinations to = Destinations.of(group);
    PendingCalls.Call[] call = new PendingCalls.Call[1];
    Supplier<Code> attempt =
        () -> {
          Code code = askToJoin(group, how);
          if (code == null) {
            call[0] = calls.addJoin(session.writer().lastRequest(), group, deadline, future);
          }
          return code;
        };
    sendSoon(to, deadline, future, false, attempt);
    whenCancelled(future, () -> forget(() -> call[0]));
    return future;
  }

  private Code askToJoin(Name group, JoinOptions how) {
    if (!canSend()) {
      return Code.NOT_CONNECTED;
    }
    Code code = session.writer().join(group, how.synchronous());
    if (code == null) {
      joined.asked(group);
      if (how.synchronous() && how.autoFlush()) {
        autoFlush.add(group);
      } else {
        autoFlush.remove(group);
      }
    }
    return code;
  }

  @Override
  public void requestJoin(Name group, JoinOptions how) {
    ask(group, () -> askToJoin(group, how));
  }

  @Override
  public void leave(Name group) {
    ask(group, () -> session.leave(group));
  }

  @Override
  public void requestView(Name group) {
    ask(group, () -> session.writer().requestView(group));
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
      if (canSend() && isFull()) {
        if (isOwnThread()) {
          throw new SpindleException(Code.WOULD_BLOCK);
        }
        if (!waitFor(Clock.after(options.sendTimeout()), () -> !canSend() || !isFull())) {
          throw new SpindleException(Code.TIMED_OUT);
        }
      }
      check(canSend() ? request.get() : Code.NOT_CONNECTED);
      flush();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void requestFlow(Destinations groups) {
    ask(() -> session.writer().requestFlow(groups));
  }

  /** Waits for nothing. */
  private void askAtOnce(Supplier<Code> request) {
    lock.lock();
    try {
      check(canSend() ? request.get() : Code.NOT_CONNECTED);
      flush();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for nothing: who is asked to flush may be the one who makes room. */
  @Override
  public void flushOk(FlushRequest request) {
    askAtOnce(() -> session.writer().flushOk(request));
  }

  // --- Calls ---

  @Override
  public CompletableFuture<Void> writable(Destinations groups, Duration timeout) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    PendingCalls.Call call;
    lock.lock();
    try {
      if (!canSend()) {
        return failed(Code.NOT_CONNECTED);
      }
      if (hasRoomFor(groups)) {
        return CompletableFuture.completedFuture(null);
      }
      call = calls.addWritable(groups, Clock.after(timeout), future);
      wakeThread();
    } finally {
      lock.unlock();
    }
    forgetIfCancelled(call);
    return future;
  }

  @Override
  public CompletableFuture<Void> confirm(Duration timeout) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    PendingCalls.Call call;
    lock.lock();
    try {
      if (!canSend() || session.writer().confirm() != null) {
        NotTaken lost = session.writer().notTaken();
        return lost.isNothing()
            ? CompletableFuture.completedFuture(null)
            : CompletableFuture.failedFuture(new NotTakenException(Code.NOT_CONNECTED, lost));
      }
      call = calls.addConfirm(session.writer().lastRequest(), Clock.after(timeout), future);
      flush();
      wakeThread();
    } finally {
      lock.unlock();
    }
    forgetIfCancelled(call);
    return future;
  }

  @Override
  public CompletableFuture<Answers> request(Destinations groups, byte[] payload, RequestOptions how) {
    CompletableFuture<Answers> future = new CompletableFuture<>();
    Code bad =
        RequestWriter.check(groups, payload, new SendOptions(how.type(), false, 0, null, how.headers()));
    if (bad == null && how.answers() < 0) {
      bad = Code.BAD_ARGUMENT;
    }
    if (bad != null) {
      return failed(bad);
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
    sendSoon(groups, deadline, future, false, attempt);
    whenCancelled(future, () -> forget(() -> call[0]));
    return future;
  }

  @Override
  public void reply(Message request, byte[] payload, SendOptions how) {
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
        check(code);
        flush();
      }
    } finally {
      lock.unlock();
    }
  }

  // Observer; who calls holds the lock.

  @Override
  public boolean refused(int request, RequestFailed failed) {
    joined.noteRefused(failed);
    return calls.noteRefused(request, failed.code());
  }

  @Override
  public void confirmed(int request) {
    calls.noteConfirmed(request);
  }

  @Override
  public void answered(long number, Code error, Answers answers) {
    calls.noteAnswered(number, error, answers);
  }

  // --- Feeds ---

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
      return locked(() -> feeds().isOpen(id));
    }

    @Override
    public boolean trySend(byte[] message) {
      lock.lock();
      try {
        Code code = canSend() ? feeds().send(id, message) : Code.NOT_CONNECTED;
        if (code == Code.WOULD_BLOCK) {
          return false;
        }
        check(code);
        flush();
        return true;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public Optional<FeedFlow> flow() {
      return locked(() -> feeds().flow(id));
    }

    @Override
    public long dropped() {
      return locked(() -> feeds().dropped(id));
    }

    @Override
    public void close() {
      closeFeed(id);
    }
  }

  private ClientFeeds feeds() {
    return session.engine().feeds();
  }

  private void closeFeed(long id) {
    lock.lock();
    try {
      feeds().close(id);
      opening.remove(id);
      if (canSend()) {
        flush();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletableFuture<Feed> openFeed(Name group, FeedOptions how) {
    CompletableFuture<Feed> future = new CompletableFuture<>();
    long id;
    lock.lock();
    try {
      Code code = how.repairFor().isNegative() ? Code.BAD_ARGUMENT : canSend() ? null : Code.NOT_CONNECTED;
      if (code == null) {
        code =
            feeds().open(group, Clock.nanos(how.repairFor()) / 1000, how.bytesPerSecond(), how.dropOldest());
      }
      if (code != null) {
        return failed(code);
      }
      id = feeds().lastId();
      opening.put(id, new Opening(future, Clock.after(how.timeout())));
      flush();
      wakeThread();
    } finally {
      lock.unlock();
    }
    whenCancelled(future, () -> closeFeed(id));
    return future;
  }

  @Override
  public void listen(Name group, ListenOptions how) {
    check(how.deadline().isNegative() ? Code.BAD_ARGUMENT : null);
    askAtOnce(() -> feeds().listen(group, how.ordered(), Clock.nanos(how.deadline())));
  }

  @Override
  public void stopListening(Name group) {
    askAtOnce(() -> feeds().stopListening(group));
  }

  /** Hands on what feeds have to tell. The caller holds the lock. */
  private void tellFeeds() {
    for (ClientFeeds.OpenedOwn opened : feeds().takeOpened()) {
      Opening asked = opening.remove(opened.feed());
      if (asked != null && opened.error() == null) {
        calls.addDone(() -> asked.future().complete(new OwnFeed(opened.feed())));
      } else if (asked != null) {
        calls.addDone(() -> asked.future().completeExceptionally(new SpindleException(opened.error())));
      }
    }
    if (!feeds().hasEvents()) {
      return;
    }
    var told = feeds().takeEvents();
    if (!isClosing && !hasEnded) {
      events.pushFeeds(told);
    }
  }

  private void expireOpening(long now) {
    opening
        .entrySet()
        .removeIf(
            each -> {
              Opening asked = each.getValue();
              if (asked.until() > now) {
                return false;
              }
              feeds().close(each.getKey());
              calls.addDone(() -> asked.future().completeExceptionally(new SpindleException(Code.TIMED_OUT)));
              return true;
            });
  }

  // --- Events ---

  private void noteArrival() {
    publisher.wake();
  }

  private boolean isFinished() {
    return events.isFinished();
  }

  private Event poll() {
    Event event = events.poll();
    noteGiven(event);
    return event;
  }

  /** The program has been given the event, or is about to be. */
  private void noteGiven(Event event) {
    if (!(event instanceof FlushRequest request)) {
      return;
    }
    lock.lock();
    try {
      if (autoFlush.contains(request.group()) && canSend() && session.writer().flushOk(request) == null) {
        flush();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Event receive() {
    return take(ClientSession.NEVER);
  }

  @Override
  public Event receive(Duration timeout) {
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
    if (isOwnThread()) {
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
      noteGiven(event);
      return event;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new SpindleException(Code.CANCELLED);
    }
  }

  @Override
  public Flow.Publisher<Event> events() {
    return publisher;
  }

  // --- The end ---

  @Override
  public Name privateName() {
    return privateName;
  }

  @Override
  public boolean isOpen() {
    return locked(this::canSend);
  }

  @Override
  public void close() {
    disconnect();
  }

  @Override
  public NotTaken disconnect() {
    return disconnect(Clock.after(options.disconnectTimeout()));
  }

  private NotTaken disconnect(long deadline) {
    lock.lock();
    try {
      sayBye(deadline);
      waiters++;
      while (!hasEnded && !isOwnThread()) {
        changed.awaitUninterruptibly();
      }
      waiters--;
      return session.writer().notTaken();
    } finally {
      lock.unlock();
    }
  }

  private void sayBye(long deadline) {
    if (isClosing || hasEnded) {
      return;
    }
    isClosing = true;
    closingUntil = deadline;
    session.writer().bye();
    changed.signalAll();
    selector.wakeup();
  }

  @Override
  public NotTaken drain(Duration timeout) {
    long deadline = Clock.after(timeout);
    boolean isCancelled = false;
    lock.lock();
    try {
      for (Name group : joined.names()) {
        boolean hasRoom = !isFull() || (!isOwnThread() && waitFor(deadline, () -> !canSend() || !isFull()));
        if (!hasRoom || !canSend() || session.leave(group) != null) {
          break;
        }
        flush();
      }
      if (!isOwnThread()) {
        isDraining = true;
        selector.wakeup(); // it may have stopped reading
        waitFor(deadline, () -> joined.isEmpty() || !canSend());
        sayBye(deadline);
        waitFor(ClientSession.NEVER, () -> hasEnded);
      }
    } catch (SpindleException interrupted) {
      isCancelled = true;
    } finally {
      lock.unlock();
    }
    if (isCancelled) {
      hurry();
    }
    return disconnect(isCancelled ? Clock.now() : deadline);
  }

  /** The daemon's last word is waited for no longer. */
  private void hurry() {
    lock.lock();
    try {
      closingUntil = Clock.now();
      selector.wakeup();
    } finally {
      lock.unlock();
    }
  }

  // --- The connection's own thread ---

  private void run() {
    lock.lock();
    try {
      while (turn()) {
        continue;
      }
    } catch (RuntimeException | Error bug) {
      endFor(bug);
      throw bug;
    } finally {
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
    if (link != null) {
      link.close();
      link = null;
    }
    if (!hasEnded) {
      hasEnded = true;
      Code code = bug instanceof OutOfMemoryError ? Code.OUT_OF_MEMORY : Code.INTERNAL_ERROR;
      List<Event> last = new ArrayList<>();
      last.add(new Disconnected(code, bug.toString(), session.writer().notTaken()));
      events.push(last, 0);
      calls.end(code);
    }
    changed.signalAll();
    List<Runnable> done = calls.takeDone();
    lock.unlock();
    try {
      done.forEach(Runnable::run);
    } finally {
      lock.lock();
    }
  }

  /** One round: write, wait, read, handle. False when there is nothing left to do for ever. */
  private boolean turn() {
    runDone();
    if (hasEnded) {
      if (link == null && !session.takeHangUp()) {
        return false;
      }
      hangUp();
      return true;
    }
    long now = Clock.now();
    if (session.nextDeadline() <= now) {
      session.handleTime(now);
      deliver();
      return true;
    }
    if (feeds().nextDeadline() <= now) {
      feeds().handleTime(now);
      tellFeeds();
    }
    if (goOnConnecting()) {
      return true;
    }
    if (canWrite() && hasOutput()) {
      writeSome();
    }
    endOutput();
    int ready = select();
    now = Clock.now();
    if (!calls.isEmpty()) {
      calls.expire(now);
    }
    expireOpening(now);
    if (isClosing && now >= closingUntil) {
      giveUp(Code.CLOSED_BY_CLIENT, "the client closed the connection before the daemon had answered");
      return true;
    }
    if (connectUntil <= now) {
      giveUp(Code.TIMED_OUT, "the daemon did not welcome the client in time");
      return true;
    }
    if (link == null) {
      return true;
    }
    if ((ready & SelectionKey.OP_WRITE) != 0 && !isWriterBusy) {
      flushLink();
    }
    if (((ready & SelectionKey.OP_READ) != 0 || mayHaveMore) && takesEvents()) {
      readSocket();
    }
    return true;
  }

  private void flushLink() {
    try {
      link.flush();
    } catch (IOException failure) {
      return; // found by who reads or writes next
    }
    if (isBlocked && !link.hasUnsent()) {
      isBlocked = false;
      writeSome();
    }
  }

  /** Once all is written after a bye, tells the daemon so by ending this direction of the stream. */
  private void endOutput() {
    if (!isClosing || hasEndedOutput || isWriterBusy || link == null) {
      return;
    }
    // What is held goes out later, the bye with it.
    if (!session.isConnected() || session.writer().outputSize() != 0 || link.hasUnsent()) {
      return;
    }
    hasEndedOutput = true;
    link.finishWriting();
  }

  private boolean takesEvents() {
    return isClosing || isDraining || !events.isFull();
  }

  /** Waits for the socket, a wake-up or the end of patience. Gives what the socket is ready for. */
  private int select() {
    int wanted = 0;
    if (link != null) {
      boolean wantsToWrite = (isBlocked && !hasWriteFailed) || link.hasUnsent();
      wanted = (takesEvents() ? SelectionKey.OP_READ : 0) | (wantsToWrite && !isWriterBusy ? SelectionKey.OP_WRITE : 0);
    }
    boolean hasMoreToRead = link != null && mayHaveMore && takesEvents();
    session.setReading(takesEvents());
    final boolean hasMoreToDo = (canWrite() && hasOutput()) || hasMoreToRead || calls.hasDone();
    isThreadAsleep = !hasMoreToDo;
    long deadline = Math.min(Math.min(calls.nextDeadline(), closingUntil), Math.min(session.nextDeadline(), connectUntil));
    deadline = Math.min(deadline, feeds().nextDeadline());
    for (Opening each : opening.values()) {
      deadline = Math.min(deadline, each.until());
    }
    final SelectionKey key = selected;
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
      isThreadAsleep = false;
    }
    return ready;
  }

  private void readSocket() {
    final EventReader reader = session.reader();
    final Link from = link;
    Code reason = null;
    String text = "";
    lock.unlock();
    try {
      ByteBuffer room = reader.prepare();
      int count = from.read(room);
      mayHaveMore = !room.hasRemaining() || from.mayHaveMore();
      if (count > 0) {
        reader.commit(count);
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
    deliver();
  }

  private void giveUp(Code code, String text) {
    session.giveUp(code, text);
    deliver();
  }

  /** Brings what the reader has found to whom it concerns. */
  private void deliver() {
    EventReader reader = session.reader();
    boolean hasViews = false;
    if (session.isSettlingDue()) {
      final long reconnections = session.reconnections();
      // Whoever writes is let finish, so that it is known what was written on a connection that is gone.
      if (reader.hasEnded() && link != null) {
        link.shutDown();
        waitWhileWriting();
      }
      hasViews = reader.hasViews();
      session.settle(Clock.now());
      hasViews |= session.reconnections() != reconnections;
      noteConnected();
      tellFeeds();
      tellChanged(); // flows may have room
      if (calls.wantsRoom()) {
        noteRoom();
      }
    }
    long bytes = reader.eventBytes();
    if (bytes == 0 && !session.isOver()) {
      return;
    }
    List<Event> arrived = reader.takeEvents();
    if (arrived.isEmpty()) {
      return;
    }
    if (hasViews) {
      for (Event event : arrived) {
        joined.note(event, session.writer().groups().keySet());
        if (event instanceof GroupView view) {
          calls.noteView(view, privateName);
        }
      }
    }
    if (isClosing) {
      arrived.removeIf(event -> !tellsOfWhatWasSent(event));
    }
    // Who receives Disconnected finds the connection closed, and who finds it closed finds Disconnected.
    boolean isOver = session.isOver() && !hasEnded;
    Code end = isOver ? ((Disconnected) arrived.get(arrived.size() - 1)).code() : null;
    tellFeeds();
    events.push(arrived, bytes);
    if (isOver) {
      hasEnded = true;
      calls.end(end);
    }
    tellChanged();
  }

  private static boolean tellsOfWhatWasSent(Event event) {
    return event instanceof Disconnected
        || (event instanceof RequestFailed failed && failed.request() == RequestFailed.Request.SEND);
  }

  /** Runs what depends on calls that have ended, without the lock. */
  private void runDone() {
    while (calls.hasDone()) {
      List<Runnable> done = calls.takeDone();
      lock.unlock();
      try {
        done.forEach(Runnable::run);
      } finally {
        lock.lock();
      }
    }
  }

  // --- Connecting ---

  private void noteConnected() {
    if (!session.isConnected()) {
      return;
    }
    connectUntil = ClientSession.NEVER;
    if (!privateName.equals(session.reader().privateName())) {
      privateName = session.reader().privateName();
    }
  }

  /** Whether something has come of it, after which there may be more to do. */
  private boolean goOnConnecting() {
    if (session.takeHangUp()) {
      hangUp();
    }
    int server = session.takeDial();
    if (server >= 0) {
      long now = Clock.now();
      long deadline = ClientSession.later(now, Clock.nanos(options.connectTimeout()));
      if (connectUntil != ClientSession.NEVER) {
        // Each server has its share of the time.
        deadline = now + (connectUntil - now) / (Math.max(1, options.addresses().size()) - server);
      }
      dialler.start(options.addresses().isEmpty() ? "" : options.addresses().get(server), deadline, selector::wakeup);
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
      deliver(); // it may have been the last try
      return;
    }
    try {
      selected = outcome.link().channel().register(selector, 0);
    } catch (ClosedChannelException abandoned) {
      session.failed(Clock.now(), Code.CONNECT_FAILED, Code.CONNECT_FAILED.text());
      deliver();
      return;
    }
    link = outcome.link();
    hasWriteFailed = false;
    isBlocked = false;
    hasEndedOutput = false;
    mayHaveMore = true;
    session.connected(outcome.token());
    writeSome();
  }

  /** Whoever writes is let finish: what it has written is known then. */
  private void hangUp() {
    dialler.abandon();
    if (link == null) {
      return;
    }
    link.shutDown();
    waitWhileWriting();
    link.close();
    link = null;
    selected = null;
    isBlocked = false;
    hasWriteFailed = false;
    mayHaveMore = false;
  }

  @Override
  public String toString() {
    return "Connection[" + privateName + "]";
  }
}
