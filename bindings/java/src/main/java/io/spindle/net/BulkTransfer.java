package io.spindle.net;

import io.spindle.BulkProgress;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.Event;
import io.spindle.bulk.Attachment;
import io.spindle.bulk.BlockPool;
import io.spindle.bulk.BulkHolder;
import io.spindle.protocol.BulkRequest;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.ContentLayout;
import io.spindle.store.BulkStore;
import io.spindle.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One bulk channel at a client: its engines, and what is done for them. For the bulk thread alone. `pump` is called
 * whenever something may have happened, and at `due`. Times are nanoseconds.
 */
abstract class BulkTransfer {
  static final long MS = 1_000_000;
  private static final long PROGRESS_PERIOD = 500 * MS;

  /** What a transfer needs of the thread that drives it. */
  interface Host {
    /** Has a worker call `job`, and the thread what that gives. */
    void submit(Job job);

    void ask(BulkRequest request);

    void give(Event event);

    /**
     * Both, as one: what comes of the request comes behind the event, and what the program does upon the event behind
     * the request. Where nobody can be asked there is the event alone.
     */
    void askAndGive(BulkRequest request, Event event);

    /** The channel's end, which this client asks for, has that reason. */
    void noteFailure(ChannelId channel, StoreException failure);

    /** What the engines are has changed. */
    void enginesChanged(ChannelId channel);

    /** By any thread: there is something to pump. */
    void wake();

    ThreadFactory threads();

    BlockPool pool();

    /** A random number for each channel. */
    int draw();
  }

  /** What a worker does; it gives what the thread is to do then. */
  interface Job {
    Runnable run();
  }

  /** What a store does. */
  interface StoreWork {
    void run() throws StoreException;
  }

  final Host host;
  final ChannelId id;
  final BulkStore store;
  ContentLayout layout;
  BulkHolder holder; // null: none
  int jobs; // under way
  boolean isOver;
  boolean hasToTell; // progress, although there is none
  private long bytesPerSecond;
  private boolean isClosed; // nothing more is read or written
  private final List<Runnable> closeActions = new ArrayList<>(); // what is to be done then
  private long toldAt;
  private long toldBytes;

  BulkTransfer(Host host, ChannelId id, ContentLayout layout, BulkStore store, long bytesPerSecond) {
    this.host = host;
    this.id = id;
    this.layout = layout;
    this.store = store;
    this.bytesPerSecond = bytesPerSecond;
  }

  // --- Jobs ---

  /** `work` runs on a worker, `done` takes what it gives here, unless the transfer is over. */
  <T> void run(Supplier<T> work, Consumer<T> done) {
    jobs++;
    host.submit(
        () -> {
          try {
            T result = work.get();
            return () -> jobDone(() -> done.accept(result));
          } catch (RuntimeException | Error bug) {
            Code code = bug instanceof OutOfMemoryError ? Code.OUT_OF_MEMORY : Code.INTERNAL_ERROR;
            return () -> jobDone(() -> fail(new StoreException(code, bug.toString())));
          }
        });
  }

  /** A job has ended; `then`: what is to be done with what it gave. */
  void jobDone(Runnable then) {
    jobs--;
    if (!isOver) {
      then.run();
    }
    closeIfOver();
  }

  /** Null where it has been done. */
  static StoreException attempt(StoreWork work) {
    try {
      work.run();
      return null;
    } catch (StoreException failure) {
      return failure;
    }
  }

  /** Whether it has nothing more to do. */
  boolean hasEnded() {
    return isOver;
  }

  /** Its file is let go of when its last job is over. */
  void closeIfOver() {
    if (hasEnded() && jobs == 0 && !isClosed) {
      isClosed = true;
      store.close();
      closeActions.forEach(Runnable::run);
      closeActions.clear();
    }
  }

  /** Whether it has what is at that place, until its last job is over. */
  boolean isAtPlaceOf(BulkStore other) {
    return !isClosed && store.isAtPlaceOf(other);
  }

  /** It is over, and has let go of its file: now, or when its last job is. */
  void whenClosed(Runnable action) {
    if (isClosed) {
      action.run();
    } else {
      closeActions.add(action);
    }
  }

  // --- Its beginning ---

  abstract boolean isOwn();

  ContentLayout layout() {
    return layout;
  }

  /** None where it has nothing to do with the content, not yet or not any more. */
  abstract Attachment.Engines engines();

  long bytesPerSecond() {
    return bytesPerSecond;
  }

  void setRate(long value) {
    bytesPerSecond = value;
  }

  BulkHolder makeHolder(BulkHolder.Kind kind) {
    return new BulkHolder(kind, layout, host.draw(), host.draw());
  }

  /** Once, after construction. */
  final void start() {
    long now = Clock.now();
    toldAt = now;
    begin(now);
  }

  abstract void begin(long now);

  /** Its source has said how large it is, and which hash it has. */
  void handleSeal(long now, long size, byte[] root) {}

  /** The channel was offered in a new session: what is to be said of it is said again. */
  void sayAgain() {}

  void pump(long now) {
    try {
      pumpOnce(now);
    } catch (OutOfMemoryError none) {
      // Blocks of this one are too large for this program; others may not be.
      fail(new StoreException(Code.OUT_OF_MEMORY, Code.OUT_OF_MEMORY.text()));
    }
  }

  private void pumpOnce(long now) {
    if (isOver) {
      return;
    }
    goOn(now);
    if (!isOver) {
      tellProgress(now);
    }
  }

  /** What there is to do. */
  abstract void goOn(long now);

  // --- Its end ---

  /** It cannot go on, for that reason: all are told. */
  abstract void fail(StoreException failure);

  /**
   * The same file is to be that of a later offer, as where a source was started again: this one gives way, and what is
   * there may serve the other.
   */
  boolean givesWayTo(BulkStore other) {
    return false;
  }

  /**
   * Nothing more comes of it; what comes of jobs is left aside. `discards`: what was received of it goes, unless it is
   * whole.
   */
  final void end(boolean discards) {
    if (isOver) {
      return;
    }
    isOver = true;
    noteOver(discards);
    closeIfOver();
  }

  abstract void noteOver(boolean discards);

  /** So that it can be gone on with later. No worker is at work any more. */
  final void saveAtEnd() {
    saveRest();
    store.close();
  }

  abstract void saveRest();

  // --- What is told ---

  /** That are there, or that were sent. */
  abstract long bytes();

  /** Bytes a second; `bytes` gave `there`. */
  abstract long rate(long now);

  void noteBytes(long now, long there) {}

  private void tellProgress(long now) {
    long there = bytes();
    noteBytes(now, there);
    if ((there == toldBytes && !hasToTell) || now - toldAt < PROGRESS_PERIOD) {
      return;
    }
    hasToTell = false;
    toldAt = now;
    toldBytes = there;
    OptionalLong size = layout.hasSize() ? OptionalLong.of(layout.size()) : OptionalLong.empty();
    host.give(new BulkProgress(id, there, size, rate(now)));
  }

  /** NEVER: not before something happens. */
  final long due() {
    if (isOver) {
      return ClientSession.NEVER;
    }
    boolean isUntold = bytes() != toldBytes || hasToTell;
    return Math.min(isUntold ? toldAt + PROGRESS_PERIOD : ClientSession.NEVER, workDue());
  }

  /** The same, of what `goOn` does. */
  abstract long workDue();
}
