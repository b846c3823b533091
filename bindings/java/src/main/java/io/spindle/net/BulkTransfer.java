package io.spindle.net;

import io.spindle.BulkProgress;
import io.spindle.BulkReceived;
import io.spindle.BulkStalled;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.Event;
import io.spindle.bulk.Attachment;
import io.spindle.bulk.BlockIndex;
import io.spindle.bulk.BlockPool;
import io.spindle.bulk.BlockSet;
import io.spindle.bulk.BulkHolder;
import io.spindle.bulk.BulkReceiver;
import io.spindle.bulk.LoadJob;
import io.spindle.bulk.RateMeter;
import io.spindle.bulk.ReceiverJob;
import io.spindle.bulk.ResumeState;
import io.spindle.protocol.BulkRequest;
import io.spindle.protocol.BulkRequest.Outcome;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.ContentLayout;
import io.spindle.store.BulkStore;
import io.spindle.store.KeptHashes;
import io.spindle.store.StoreException;
import io.spindle.store.StreamSource;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One bulk channel at a client: its engines, and what is done for them. For the bulk thread alone. `pump` is called
 * whenever something may have happened, and at `due`. Times are nanoseconds.
 */
final class BulkTransfer {
  private static final long MS = 1_000_000;
  private static final long PROGRESS_PERIOD = 500 * MS;
  // What is there is noted as often as a twentieth of the time suffices for: little is fetched again after a crash
  // where the disk is fast.
  private static final int SAVE_SHARE = 20;
  private static final long SAVE_PERIOD_MIN = 50 * MS;
  private static final long SAVE_PERIOD_MAX = 2_000 * MS;
  // A disk on which so many blocks have gone bad serves nobody: each of them is fetched again.
  private static final int BAD_BLOCKS_MAX = 8;
  // How often the hashes of a source are kept that has not all of them.
  private static final long KEEP_PERIOD = 30_000 * MS;
  // A source whose content nobody asks for hashes it by itself, at once where all have it.
  private static final long IDLE_PERIOD = 300 * MS;
  private static final long RETRY_PERIOD = 5_000 * MS;
  private static final long FULL_MAX = 600_000 * MS;
  // A stream that keeps nothing goes so far beyond a block before that is dropped, and waits so long for who lacks it.
  private static final int BLOCKS_BEHIND = 8;
  private static final long WAIT_FOR_BLOCK = 10_000 * MS;
  // Who lacks something of one gets nothing for so long: nobody has it any more.
  private static final long STREAM_SILENCE = 60_000 * MS;
  // Who lacks something of any content and gets nothing for so long tells the program.
  private static final long STALL_PERIOD = 10_000 * MS;
  private static final int UNTOLD = -1; // number of blocks that is none

  /** What a transfer needs of the thread that drives it. */
  interface Host {
    /** Has a worker call `job`, and the thread what that gives. */
    void submit(Job job);

    void ask(BulkRequest request);

    void give(Event event);

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
  private interface StoreWork {
    void run() throws StoreException;
  }

  /** `stream`: null where the size is known; otherwise the store is the same. `hashes`: null: none are kept. */
  record Offer(
      ChannelId id,
      ContentLayout layout,
      BulkStore store,
      long bytesPerSecond,
      StreamSource stream,
      KeptHashes hashes,
      BlockIndex known) {}

  record Acceptance(ChannelId id, ContentLayout layout, byte[] root, BulkStore store, boolean serves) {}

  /** There is no room at present. */
  private static final class Full {
    final StoreException failure;
    final long start;
    final int bytes;
    long retryAt;
    boolean isTrying;

    Full(StoreException failure, long start, int bytes, long retryAt) {
      this.failure = failure;
      this.start = start;
      this.bytes = bytes;
      this.retryAt = retryAt;
    }
  }

  private final Host host;
  private final ChannelId id;
  private final boolean isOwn;
  private final boolean isStream; // was offered without a size
  private ContentLayout layout;
  private byte[] root; // of what is received, once it is known
  private final BulkStore store;
  private final StreamSource stream; // of what is offered; null: the size is known
  private KeptHashes hashes; // of what is offered; null: none are kept
  private BlockIndex known; // until `start`
  private int keptBlocks; // whose hashes are
  private boolean isKeeping;
  private long keptAt;
  private int streamFirst;
  private int streamEnd;
  private long waitingSince = ClientSession.NEVER; // for who lacks the first block of the stream
  private boolean serves;
  private long bytesPerSecond;
  private BulkHolder holder; // null: none
  private BulkReceiver receiver; // likewise

  private Outcome outcome = Outcome.ACCEPTED; // said of it
  private Code error; // likewise
  private Full full; // null: there is room
  private long fullSince = ClientSession.NEVER; // nothing could be written
  private long heardSymbols;
  private long heardAt = ClientSession.NEVER; // not yet
  private int jobs; // under way
  private boolean hasWorked; // jobs have ended since silence was looked for
  private boolean isStalled; // the program was told so
  private boolean hasToGoOn; // the program is to be told that it is no more
  private boolean isOver;
  private boolean hasToDiscard; // what there is of it, when it is idle
  private boolean isClosed; // nothing more is read or written
  private boolean isSealed; // the source has said so
  private boolean isFinishing; // what was received
  private boolean isSaving;
  private int loads; // jobs
  private int savedBlocks;
  private long savedTakenBack; // blocks that the saved state does not name any more
  private int availableBlocks;
  private int badBlocks; // that were read for others
  private long savePeriod = SAVE_PERIOD_MIN;
  private long savedAt;
  private long toldAt;
  private long activeAt;
  private long toldBytes;
  private long sentSymbols;
  private final RateMeter rate = new RateMeter(); // of what is sent live
  private long ratedBytes;

  BulkTransfer(Host host, Offer offer) {
    this.host = host;
    id = offer.id;
    isOwn = true;
    isStream = offer.stream != null;
    layout = offer.layout;
    store = offer.store;
    stream = offer.stream;
    hashes = offer.hashes;
    known = offer.known;
    bytesPerSecond = offer.bytesPerSecond;
  }

  BulkTransfer(Host host, Acceptance acceptance) {
    this.host = host;
    id = acceptance.id;
    isOwn = false;
    isStream = !acceptance.layout.hasSize();
    layout = acceptance.layout;
    root = acceptance.root;
    store = acceptance.store;
    stream = null;
    serves = acceptance.serves;
  }

  // --- Jobs ---

  /** `work` runs on a worker, `done` takes what it gives here, unless the transfer is over. */
  private <T> void run(Supplier<T> work, Consumer<T> done) {
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

  private void jobDone(Runnable then) {
    jobs--;
    hasWorked = true;
    if (!isOver) {
      then.run();
    }
    discardWhenIdle();
    closeIfOver();
  }

  /** Null where it has been done. */
  private static StoreException attempt(StoreWork work) {
    try {
      work.run();
      return null;
    } catch (StoreException failure) {
      return failure;
    }
  }

  /** Its file is let go of when its last job is over. */
  private void closeIfOver() {
    if ((isOver || outcome == Outcome.FAILED) && jobs == 0 && !isClosed) {
      isClosed = true;
      store.close();
    }
  }

  // --- Its beginning ---

  boolean isOwn() {
    return isOwn;
  }

  ContentLayout layout() {
    return layout;
  }

  /** None where it has nothing to do with the content, not yet or not any more. */
  Attachment.Engines engines() {
    boolean isAtRest = isOver || full != null || outcome == Outcome.FAILED;
    return isAtRest ? Attachment.Engines.NONE : new Attachment.Engines(holder, receiver);
  }

  long bytesPerSecond() {
    return bytesPerSecond;
  }

  void setRate(long value) {
    bytesPerSecond = value;
  }

  private BulkHolder makeHolder(BulkHolder.Kind kind) {
    return new BulkHolder(kind, layout, host.draw(), host.draw());
  }

  /** Once, after construction. */
  void start() {
    activeAt = Clock.now();
    toldAt = activeAt;
    if (!isOwn) {
      say(outcome, null);
      run(this::openStore, this::opened);
      return;
    }
    holder = makeHolder(BulkHolder.Kind.SOURCE);
    keptAt = activeAt;
    if (known != null) {
      keptBlocks = known.known().count();
      holder.handleKnown(known);
      known = null;
    }
    if (stream != null) {
      stream.start(layout.blockBytes(), host.threads(), host::wake);
    } else {
      holder.handleAvailable(BlockSet.ofFirst(layout.blocks()));
    }
    host.enginesChanged(id);
  }

  private record Opened(ResumeState state, StoreException failure) {}

  private Opened openStore() {
    try {
      return new Opened(store.open(layout, root), null);
    } catch (StoreException failure) {
      return new Opened(null, failure);
    }
  }

  private void opened(Opened opened) {
    if (opened.failure != null) {
      fail(opened.failure);
      return;
    }
    receiver = new BulkReceiver(layout, opened.state, host.pool());
    savedBlocks = receiver.written().count();
    savedAt = Clock.now();
    if (serves) {
      receiver.setServes(true);
      holder = makeHolder(BulkHolder.Kind.RECEIVER);
      holder.setHashes(receiver.hashes());
    }
    if (root != null) {
      handleSeal(Clock.now(), layout.size(), root);
    }
    if (!isOver) {
      host.enginesChanged(id);
    }
  }

  void handleSeal(long now, long size, byte[] sealedRoot) {
    if (isOwn || isOver || outcome == Outcome.FAILED) {
      return;
    }
    ContentLayout sealed = layout.sealed(size);
    boolean fits = sealed != null && (receiver == null || receiver.handleSeal(now, size, sealedRoot));
    fits = fits && (receiver == null || holder == null || holder.handleSeal(size));
    if (!fits) {
      fail(new StoreException(Code.UNEXPECTED_FRAME, "the content was sealed with a size that it cannot have"));
      return;
    }
    layout = sealed;
    root = sealedRoot;
  }

  /** The channel was offered in a new session: what is to be said of it is said again. */
  void sayAgain() {
    if (!isOwn) {
      say(outcome, error);
    }
  }

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
    if (isOwn) {
      pumpSource(now);
    } else if (receiver != null) {
      pumpReceiver(now);
    }
    if (!isOver) {
      tellProgress(now);
    }
  }

  // --- A source ---

  private void load(LoadJob job) {
    loads++;
    run(
        () -> job.run(store::read),
        block -> {
          loads--;
          boolean isLost = isOwn && !block.isGood();
          if (isLost && hashes != null) {
            hashes.forget(); // it may be that they are wrong, and not the content
            hashes = null;
          }
          if (holder != null) {
            holder.handleLoaded(block);
          }
          if (isLost) {
            fail(new StoreException(Code.FILE_FAILED, "the content cannot be read any more, or has changed"));
          }
        });
  }

  private void pumpSource(long now) {
    if (stream != null) {
      pumpStream(now);
    }
    if (isOver) {
      return;
    }
    for (LoadJob job = holder.takeJob(); job != null; job = holder.takeJob()) {
      load(job);
    }
    if (holder.sent() != sentSymbols || loads != holder.hashJobs()) {
      activeAt = now;
    }
    sentSymbols = holder.sent();
    keepHashes(now);
    if (isSealed) {
      return;
    }
    byte[] all = layout.hasSize() ? holder.index().root(layout.blocks()) : null;
    if (all != null) {
      isSealed = true;
      host.ask(new BulkRequest.Seal(id, layout.size(), all));
      return;
    }
    // What somebody waits for goes first.
    while (loads == holder.hashJobs()) {
      LoadJob job = holder.takeHashJob(now - activeAt >= IDLE_PERIOD);
      if (job == null) {
        break;
      }
      load(job);
    }
  }

  private void pumpStream(long now) {
    releaseBlocks(now);
    StreamSource.Progress progress = stream.progress();
    if (progress.failure() != null) {
      fail(progress.failure());
      return;
    }
    if (progress.size() != ContentLayout.SIZE_UNKNOWN && !layout.hasSize()) {
      layout = layout.sealed(progress.size());
      holder.handleSeal(progress.size());
    }
    if (progress.first() == streamFirst && progress.end() == streamEnd) {
      return;
    }
    streamFirst = progress.first();
    streamEnd = progress.end();
    BlockSet available = new BlockSet();
    available.addRun(streamFirst, streamEnd);
    holder.handleAvailable(available);
  }

  /** Nobody is to wait for ever for the slowest, nor lose what he is about to get. */
  private void releaseBlocks(long now) {
    if (stream.spools()) {
      return;
    }
    int live = (int) (holder.liveBytes() / layout.blockBytes());
    while (streamFirst + BLOCKS_BEHIND < live) {
      if (holder.isLacking(streamFirst)) {
        waitingSince = waitingSince == ClientSession.NEVER ? now : waitingSince;
        if (now - waitingSince < WAIT_FOR_BLOCK) {
          return;
        }
      }
      waitingSince = ClientSession.NEVER;
      stream.release(++streamFirst);
      streamEnd = 0; // what is available is to be told
    }
  }

  /** Whether there are hashes that are to be kept, and are not. */
  private boolean hasHashesToKeep() {
    return isOwn && hashes != null && holder != null && holder.index().known().count() != keptBlocks;
  }

  private void keepHashes(long now) {
    if (isKeeping || !hasHashesToKeep()) {
      return;
    }
    int count = holder.index().known().count();
    if (count != layout.blocks() && now - keptAt < KEEP_PERIOD) {
      return;
    }
    isKeeping = true;
    keptAt = now;
    keptBlocks = count;
    final KeptHashes keeper = hashes;
    BlockIndex index = new BlockIndex(holder.index());
    run(() -> keeper.save(store, index), isKept -> isKeeping = false);
  }

  // --- A receiver ---

  private void pumpReceiver(long now) {
    if (outcome == Outcome.FAILED) {
      return;
    }
    if (full != null) {
      tryRoom(now);
      return;
    }
    ReceiverJob job;
    while (!hasTakenBack() && (job = receiver.takeJob()) != null) {
      doJob(job);
    }
    if (holder != null) {
      pumpHolderOfReceived();
    }
    if (receiver.isDone()) {
      finish();
      return;
    }
    lookForSilence(now);
    if (outcome != Outcome.FAILED) {
      saveState(now);
    }
  }

  private void pumpHolderOfReceived() {
    for (int block = holder.takeBad(); block >= 0; block = holder.takeBad()) {
      if (!isFinishing) {
        receiver.handleBad(block);
      }
      if (isFinishing || ++badBlocks == BAD_BLOCKS_MAX) {
        stopServing();
        return;
      }
      availableBlocks = UNTOLD;
    }
    if (receiver.written().count() != availableBlocks) {
      availableBlocks = receiver.written().count();
      holder.handleAvailable(receiver.written());
    }
    for (LoadJob job = holder.takeJob(); job != null; job = holder.takeJob()) {
      load(job);
    }
  }

  /**
   * What was handed to the program, which may have changed it, is given to others no more, nor what a bad disk holds.
   */
  private void stopServing() {
    serves = false;
    receiver.setServes(false);
    holder = null;
    host.enginesChanged(id);
    if (outcome == Outcome.DONE) {
      say(Outcome.KEPT, null);
    }
  }

  /** Whether others have something that is missing here. */
  private boolean waitsForOthers() {
    return receiver.lacksSomething() && receiver.complete().count() < layout.blocks();
  }

  /** Who is busy itself does not wait for others. */
  private void lookForSilence(long now) {
    boolean isBusy = jobs != 0 || hasWorked;
    hasWorked = false;
    if (receiver.useful() != heardSymbols || heardAt == ClientSession.NEVER || isBusy || !waitsForOthers()) {
      heardAt = now;
      hasToGoOn |= isStalled;
      isStalled = false;
    }
    heardSymbols = receiver.useful();
    if (now - heardAt >= STALL_PERIOD && !isStalled) {
      isStalled = true;
      host.give(new BulkStalled(id));
    }
    if (isStream && now - heardAt >= STREAM_SILENCE) {
      int block = receiver.complete().firstMissing(0);
      String text = "block " + block + " of the stream is gone: its source keeps no more than the last ones";
      fail(new StoreException(Code.FILE_FAILED, text));
    }
  }

  private void doJob(ReceiverJob job) {
    if (job instanceof ReceiverJob.Decode decode) {
      run(() -> decode.run(store::read), receiver::handleDecoded);
    } else if (job instanceof ReceiverJob.Store symbols) {
      run(
          () -> Optional.ofNullable(attempt(() -> writeSymbols(symbols))),
          failure -> {
            receiver.handleStored(symbols, failure.isEmpty());
            int first = symbols.firstEsi();
            failure.ifPresent(
                why -> waitForRoom(why, symbols.place().startOf(first), symbols.place().bytesOf(first, 1)));
          });
    } else if (job instanceof ReceiverJob.Write block) {
      run(
          () ->
              Optional.ofNullable(
                  attempt(() -> store.writeBlock(block.place().start(), block.content(), block.place().bytes()))),
          failure -> {
            receiver.handleWritten(block, failure.isEmpty());
            if (failure.isPresent()) {
              waitForRoom(failure.get(), block.place().start(), block.place().bytes());
            } else {
              fullSince = ClientSession.NEVER;
            }
          });
    }
  }

  private void writeSymbols(ReceiverJob.Store job) throws StoreException {
    int symbolBytes = job.place().symbolBytes();
    for (int run = 0; run < job.placed().runs(); run++) {
      int first = job.placed().start(run);
      int count = job.placed().end(run) - first;
      store.write(job.place().startOf(first), job.content(), first * symbolBytes, job.place().bytesOf(first, count));
    }
    for (ReceiverJob.HeldSymbol symbol : job.symbols()) {
      store.write(job.place().startOf(symbol.esi()), symbol.bytes(), 0, job.place().bytesOf(symbol.esi(), 1));
    }
  }

  /**
   * Whether the state that is saved names a block that is missing again. Nothing is written until it does not: who is
   * killed meanwhile would take what is at the place of that block for what the state says.
   */
  private boolean hasTakenBack() {
    return receiver.takenBack() != savedTakenBack;
  }

  private void save(ResumeState state, boolean takesBack) throws StoreException {
    if (takesBack) {
      store.takeBack(state);
    } else {
      store.save(state);
    }
  }

  private void saveState(long now) {
    int written = receiver.written().count();
    boolean takesBack = hasTakenBack();
    if (isSaving || (!takesBack && (written == savedBlocks || now - savedAt < savePeriod))) {
      return;
    }
    isSaving = true;
    savedAt = now;
    savedBlocks = written;
    long takenBack = receiver.takenBack();
    ResumeState state = receiver.resumeState();
    run(
        () -> Optional.ofNullable(attempt(() -> save(state, takesBack))),
        failure -> {
          isSaving = false;
          savedTakenBack = takenBack;
          savePeriod = Math.min(Math.max(SAVE_SHARE * (Clock.now() - savedAt), SAVE_PERIOD_MIN), SAVE_PERIOD_MAX);
          if (failure.isPresent() && failure.get().mayPass()) {
            savedBlocks = UNTOLD; // without room for it the former one holds, where there still is one
          } else {
            failure.ifPresent(this::fail);
          }
        });
  }

  /** Asks for nothing until there is room for what could not be written. */
  private void waitForRoom(StoreException failure, long start, int bytes) {
    if (!failure.mayPass()) {
      fail(failure);
      return;
    }
    if (full != null || outcome == Outcome.FAILED) {
      return;
    }
    long now = Clock.now();
    fullSince = fullSince == ClientSession.NEVER ? now : fullSince;
    full = new Full(failure, start, bytes, now + RETRY_PERIOD);
    host.enginesChanged(id);
  }

  private void tryRoom(long now) {
    if (full.isTrying || now < full.retryAt) {
      return;
    }
    if (now - fullSince >= FULL_MAX) {
      fail(full.failure);
      return;
    }
    full.isTrying = true;
    final Full tried = full;
    // Nothing of it is held: it is fetched again.
    run(
        () -> Optional.ofNullable(attempt(() -> store.write(tried.start, new byte[tried.bytes], 0, tried.bytes))),
        failure -> {
          if (full == null) {
            return;
          }
          if (failure.isPresent() && !failure.get().mayPass()) {
            fail(failure.get());
          } else if (failure.isPresent()) {
            full.isTrying = false;
            full.retryAt = Clock.now() + RETRY_PERIOD;
          } else {
            full = null;
            heardAt = Clock.now();
            host.enginesChanged(id);
          }
        });
  }

  private void finish() {
    if (isFinishing || isSaving) {
      return;
    }
    isFinishing = true;
    run(() -> Optional.ofNullable(attempt(() -> store.finish(layout.size()))), this::finished);
  }

  private void finished(Optional<StoreException> failure) {
    if (failure.isPresent()) {
      fail(failure.get());
      return;
    }
    // Who gets the event may leave at once: the daemon is told before.
    say(serves ? Outcome.DONE : Outcome.KEPT, null);
    host.give(new BulkReceived(id, Optional.empty(), "", Optional.ofNullable(store.path()), store.takeBytes()));
  }

  // --- Its end ---

  /** It cannot go on, for that reason: all are told. */
  void fail(StoreException failure) {
    if (isOver || outcome == Outcome.FAILED) {
      return;
    }
    if (isOwn) {
      end(false);
      host.noteFailure(id, failure);
      host.ask(new BulkRequest.Cancel(id));
      return;
    }
    say(Outcome.FAILED, failure.code());
    host.give(new BulkReceived(id, Optional.of(failure.code()), failure.getMessage(), Optional.empty(), new byte[0]));
    // Nobody can do anything with one whose list of files is no good.
    if (failure.code() == Code.BAD_CONTENT_NAME) {
      store.discard();
    }
    full = null;
    // Jobs that are under way still refer to the receiver, which gets nothing more.
    holder = null;
    host.enginesChanged(id);
    closeIfOver();
  }

  private void say(Outcome what, Code why) {
    outcome = what;
    error = why;
    host.ask(new BulkRequest.OutcomeSaid(id, what, why == null ? 0 : why.number()));
  }

  /**
   * The same file is to be that of a later offer, as where a source was started again: this one gives way, and what is
   * there may serve the other.
   */
  boolean givesWayTo(BulkStore other) {
    boolean isUnderWay = !isOwn && !isOver && outcome == Outcome.ACCEPTED;
    if (!isUnderWay || !store.isAtPlaceOf(other)) {
      return false;
    }
    if (receiver != null && receiver.written().count() != 0) {
      ResumeState state = receiver.resumeState();
      run(() -> Optional.ofNullable(attempt(() -> store.save(state))), failure -> {});
    }
    fail(new StoreException(Code.FILE_EXISTS, "another content of that name has taken its place"));
    return true;
  }

  /**
   * Nothing more comes of it; what comes of jobs is left aside. `discards`: what was received of it goes, unless it is
   * whole.
   */
  void end(boolean discards) {
    if (isOver) {
      return;
    }
    isOver = true;
    if (stream != null) {
      stream.stop();
    }
    if (hasHashesToKeep()) {
      final KeptHashes keeper = hashes;
      BlockIndex index = new BlockIndex(holder.index());
      run(() -> keeper.save(store, index), isKept -> {});
    }
    hasToDiscard = !isOwn && discards && outcome == Outcome.ACCEPTED;
    discardWhenIdle();
    closeIfOver();
  }

  /** Jobs that are under way may still write where the content is. */
  private void discardWhenIdle() {
    if (hasToDiscard && jobs == 0) {
      hasToDiscard = false;
      run(
          () -> {
            store.discard();
            return null;
          },
          nothing -> {});
    }
  }

  /** So that it can be gone on with later. No worker is at work any more. */
  void saveAtEnd() {
    if (!isOver && hasHashesToKeep()) {
      hashes.save(store, holder.index());
    }
    boolean isUnderWay = !isOver && !isOwn && receiver != null && outcome == Outcome.ACCEPTED;
    if (isUnderWay && (hasTakenBack() || receiver.written().count() != savedBlocks)) {
      ResumeState state = receiver.resumeState();
      attempt(() -> save(state, hasTakenBack())); // a failure is found by who goes on with it
    }
    if (stream != null) {
      stream.stop();
    }
    store.close();
  }

  // --- What is told ---

  private long bytes() {
    if (isOwn) {
      return layout.hasSize() ? Math.min(holder.liveBytes(), layout.size()) : holder.liveBytes();
    }
    return receiver != null ? receiver.bytesVerified() : 0;
  }

  private void tellProgress(long now) {
    long there = bytes();
    long sent = isOwn ? there - Math.min(there, holder.passedOverBytes()) : 0;
    if (sent > ratedBytes) {
      rate.add(now, sent - ratedBytes);
      ratedBytes = sent;
    }
    if ((there == toldBytes && !hasToGoOn) || now - toldAt < PROGRESS_PERIOD) {
      return;
    }
    hasToGoOn = false;
    toldAt = now;
    toldBytes = there;
    OptionalLong size = layout.hasSize() ? OptionalLong.of(layout.size()) : OptionalLong.empty();
    host.give(new BulkProgress(id, there, size, isOwn ? rate.rate(now) : receiver.bytesPerSecond(now)));
  }

  /** NEVER: not before something happens. */
  long due() {
    if (isOver) {
      return ClientSession.NEVER;
    }
    long due = full != null && !full.isTrying ? full.retryAt : ClientSession.NEVER;
    if (isOwn && !isSealed && holder.hashJobs() == 0) {
      boolean hasNext = stream == null || holder.index().known().firstMissing(0) < streamEnd;
      due = hasNext ? Math.min(due, activeAt + IDLE_PERIOD) : due;
    }
    if (waitingSince != ClientSession.NEVER) {
      due = Math.min(due, waitingSince + WAIT_FOR_BLOCK);
    }
    if ((isOwn || receiver != null) && (bytes() != toldBytes || hasToGoOn)) {
      due = Math.min(due, toldAt + PROGRESS_PERIOD);
    }
    boolean receives = receiver != null && full == null && outcome == Outcome.ACCEPTED;
    if (receives && heardAt != ClientSession.NEVER && waitsForOthers()) {
      due = isStalled ? due : Math.min(due, heardAt + STALL_PERIOD);
      due = isStream ? Math.min(due, heardAt + STREAM_SILENCE) : due;
    }
    boolean isUnsaved = receives && (hasTakenBack() || receiver.written().count() != savedBlocks);
    if (isUnsaved && !isSaving && !isFinishing) {
      due = Math.min(due, savedAt + savePeriod);
    }
    return due;
  }
}
