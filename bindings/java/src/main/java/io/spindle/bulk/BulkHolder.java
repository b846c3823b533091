package io.spindle.bulk;

import io.spindle.protocol.ContentLayout;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The sending side of a channel at a client that has content: the source, or a receiver with complete blocks. It sends
 * streams, each one paid by grants of its daemon. The source has a live stream: every source symbol of every block
 * once, in order, as content gets there, but for blocks that all who are there have had from the beginning. Each child
 * that is behind has a stream of its own (ChildStream).
 *
 * <p>What comes in is given to `handle...`; after that `takeJob`, `takeIndex` and `nextSymbol` are asked until they
 * give nothing. One thread at a time uses it; jobs run anywhere. Content is in memory for as many blocks as it may
 * keep.
 */
public final class BulkHolder {
  /** What a holder is. */
  public enum Kind {
    /** Has a live stream, and makes the index. */
    SOURCE,
    /** Serves others. */
    RECEIVER
  }

  /**
   * Blocks that are in memory, each with its content and, once repair symbols are wanted, an encoder of a like size.
   */
  private static final int BLOCKS_IN_MEMORY = 4;
  /** Runs and begun blocks of all needs that are kept. */
  private static final int NEED_ENTRIES_MAX = 256 << 10;
  /** The number of a job that loads a block for its hash alone: no block that is to be sent waits for it. */
  private static final long HASH_JOB = -1;
  /** So many of these are under way at a time. */
  private static final int HASH_JOBS_MAX = 2;

  private final Kind kind;
  private ContentLayout layout;
  private final RepairIds repairIds;
  private BlockSet available = new BlockSet();
  private final BlockCache cache = new BlockCache(BLOCKS_IN_MEMORY);
  // Of the live stream.
  private int liveBlock;
  private int liveEsi;
  private int passedOver; // blocks
  private long liveCredit;
  private boolean isToldOver;
  private BlockSet unwanted = new BlockSet();
  private final TreeMap<Integer, ChildStream> children = new TreeMap<>();
  private int last; // the stream that was served last
  private BlockIndex index = new BlockIndex();
  private final BlockSet told = new BlockSet(); // of the index
  private final Set<Integer> hashing = new HashSet<>(); // that are loaded for their hashes alone
  private BlockIndex right; // of a receiver: null, or the hashes that what is loaded has to have
  private final BlockSet bad = new BlockSet(); // not taken yet
  private final byte[] repairSymbol;
  private long sent; // symbols

  /** `place`, `start`: drawn at random for each channel. */
  public BulkHolder(Kind kind, ContentLayout layout, int place, int start) {
    this.kind = kind;
    this.layout = layout;
    repairIds = new RepairIds(place, start);
    repairSymbol = new byte[layout.symbolBytes()];
  }

  // --- What comes ---

  /**
   * Blocks that can be sent: of a source, those whose content is there for good; of a receiver, those that are written.
   * A stream without a size has whole blocks only.
   */
  public void handleAvailable(BlockSet blocks) {
    available = new BlockSet(blocks);
  }

  /** Of a receiver: blocks that are loaded have to have these hashes. What went bad on the disk is not given. */
  public void setHashes(BlockIndex hashes) {
    right = hashes;
  }

  /**
   * Of a source, before anything else: hashes from a former time. What is loaded has to have them, as those that it was
   * found to have before.
   */
  public void handleKnown(BlockIndex known) {
    index = known;
  }

  /** The size is known. False where so much does not fit the layout. */
  public boolean handleSeal(long size) {
    ContentLayout sealed = layout.sealed(size);
    if (sealed != null) {
      layout = sealed;
    }
    return sealed != null;
  }

  /**
   * The connection is a new one: what was told and granted on a former one counts no more. What was sent live there and
   * may be lost comes in streams.
   */
  void handleAttached() {
    unwanted.clear();
    liveCredit = 0;
    isToldOver = false;
    children.clear();
    told.clear();
  }

  void handleGrant(int stream, long symbols) {
    if (stream == BulkFrames.LIVE_STREAM) {
      liveCredit = Math.min(liveCredit + symbols, ChildStream.CREDIT_MAX);
    } else if (children.containsKey(stream)) {
      children.get(stream).handleGrant(symbols);
    }
  }

  /**
   * The stream is for that need, and begins anew; grants come behind it. Of the live stream, which goes on where it is:
   * it passes over what is complete.
   */
  void handleNeed(int stream, Need need) {
    if (stream == BulkFrames.LIVE_STREAM) {
      unwanted = need.complete;
      passOver();
      return;
    }
    int entries = need.complete.runs() + need.begun();
    for (Map.Entry<Integer, ChildStream> each : children.entrySet()) {
      entries += each.getKey() == stream ? 0 : each.getValue().needEntries();
    }
    if (entries <= NEED_ENTRIES_MAX) {
      children.put(stream, new ChildStream(need));
    }
  }

  void handleRelease(int stream) {
    children.remove(stream);
  }

  /** The daemon lacks the index: a source tells all of it again. */
  void handleIndexAsked() {
    told.clear();
  }

  // --- Jobs ---

  /** What is to be loaded; null: nothing. Jobs may run at the same time, in any order; each is reported once. */
  public LoadJob takeJob() {
    LoadJob job = cache.takeJob();
    if (job == null) {
      return null;
    }
    int block = job.place().block();
    boolean wantsHash = kind == Kind.SOURCE && !index.has(block);
    BlockIndex known = right != null ? right : index;
    byte[] hash = job.content() != null ? null : known.find(block);
    return new LoadJob(job.number(), job.place(), job.content(), wantsHash, job.wantsEncoder(), hash);
  }

  /**
   * Of a source, what is to be loaded for its hash alone: a block that was passed over, or with `isIdle` the first one
   * that is not hashed. Null: nothing.
   */
  public LoadJob takeHashJob(boolean isIdle) {
    if (kind != Kind.SOURCE || hashing.size() == HASH_JOBS_MAX) {
      return null;
    }
    // What was sent was hashed before it was: all else below was passed over.
    int end = isIdle ? layout.blocks() : liveBlock;
    BlockSet known = index.known();
    for (int block = known.firstMissing(0); block < end; block = known.firstMissing(block + 1)) {
      if (!available.contains(block)) {
        return null;
      }
      if (hashing.add(block)) {
        return new LoadJob(HASH_JOB, BlockPlace.of(layout, block), null, true, false, null);
      }
    }
    return null;
  }

  public int hashJobs() {
    return hashing.size();
  }

  /** A block that could not be read, or has the wrong hash, is not available any more. */
  public void handleLoaded(LoadJob.Loaded block) {
    int number = block.job().place().block();
    if (block.job().number() == HASH_JOB) {
      hashing.remove(number);
    }
    if (block.isGood() && block.job().wantsHash()) {
      index.set(number, block.hash());
    }
    cache.handleLoaded(block);
    if (!block.isGood()) {
      available.remove(number);
      bad.add(number);
    }
  }

  /** A block that was not good, each once: its owner is to get it again. -1: none. */
  public int takeBad() {
    if (bad.isEmpty()) {
      return -1;
    }
    int block = bad.start(0);
    bad.remove(block);
    return block;
  }

  // --- What is to be told and sent ---

  /**
   * Hashes that the source has not told yet, in order; null: none. Told before symbols are taken, those of a block come
   * first.
   */
  BulkFrames.IndexPart takeIndex() {
    // Daemons take them in order.
    int first = told.firstMissing(0);
    byte[] hashes = index.hashesFrom(first, BulkFrames.HASHES_PER_INDEX_MAX);
    if (hashes.length == 0) {
      return null;
    }
    BulkFrames.IndexPart part = BulkFrames.IndexPart.of(first, hashes);
    told.addRun(first, first + part.count());
    return part;
  }

  /** Streams of children have blocks below it: what is still to be sent live comes to them anyhow. */
  private int endOfStreams() {
    return kind == Kind.SOURCE ? liveBlock : ContentLayout.BLOCKS_MAX;
  }

  private ChildStream.Wish wishOf(int stream) {
    if (stream != BulkFrames.LIVE_STREAM) {
      ChildStream child = children.get(stream);
      return child.credit() == 0 ? null : child.next(layout, available, endOfStreams());
    }
    boolean hasNext = liveBlock < layout.blocks() && available.contains(liveBlock);
    return kind != Kind.SOURCE || liveCredit == 0 || !hasNext ? null : new ChildStream.Wish(liveBlock, liveEsi);
  }

  private boolean isWanted(int block) {
    ChildStream.Wish live = wishOf(BulkFrames.LIVE_STREAM);
    if (live != null && live.block() == block) {
      return true;
    }
    for (int stream : children.keySet()) {
      ChildStream.Wish wish = wishOf(stream);
      if (wish != null && wish.block() == block) {
        return true;
      }
    }
    return false;
  }

  /** Whether a child that is behind lacks the block. */
  public boolean isLacking(int block) {
    return children.values().stream().anyMatch(child -> child.lacks(block));
  }

  /** What is to be sent next, or null. Its bytes stay where they are until the holder is called again. */
  BulkFrames.Symbol nextSymbol() {
    // The live stream and those of children in turn, from the one behind the last on.
    for (Integer next = children.higherKey(last); next != null; next = children.higherKey(next)) {
      BulkFrames.Symbol symbol = tryStream(next);
      if (symbol != null) {
        return symbol;
      }
    }
    BulkFrames.Symbol live = tryStream(BulkFrames.LIVE_STREAM);
    if (live != null) {
      return live;
    }
    Integer stream = children.higherKey(BulkFrames.LIVE_STREAM);
    for (; stream != null && stream <= last; stream = children.higherKey(stream)) {
      BulkFrames.Symbol symbol = tryStream(stream);
      if (symbol != null) {
        return symbol;
      }
    }
    return null;
  }

  private BulkFrames.Symbol tryStream(int stream) {
    ChildStream.Wish wish = wishOf(stream);
    if (wish == null) {
      return null;
    }
    int block = wish.block();
    BlockCache.Entry entry = cache.get(BlockPlace.of(layout, block), wish.isRepair(), this::isWanted);
    if (entry == null) {
      return null;
    }
    int size = layout.symbolBytes();
    BulkFrames.Symbol symbol;
    if (!wish.isRepair()) {
      int esi = wish.source();
      symbol = new BulkFrames.Symbol(stream, block, esi, entry.crcs[esi], entry.content, esi * size, size);
    } else {
      int esi = repairIds.next(block, layout.symbolsOf(block));
      entry.encoder.encode(esi, repairSymbol, 0);
      symbol = new BulkFrames.Symbol(stream, block, esi, BulkFrames.crc(repairSymbol, 0, size), repairSymbol, 0, size);
    }
    cache.noteUsed(block);
    noteSent(stream, wish);
    return symbol;
  }

  private void noteSent(int stream, ChildStream.Wish wish) {
    last = stream;
    sent++;
    // In the middle of a block, or with the first of few symbols, the next one is loaded, so that nobody waits for it.
    boolean isMiddle = !wish.isRepair() && wish.source() == layout.symbolsOf(wish.block()) / 2;
    if (stream != BulkFrames.LIVE_STREAM) {
      ChildStream child = children.get(stream);
      boolean isFirst = child.noteSent(wish);
      if (isMiddle || (isFirst && wish.isRepair())) {
        prefetch(child.nextAfter(wish, layout, available, endOfStreams()));
      }
      return;
    }
    noteSentLive(wish);
    int next = unwanted.firstMissing(wish.block() + 1);
    if (isMiddle && next < layout.blocks() && available.contains(next)) {
      prefetch(new ChildStream.Wish(next, 0));
    }
  }

  private void noteSentLive(ChildStream.Wish wish) {
    liveCredit--;
    if (++liveEsi < layout.symbolsOf(wish.block())) {
      return;
    }
    liveBlock++;
    liveEsi = 0;
    passOver();
  }

  private void passOver() {
    if (kind != Kind.SOURCE || liveEsi != 0) {
      return; // what has begun is sent to its end
    }
    int next = Math.min(unwanted.firstMissing(liveBlock), Math.max(liveBlock, layout.blocks()));
    passedOver += next - liveBlock;
    liveBlock = next;
  }

  private void prefetch(ChildStream.Wish wish) {
    if (wish != null) {
      cache.prefetch(BlockPlace.of(layout, wish.block()), wish.isRepair(), this::isWanted);
    }
  }

  /**
   * A stream whose need is fulfilled as far as it can be; the live stream, where it has come to the end of content.
   * Each once: the daemon is told, and the stream is forgotten. -1: none.
   */
  int takeFinished() {
    if (kind == Kind.SOURCE && isLiveOver() && !isToldOver) {
      isToldOver = true;
      return BulkFrames.LIVE_STREAM;
    }
    for (Map.Entry<Integer, ChildStream> each : children.entrySet()) {
      if (each.getValue().next(layout, available, endOfStreams()) == null) {
        int finished = each.getKey();
        children.remove(finished);
        return finished;
      }
    }
    return -1;
  }

  // --- How it stands ---

  /** Whether every block has been sent live, to the end of content that is sealed. */
  private boolean isLiveOver() {
    return layout.hasSize() && liveBlock >= layout.blocks();
  }

  public ContentLayout layout() {
    return layout;
  }

  /** Symbols that were sent live, or passed over, in bytes: the last one may be filled up. */
  public long liveBytes() {
    return (long) liveBlock * layout.blockBytes() + (long) liveEsi * layout.symbolBytes();
  }

  /** What of that was passed over. */
  public long passedOverBytes() {
    return (long) passedOver * layout.blockBytes();
  }

  /** Of a source: the hashes of blocks that have been loaded so far. */
  public BlockIndex index() {
    return index;
  }

  /** Symbols that were sent. */
  public long sent() {
    return sent;
  }
}
