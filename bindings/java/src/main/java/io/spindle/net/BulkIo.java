package io.spindle.net;

import io.spindle.BulkEnded;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.Event;
import io.spindle.bulk.Attachment;
import io.spindle.bulk.BlockPool;
import io.spindle.protocol.BackOff;
import io.spindle.protocol.BulkNews;
import io.spindle.protocol.BulkRequest;
import io.spindle.protocol.ClientSession;
import io.spindle.store.BulkStore;
import io.spindle.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The thread of bulk content: a second connection to the daemon, and all channels of a client on it. What it is to do
 * it is given by `runSoon`, by any thread; `stop` ends it.
 */
final class BulkIo implements BulkTransfer.Host {
  // In one round, in each direction.
  private static final int READS_MAX = 16;
  private static final int WRITES_MAX = 32;
  private static final long WAIT_MAX_MS = 60_000;
  // In which the time for what is untold is counted: one at whose end nobody hears the daemon does not count.
  private static final int UNTOLD_PARTS = 6;

  /** The connection beside which content travels. The bulk thread calls it, and holds no lock. */
  interface Session {
    /** Whether it is on its way. */
    boolean ask(BulkRequest request);

    void give(Event event);

    /** As BulkTransfer.Host.askAndGive(). */
    void askAndGive(BulkRequest request, Event event);

    void noteFailure(ChannelId channel, StoreException failure);

    /** Whether what the daemon says now is heard: there is a connection, and it is read. */
    boolean isTold();

    /** What the daemon has not told of again in a new session is over. */
    void endUntold();

    /** Of the daemon that the session is at. */
    String address();

    /** Nothing is offered or received any more, for that reason. */
    void noteBroken(Code code, String text);

    /** Ends calls whose time is over; when it is to be called next. */
    long expire(long now);
  }

  /** How far the second connection is. */
  private enum Phase {
    NONE,
    ASKED,
    DIALLING,
    ATTACHED
  }

  private final Session session;
  private final ThreadFactory threads;
  private final long connectTimeout;
  private final long retoldWithin;
  private final BlockPool pool = new BlockPool();
  private final BulkWorkers workers = new BulkWorkers();
  private final Selector selector;
  private final Thread thread;

  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private List<Runnable> tasks = new ArrayList<>();
  private boolean isStopped;
  private boolean isAwake; // there is something that the thread has not looked at

  // The thread's own.
  private final Map<ChannelId, BulkTransfer> transfers = new TreeMap<>();
  private final List<BulkTransfer> ending = new ArrayList<>(); // whose last jobs are under way
  private boolean isSessionOver;
  private long untoldUntil = ClientSession.NEVER; // in a new session: the end of the part that is under way
  private int untoldParts; // of the time to wait, this one included
  private Phase phase = Phase.NONE;
  private final Random random = new Random();
  private final BackOff backOff = new BackOff(random.nextLong());
  private long retryAt = Long.MIN_VALUE;
  private final Dialler dialler;
  private BulkNews.Token token;
  private Link link; // null: none
  private SelectionKey key;
  private Attachment attachment; // null: none
  private boolean isBlocked; // the socket takes nothing more at present
  private boolean mayHaveMore; // the link, although its socket has nothing
  private boolean hasMoreToDo; // than one round does

  /** `retoldWithin`: of a new session, how long the daemon is heard until `endUntold`. */
  BulkIo(Session session, Dialler dialler, ThreadFactory threads, long connectTimeout, long retoldWithin)
      throws IOException {
    this.session = session;
    this.dialler = dialler;
    this.threads = threads;
    this.connectTimeout = connectTimeout;
    this.retoldWithin = retoldWithin;
    selector = Selector.open();
    thread = threads.newThread(this::run);
  }

  /** Throws where there can be no more threads: none is left then. */
  void start(int count) {
    try {
      workers.start(count, threads);
      thread.start();
    } catch (RuntimeException | Error failure) {
      discard();
      throw failure;
    }
  }

  /** Its thread does not run. */
  void discard() {
    workers.stop();
    closeSelector();
  }

  void runSoon(Runnable task) {
    lock.lock();
    try {
      tasks.add(task);
      if (!isAwake) {
        isAwake = true;
        selector.wakeup();
      }
    } finally {
      lock.unlock();
    }
  }

  /** A worker does it. False where there will be nobody to. */
  boolean work(Runnable job) {
    return workers.add(job);
  }

  /** Has the thread end what is under way: what is received can be gone on with later. Waits for nothing. */
  void stop() {
    lock.lock();
    try {
      isStopped = true;
      if (!isAwake) {
        isAwake = true;
        selector.wakeup();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the thread has ended, and jobs that have begun are over. Not for these threads themselves. */
  void awaitEnd() {
    boolean isInterrupted = false;
    while (thread.isAlive() && Thread.currentThread() != thread && !workers.isOwnThread()) {
      try {
        thread.join();
      } catch (InterruptedException interrupt) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  // --- For transfers ---

  @Override
  public void submit(BulkTransfer.Job job) {
    if (!workers.add(() -> runSoon(job.run()))) {
      job.run().run(); // the last of what is to be done, as they are stopped
    }
  }

  @Override
  public void ask(BulkRequest request) {
    if (!isSessionOver) {
      session.ask(request);
    }
  }

  @Override
  public void give(Event event) {
    session.give(event);
  }

  @Override
  public void askAndGive(BulkRequest request, Event event) {
    session.askAndGive(request, event);
  }

  @Override
  public void noteFailure(ChannelId channel, StoreException failure) {
    session.noteFailure(channel, failure);
  }

  @Override
  public void enginesChanged(ChannelId id) {
    BulkTransfer found = transfers.get(id);
    if (attachment != null && found != null) {
      add(id, found);
    }
  }

  @Override
  public void wake() {
    runSoon(() -> {});
  }

  @Override
  public ThreadFactory threads() {
    return threads;
  }

  @Override
  public BlockPool pool() {
    return pool;
  }

  @Override
  public int draw() {
    return random.nextInt();
  }

  // --- What happens in the session; on the thread ---

  void offer(SourceTransfer.Offer offer) {
    BulkTransfer transfer = new SourceTransfer(this, offer);
    transfers.put(offer.id(), transfer);
    transfer.start();
  }

  void accept(ReceiverTransfer.Acceptance acceptance) {
    BulkTransfer former = makeWayFor(acceptance.store());
    BulkTransfer transfer = new ReceiverTransfer(this, acceptance);
    transfers.put(acceptance.id(), transfer);
    if (former == null) {
      transfer.start();
    } else {
      former.whenClosed(transfer::start);
    }
  }

  /** Who has what is at the place of the store, and lets go of it when its last job is over; null: nobody. */
  private BulkTransfer makeWayFor(BulkStore store) {
    for (Map.Entry<ChannelId, BulkTransfer> each : transfers.entrySet()) {
      if (each.getValue().givesWayTo(store)) {
        end(each.getKey(), false);
        break;
      }
    }
    return ending.stream().filter(each -> each.isAtPlaceOf(store)).findFirst().orElse(null);
  }

  void seal(BulkNews.Sealed sealed) {
    BulkTransfer found = transfers.get(sealed.channel());
    if (found != null) {
      found.handleSeal(Clock.now(), sealed.size(), sealed.root());
    }
  }

  /** The daemon tells of the channel once more. */
  void offeredAgain(ChannelId id) {
    BulkTransfer found = transfers.get(id);
    if (found == null) {
      return;
    }
    found.sayAgain();
    if (attachment != null) {
      // What this client has asked for before the daemon knew it as a member is lost.
      attachment.remove(id);
      add(id, found);
    }
  }

  void setRate(ChannelId id, long bytesPerSecond) {
    BulkTransfer found = transfers.get(id);
    if (found == null) {
      return;
    }
    found.setRate(bytesPerSecond);
    if (attachment != null) {
      attachment.setRate(id, bytesPerSecond);
    }
  }

  void end(ChannelId id, boolean discards) {
    BulkTransfer found = transfers.remove(id);
    if (found == null) {
      return;
    }
    ending.add(found);
    found.end(discards);
    found.whenClosed(() -> ending.remove(found));
    if (attachment != null) {
      attachment.remove(id);
    }
    if (transfers.isEmpty()) {
      pool.clear();
    }
  }

  void takeToken(BulkNews.Token told) {
    if (phase != Phase.ASKED) {
      return;
    }
    token = told;
    phase = Phase.DIALLING;
    dialler.start(session.address(), ClientSession.later(Clock.now(), connectTimeout), this::wake);
  }

  void tokenRefused() {
    if (phase == Phase.ASKED) {
      detach();
    }
  }

  void sessionBeganAnew() {
    detach();
    retryAt = Long.MIN_VALUE;
    untoldParts = UNTOLD_PARTS;
    untoldUntil = Clock.now() + retoldWithin / UNTOLD_PARTS;
    // Others know of no source of these any more; what is received goes on when it is offered again.
    List<ChannelId> own = transfers.keySet().stream().filter(id -> transfers.get(id).isOwn()).toList();
    for (ChannelId id : own) {
      end(id, false);
      session.give(new BulkEnded(id, BulkEnded.Cause.DISCONNECTED, Optional.empty(), ""));
    }
  }

  /** What is told may wait unread for as long as the program takes no events, and is told again once it is connected. */
  private void countUntold() {
    if (Clock.now() < untoldUntil) {
      return;
    }
    if (session.isTold()) {
      untoldParts--;
    }
    untoldUntil = Clock.now() + retoldWithin / UNTOLD_PARTS;
    if (untoldParts == 0) {
      untoldUntil = ClientSession.NEVER;
      session.endUntold();
    }
  }

  // --- The second connection ---

  private void add(ChannelId id, BulkTransfer transfer) {
    Attachment.Engines engines = transfer.engines();
    if (engines.holder() == null && engines.receiver() == null) {
      attachment.remove(id);
      return;
    }
    attachment.add(id, transfer.layout(), engines);
    attachment.setRate(id, transfer.bytesPerSecond());
  }

  private void goOnAttaching() {
    if (phase == Phase.DIALLING) {
      Dialler.Outcome outcome = dialler.take();
      if (outcome != null) {
        attach(outcome.link());
      }
    }
    if (phase != Phase.NONE || isSessionOver || transfers.isEmpty() || Clock.now() < retryAt) {
      return;
    }
    phase = Phase.ASKED;
    if (!session.ask(new BulkRequest.TokenRequest())) {
      detach();
    }
  }

  /** Null: there is none to be had. */
  private void attach(Link dialled) {
    link = dialled;
    try {
      key = dialled == null ? null : dialled.channel().register(selector, 0);
    } catch (ClosedChannelException abandoned) {
      key = null;
    }
    if (key == null) {
      detach();
      return;
    }
    isBlocked = false;
    mayHaveMore = true;
    phase = Phase.ATTACHED;
    attachment = new Attachment(token.session(), token.token());
    transfers.forEach(this::add);
  }

  /** There is another try in a while. */
  private void detach() {
    if (attachment != null && attachment.isWelcome()) {
      backOff.reset();
    }
    dialler.abandon();
    attachment = null;
    if (link != null) {
      link.close();
    }
    link = null;
    key = null;
    isBlocked = false;
    mayHaveMore = false;
    if (phase != Phase.NONE) {
      retryAt = Clock.now() + backOff.next();
    }
    phase = Phase.NONE;
  }

  private void read() {
    try {
      for (int i = 0; attachment != null && i < READS_MAX; i++) {
        ByteBuffer room = attachment.prepare();
        int count = link.read(room);
        mayHaveMore = count > 0 && (!room.hasRemaining() || link.mayHaveMore());
        if (count > 0) {
          attachment.handleRead(Clock.now(), count);
        } else if (count < 0) {
          detach();
        }
        if (!mayHaveMore) {
          return;
        }
      }
    } catch (IOException | Attachment.Ended lost) {
      detach();
    }
  }

  private void write() {
    isBlocked = false;
    try {
      for (int i = 0; attachment != null && i < WRITES_MAX; i++) {
        attachment.fill(Clock.now());
        ByteBuffer output = attachment.output();
        if (output == null) {
          return;
        }
        int start = output.position();
        link.write(output);
        attachment.consume(output.position() - start);
        isBlocked = output.hasRemaining();
        if (isBlocked) {
          return;
        }
      }
      hasMoreToDo = attachment != null;
    } catch (IOException lost) {
      detach();
    }
  }

  // --- The thread ---

  private boolean runTasks() {
    List<Runnable> taken;
    boolean goesOn;
    lock.lock();
    try {
      taken = tasks;
      tasks = new ArrayList<>();
      isAwake = false;
      goesOn = !isStopped;
    } finally {
      lock.unlock();
    }
    taken.forEach(Runnable::run);
    return goesOn;
  }

  private void pump() {
    // A transfer that fails may be gone then.
    for (BulkTransfer each : List.copyOf(transfers.values())) {
      each.pump(Clock.now());
    }
  }

  private void run() {
    try {
      while (runTasks()) {
        hasMoreToDo = false;
        countUntold();
        goOnAttaching();
        pump();
        write();
        pump(); // what is sent next is to be loaded
        await();
      }
    } catch (IOException | RuntimeException | Error bug) {
      failAll(bug);
    } finally {
      isSessionOver = true;
      end();
    }
  }

  /** A mistake of this library, or no memory: who waits for contents must not wait for ever. */
  private void failAll(Throwable bug) {
    Code code = bug instanceof OutOfMemoryError ? Code.OUT_OF_MEMORY : Code.INTERNAL_ERROR;
    detach();
    for (BulkTransfer each : transfers.values()) {
      each.fail(new StoreException(code, bug.toString()));
    }
    session.noteBroken(code, bug.toString());
  }

  private void end() {
    detach();
    runTasks();
    workers.stop();
    // What workers have written counts, too.
    runTasks();
    transfers.values().forEach(BulkTransfer::saveAtEnd);
    transfers.clear();
    pool.clear();
    closeSelector();
  }

  private void closeSelector() {
    lock.lock();
    try {
      isAwake = true; // for good: nobody wakes a selector that is closed
      selector.close();
    } catch (IOException gone) {
      // It is closed.
    } finally {
      lock.unlock();
    }
  }

  private void await() throws IOException {
    long now = Clock.now();
    long due = Math.min(session.expire(now), untoldUntil);
    for (BulkTransfer each : transfers.values()) {
      due = Math.min(due, each.due());
    }
    if (attachment != null) {
      due = Math.min(due, attachment.due());
    }
    if (phase == Phase.NONE && !transfers.isEmpty()) {
      due = Math.min(due, retryAt);
    }
    if (key != null && key.isValid()) {
      boolean wantsToWrite = isBlocked || link.hasUnsent();
      key.interestOps(SelectionKey.OP_READ | (wantsToWrite ? SelectionKey.OP_WRITE : 0));
    }
    // "At once" is the first of all times.
    long millis = due <= now ? 0 : Math.min(Clock.millisUntil(due), WAIT_MAX_MS);
    if (hasMoreToDo || mayHaveMore || millis == 0) {
      selector.selectNow();
    } else {
      selector.select(millis);
    }
    Thread.interrupted(); // it is nobody's to interrupt
    boolean isReady = key != null && selector.selectedKeys().remove(key) && key.isValid();
    int ready = isReady ? key.readyOps() : 0;
    selector.selectedKeys().clear();
    if ((ready & SelectionKey.OP_WRITE) != 0) {
      try {
        link.flush();
      } catch (IOException lost) {
        mayHaveMore = true; // who reads finds out
      }
    }
    if ((ready & SelectionKey.OP_READ) != 0 || mayHaveMore) {
      read();
    }
  }
}
