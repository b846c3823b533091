package io.spindle.net;

import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.bulk.Attachment;
import io.spindle.bulk.BlockIndex;
import io.spindle.bulk.BlockSet;
import io.spindle.bulk.BulkHolder;
import io.spindle.bulk.LoadJob;
import io.spindle.bulk.RateMeter;
import io.spindle.protocol.BulkRequest;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.ContentLayout;
import io.spindle.store.BulkStore;
import io.spindle.store.KeptHashes;
import io.spindle.store.StoreException;
import io.spindle.store.StreamSource;

/** The channel of a content that this client has offered: it is read, hashed and sent. */
final class SourceTransfer extends BulkTransfer {
  // How often the hashes of a source are kept that has not all of them.
  private static final long KEEP_PERIOD = 30_000 * MS;
  // A source whose content nobody asks for hashes it by itself, at once where all have it.
  private static final long IDLE_PERIOD = 300 * MS;
  // A stream that keeps nothing goes so far beyond a block before that is dropped, and waits so long for who lacks it.
  private static final int BLOCKS_BEHIND = 8;
  private static final long WAIT_FOR_BLOCK = 10_000 * MS;

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

  private final StreamSource stream; // null: the size is known
  private KeptHashes hashes; // null: none are kept
  private BlockIndex known; // until `start`
  private int keptBlocks; // whose hashes are
  private boolean isKeeping;
  private long keptAt;
  private int streamFirst;
  private int streamEnd;
  private long waitingSince = ClientSession.NEVER; // for who lacks the first block of the stream
  private boolean isSealed; // by what it has asked for
  private int loads; // jobs
  private long activeAt;
  private long sentSymbols;
  private final RateMeter rate = new RateMeter(); // of what is sent live
  private long ratedBytes;

  SourceTransfer(Host host, Offer offer) {
    super(host, offer.id, offer.layout, offer.store, offer.bytesPerSecond);
    stream = offer.stream;
    hashes = offer.hashes;
    known = offer.known;
  }

  @Override
  boolean isOwn() {
    return true;
  }

  @Override
  Attachment.Engines engines() {
    return isOver ? Attachment.Engines.NONE : new Attachment.Engines(holder, null);
  }

  @Override
  void begin(long now) {
    activeAt = now;
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

  private void load(LoadJob job) {
    loads++;
    run(
        () -> job.run(store::read),
        block -> {
          loads--;
          boolean isLost = !block.isGood();
          if (isLost && hashes != null) {
            hashes.forget(); // it may be that they are wrong, and not the content
            hashes = null;
          }
          holder.handleLoaded(block);
          if (isLost) {
            fail(new StoreException(Code.FILE_FAILED, "the content cannot be read any more, or has changed"));
          }
        });
  }

  @Override
  void goOn(long now) {
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
    return hashes != null && holder != null && holder.index().known().count() != keptBlocks;
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

  @Override
  void fail(StoreException failure) {
    if (isOver) {
      return;
    }
    end(false);
    host.noteFailure(id, failure);
    host.ask(new BulkRequest.Cancel(id));
  }

  @Override
  void noteOver(boolean discards) {
    if (stream != null) {
      stream.stop();
    }
    if (hasHashesToKeep()) {
      final KeptHashes keeper = hashes;
      BlockIndex index = new BlockIndex(holder.index());
      run(() -> keeper.save(store, index), isKept -> {});
    }
  }

  @Override
  void saveRest() {
    if (!isOver && hasHashesToKeep()) {
      hashes.save(store, holder.index());
    }
    if (stream != null) {
      stream.stop();
    }
  }

  @Override
  long bytes() {
    return layout.hasSize() ? Math.min(holder.liveBytes(), layout.size()) : holder.liveBytes();
  }

  @Override
  void noteBytes(long now, long there) {
    long sent = there - Math.min(there, holder.passedOverBytes());
    if (sent > ratedBytes) {
      rate.add(now, sent - ratedBytes);
      ratedBytes = sent;
    }
  }

  @Override
  long rate(long now) {
    return rate.rate(now);
  }

  @Override
  long workDue() {
    long due = ClientSession.NEVER;
    if (!isSealed && holder.hashJobs() == 0) {
      boolean hasNext = stream == null || holder.index().known().firstMissing(0) < streamEnd;
      due = hasNext ? activeAt + IDLE_PERIOD : due;
    }
    return waitingSince != ClientSession.NEVER ? Math.min(due, waitingSince + WAIT_FOR_BLOCK) : due;
  }
}
