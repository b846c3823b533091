package io.spindle.net;

import io.spindle.BulkReceived;
import io.spindle.BulkStalled;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.bulk.Attachment;
import io.spindle.bulk.BulkHolder;
import io.spindle.bulk.BulkReceiver;
import io.spindle.bulk.LoadJob;
import io.spindle.bulk.ReceiverJob;
import io.spindle.bulk.ResumeState;
import io.spindle.protocol.BulkRequest;
import io.spindle.protocol.BulkRequest.Outcome;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.ContentLayout;
import io.spindle.store.BulkStore;
import io.spindle.store.StoreException;
import java.util.Optional;

/** The channel of a content that this client receives: it is decoded, written, and given to others. */
final class ReceiverTransfer extends BulkTransfer {
  // What is there is noted as often as a twentieth of the time suffices for: little is fetched again after a crash
  // where the disk is fast.
  private static final int SAVE_SHARE = 20;
  private static final long SAVE_PERIOD_MIN = 50 * MS;
  private static final long SAVE_PERIOD_MAX = 2_000 * MS;
  // A disk on which so many blocks have gone bad serves nobody: each of them is fetched again.
  private static final int BAD_BLOCKS_MAX = 8;
  // Nor is it waited for one of which so often nothing could be read of what was stored of a block: that is fetched again
  // each time.
  private static final int UNREADABLE_MAX = 8;
  private static final long RETRY_PERIOD = 5_000 * MS;
  private static final long FULL_MAX = 600_000 * MS;
  // Who lacks something of a stream gets nothing for so long: nobody has it any more.
  private static final long STREAM_SILENCE = 60_000 * MS;
  // Who lacks something of any content and gets nothing for so long tells the program.
  private static final long STALL_PERIOD = 10_000 * MS;
  private static final int UNTOLD = -1; // number of blocks that is none
  private static final int USUAL_TIMES = 8;

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


  private final boolean isStream; // was offered without a size
  private byte[] root; // once it is known
  private boolean serves;
  private BulkReceiver receiver; // null: none

  private Outcome outcome = Outcome.ACCEPTED; // said of it
  private Code error; // likewise
  private Full full; // null: there is room
  private long fullSince = ClientSession.NEVER; // nothing could be written
  private long heardSymbols;
  private long heardAt = ClientSession.NEVER; // not yet
  private boolean hasWorked; // jobs have ended since silence was looked for
  private boolean isStalled; // the program was told so
  private boolean hasToDiscard; // what there is of it, when it is idle
  private boolean isFinishing; // what was received
  private boolean isSaving;
  private int savedBlocks;
  private long savedTakenBack; // blocks that the saved state does not name any more
  private int availableBlocks;
  private int badBlocks; // that were read for others
  private int unreadableBlocks; // whose stored symbols could not be read
  private long savePeriod = SAVE_PERIOD_MIN;
  private long savedAt;

  ReceiverTransfer(Host host, Acceptance acceptance) {
    super(host, acceptance.id, acceptance.layout, acceptance.store, 0);
    isStream = !acceptance.layout.hasSize();
    root = acceptance.root;
    serves = acceptance.serves;
  }

  @Override
  void jobDone(Runnable then) {
    hasWorked = true;
    super.jobDone(then);
  }

  @Override
  boolean hasEnded() {
    return isOver || outcome == Outcome.FAILED;
  }

  @Override
  void closeIfOver() {
    discardWhenIdle();
    super.closeIfOver();
  }

  // --- Its beginning ---

  @Override
  boolean isOwn() {
    return false;
  }

  @Override
  Attachment.Engines engines() {
    return hasEnded() || full != null ? Attachment.Engines.NONE : new Attachment.Engines(holder, receiver);
  }

  @Override
  void begin(long now) {
    if (hasEnded()) {
      return; // while it waited for a former one at its place
    }
    say(outcome, null);
    if (hasUsualBlocks()) {
      run(this::openStore, this::opened);
      return;
    }
    String blocks = "the content was offered in blocks of " + layout.blockBytes() + " bytes";
    fail(new StoreException(Code.OUT_OF_MEMORY, blocks + ", which is more than is taken of that size"));
  }

  /**
   * What a receiver has in memory is some blocks. Sources that are a library of Spindle make them no larger than `of`
   * says; of others so many times that is taken.
   */
  private boolean hasUsualBlocks() {
    int usual = Math.max(ContentLayout.of(layout.size()).blockBytes(), ContentLayout.USUAL_BLOCK_BYTES);
    return layout.blockBytes() / USUAL_TIMES <= usual;
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

  @Override
  void handleSeal(long now, long size, byte[] sealedRoot) {
    if (hasEnded()) {
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

  @Override
  void sayAgain() {
    say(outcome, error);
  }

  @Override
  void goOn(long now) {
    if (receiver != null) {
      pumpReceiver(now);
    }
  }

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

  private void load(LoadJob job) {
    run(
        () -> job.run(store::read),
        block -> {
          if (holder != null) {
            holder.handleLoaded(block);
          }
        });
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
      hasToTell |= isStalled;
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

  // --- What is written ---

  private void doJob(ReceiverJob job) {
    if (job instanceof ReceiverJob.Decode decode) {
      run(() -> decode.run(store::read), this::decoded);
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
            if (failure.isPresent() && failure.get().beginsAnew()) {
              receiver.handleAllLost();
            } else if (failure.isPresent()) {
              waitForRoom(failure.get(), block.place().start(), block.place().bytes());
            } else {
              fullSince = ClientSession.NEVER;
            }
          });
    }
  }

  private void decoded(ReceiverJob.Decoded block) {
    receiver.handleDecoded(block);
    if (block.isUnreadable() && ++unreadableBlocks == UNREADABLE_MAX) {
      String text = "what was written of block " + block.job().place().block() + " cannot be read";
      fail(new StoreException(Code.FILE_FAILED, text));
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
    sayAndGive(
        serves ? Outcome.DONE : Outcome.KEPT,
        null,
        new BulkReceived(id, Optional.empty(), "", Optional.ofNullable(store.path()), store.takeBytes()));
  }

  // --- Its end ---

  @Override
  void fail(StoreException failure) {
    if (hasEnded()) {
      return;
    }
    sayAndGive(
        Outcome.FAILED,
        failure.code(),
        new BulkReceived(id, Optional.of(failure.code()), failure.getMessage(), Optional.empty(), new byte[0]));
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
    host.ask(noteOutcome(what, why));
  }

  private void sayAndGive(Outcome what, Code why, BulkReceived received) {
    host.askAndGive(noteOutcome(what, why), received);
  }

  private BulkRequest noteOutcome(Outcome what, Code why) {
    outcome = what;
    error = why;
    return new BulkRequest.OutcomeSaid(id, what, why == null ? 0 : why.number());
  }

  @Override
  boolean givesWayTo(BulkStore other) {
    boolean isWhole = outcome == Outcome.DONE || outcome == Outcome.KEPT;
    if (isOver || isWhole || !isAtPlaceOf(other)) {
      return false;
    }
    if (outcome == Outcome.FAILED) {
      return true;
    }
    if (receiver != null && receiver.written().count() != 0) {
      ResumeState state = receiver.resumeState();
      run(() -> Optional.ofNullable(attempt(() -> store.save(state))), failure -> {});
    }
    fail(new StoreException(Code.FILE_EXISTS, "another content of that name has taken its place"));
    return true;
  }

  @Override
  void noteOver(boolean discards) {
    hasToDiscard = discards && outcome == Outcome.ACCEPTED;
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

  @Override
  void saveRest() {
    boolean isUnderWay = !isOver && receiver != null && outcome == Outcome.ACCEPTED;
    if (isUnderWay && (hasTakenBack() || receiver.written().count() != savedBlocks)) {
      ResumeState state = receiver.resumeState();
      attempt(() -> save(state, hasTakenBack())); // a failure is found by who goes on with it
    }
  }

  // --- What is told ---

  @Override
  long bytes() {
    return receiver != null ? receiver.bytesVerified() : 0;
  }

  @Override
  long rate(long now) {
    return receiver.bytesPerSecond(now);
  }

  @Override
  long workDue() {
    long due = full != null && !full.isTrying ? full.retryAt : ClientSession.NEVER;
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
