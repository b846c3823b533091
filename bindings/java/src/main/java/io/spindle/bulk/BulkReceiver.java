package io.spindle.bulk;

import io.spindle.protocol.ContentLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The receiving side of a channel at a client. A block goes through these states:
 *
 * <pre>
 *   empty       nothing of it is there
 *   collecting  some symbols are (BegunBlocks)
 *   decodable   as many as it has source symbols
 *   decoding    a job puts it together and hashes it
 *   verified    its hash is that of the index; it is told to be complete
 *   written     it is at its place in the content
 * </pre>
 *
 * <p>A wrong hash leads to empty again. The content is done when it is sealed, all blocks are written, and the root of
 * their hashes is the one of the seal.
 *
 * <p>What comes in is given to `handle...`, each time with the time in nanoseconds; after that `takeJob` and `takeNeed`
 * are asked until they give nothing. One thread at a time uses it. Whatever comes in, it costs no more than the bounds
 * say.
 */
public final class BulkReceiver {
  // Where no more blocks than these were missing when a need was told, it is told at once that one is complete: it may
  // be the one that is being sent.
  private static final int LAST_BLOCKS = 4;
  /** Blocks that are decoded or written at a time. Each takes the memory of its symbols and of its content. */
  private static final int BLOCKS_IN_JOBS = 2;
  // How often it asks for an index, where it was told a wrong one.
  private static final long INDEX_WISH = 1_000_000_000;

  private ContentLayout layout;
  private final BlockPool pool;
  private byte[] root; // null: not sealed

  private final BegunBlocks begun;
  // Blocks that were ready; what has happened since may have changed that.
  private final TreeSet<Integer> decodable = new TreeSet<>();
  private final BlockSet complete = new BlockSet();
  private final BlockSet written = new BlockSet();
  // Written by a former receiver, and not known to be of this content.
  private final BlockSet unproved = new BlockSet();
  private final BlockIndex told; // by neighbours
  private final BlockIndex computed = new BlockIndex(); // of blocks that are complete
  private boolean isIndexRight; // `told`, by the root
  private int indexFrom = -1; // the daemon is to be told the index from this block on
  private boolean lacksIndex; // the one that was told was wrong
  private long indexWishedAt; // the daemon was asked for another then; 0: never
  private boolean isDone;

  private long nextJob = 1;
  private int decoding; // jobs
  private final Deque<ReceiverJob.Write> toWrite = new ArrayDeque<>();
  private final Map<Integer, Long> writing = new HashMap<>(); // blocks, and jobs; 0: the block has begun anew meanwhile
  private int writes; // jobs, taken or not

  private final NeedSchedule schedule = new NeedSchedule();
  private long seen; // the latest mark
  private boolean hasLostSome; // of what has come, since the last need
  private boolean serves;
  private int missingWhenTold = Integer.MAX_VALUE; // blocks; without a size: any number
  private final RateMeter rate = new RateMeter();
  private long bytesVerified;
  private long useful; // symbols
  private long takenBack; // blocks

  /**
   * `layout`: a valid one. `resumed`: what a former receiver of the same content had written, or null; one that does
   * not fit the layout is left aside. Without a size the content may be another one, whose source keeps nothing that
   * all say to have: such a block is complete once the hash that is told of it says so.
   */
  public BulkReceiver(ContentLayout layout, ResumeState resumed, BlockPool pool) {
    this(layout, resumed, pool, BegunBlocks.SOURCE_BYTES, BegunBlocks.REPAIR_BYTES);
  }

  BulkReceiver(ContentLayout layout, ResumeState resumed, BlockPool pool, long sourceBytes, long repairBytes) {
    this.layout = layout;
    this.pool = pool;
    begun = new BegunBlocks(layout, pool, sourceBytes, repairBytes);
    boolean fits =
        resumed != null
            && (resumed.layout().size() == layout.size() || !resumed.layout().hasSize() || !layout.hasSize())
            && resumed.layout().blockBytes() == layout.blockBytes()
            && resumed.layout().symbolBytes() == layout.symbolBytes();
    told = fits && layout.hasSize() ? new BlockIndex(resumed.index()) : new BlockIndex();
    if (fits) {
      resume(resumed.written(), resumed.index());
    }
  }

  private void resume(BlockSet before, BlockIndex index) {
    for (int run = 0; run < before.runs(); run++) {
      for (int block = before.start(run); block < Math.min(before.end(run), layout.blocks()); block++) {
        computed.set(block, index.find(block));
        unproved.add(block);
      }
    }
    if (layout.hasSize()) {
      noteAllProved();
    }
  }

  /** The block is right. */
  private void noteProved(int block) {
    unproved.remove(block);
    complete.add(block);
    written.add(block);
    bytesVerified += layout.bytesOf(block);
  }

  private void noteAllProved() {
    while (!unproved.isEmpty()) {
      noteProved(unproved.end() - 1);
    }
  }

  // --- What comes ---

  /** Whether it was of use. */
  boolean handleSymbol(long now, BulkFrames.Symbol symbol) {
    schedule.noteHeard(now);
    long givenUp = begun.givenUp();
    boolean isForeign = symbol.block() >= layout.blocks() || symbol.size() != layout.symbolBytes();
    BegunBlocks.Taken taken = isForeign ? BegunBlocks.Taken.DUPLICATE : use(symbol);
    if (begun.givenUp() != givenUp || taken == BegunBlocks.Taken.NO_ROOM) {
      noteLost();
    }
    if (taken != BegunBlocks.Taken.USEFUL) {
      return false;
    }
    useful++;
    rate.add(now, symbol.size());
    schedule.noteNews();
    lookAt(symbol.block());
    return true;
  }

  private BegunBlocks.Taken use(BulkFrames.Symbol symbol) {
    if (complete.contains(symbol.block())) {
      return BegunBlocks.Taken.DUPLICATE;
    }
    ReceivingBlock known = begun.find(symbol.block());
    if (known != null && known.holds(symbol.esi())) {
      return BegunBlocks.Taken.DUPLICATE;
    }
    // What is being written has to be over first, and what is there may be right. What is not as its maker has sent it,
    // by its CRC, is lost.
    boolean isWrong = BulkFrames.crc(symbol.bytes(), symbol.at(), symbol.size()) != symbol.crc();
    if (writing.containsKey(symbol.block()) || unproved.contains(symbol.block()) || isWrong) {
      return BegunBlocks.Taken.NO_ROOM;
    }
    return begun.add(BlockPlace.of(layout, symbol.block()), symbol);
  }

  /** Whether the block can be decoded: its symbols wait neither for each other nor for its hash. */
  private boolean isReady(int block) {
    ReceivingBlock known = begun.find(block);
    return known != null && known.isDecodable() && !begun.isStoring(block) && told.has(block);
  }

  private void lookAt(int block) {
    if (isReady(block)) {
      decodable.add(block);
    }
  }

  void handleIndex(long now, BulkFrames.IndexPart index) {
    schedule.noteHeard(now);
    if (isIndexRight) {
      return;
    }
    boolean hasChanged = false;
    for (int i = 0; i < index.count() && index.first() + i < layout.blocks(); i++) {
      int block = index.first() + i;
      int at = index.at() + i * Sha256.BYTES;
      if (unproved.contains(block)) {
        if (computed.is(block, index.hashes(), at)) {
          noteProved(block);
        } else {
          beginAnew(block);
        }
        schedule.noteNews();
      }
      if (!told.is(block, index.hashes(), at)) {
        told.set(block, index.hashes(), at);
        hasChanged = true;
        lookAt(block);
      }
    }
    if (hasChanged) {
      finish();
    }
  }

  /** Its daemon lacks the index: what is known here, proved by the root, is told from the first block on. */
  void handleIndexAsked() {
    if (isIndexRight && serves) {
      indexFrom = 0;
    }
  }

  /** All that was sent before it has been handled, and the next need, which is due at once, says so. */
  void handleMark(long mark) {
    seen = mark;
    schedule.noteUrgent();
  }

  /** The connection is a new one, on which marks count from 1 again. */
  void handleAttached() {
    seen = 0;
    indexFrom = -1;
    schedule.noteUrgent();
  }

  /**
   * The content is complete at its source. False where that cannot be: so much does not fit the layout, or it was
   * sealed otherwise.
   */
  public boolean handleSeal(long now, long size, byte[] sealedRoot) {
    schedule.noteHeard(now);
    ContentLayout sealed = layout.sealed(size);
    if (sealed == null || (root != null && !Arrays.equals(root, sealedRoot))) {
      return false;
    }
    if (!sealed.equals(layout)) {
      cutTo(sealed);
    }
    layout = sealed;
    root = sealedRoot;
    schedule.noteNews();
    finish();
    return true;
  }

  /** A stream is over: blocks are fewer, and the last one is shorter than it was taken for. */
  private void cutTo(ContentLayout sealed) {
    int blocks = sealed.blocks();
    while (!begun.blocks().isEmpty() && begun.blocks().lastKey() >= blocks) {
      beginAnew(begun.blocks().lastKey());
    }
    for (BlockSet each : List.of(complete, unproved)) {
      while (each.end() > blocks) {
        beginAnew(each.end() - 1);
      }
    }
    while (told.known().end() > blocks) {
      told.forget(told.known().end() - 1);
    }
    if (blocks == 0 || sealed.bytesOf(blocks - 1) == layout.blockBytes()) {
      return;
    }
    int last = blocks - 1;
    if (begun.find(last) != null) {
      BlockPlace place = BlockPlace.of(sealed, last);
      if (begun.isStoring(last) || !begun.change(last, block -> block.shorten(place))) {
        beginAnew(last);
      }
      lookAt(last);
    } else if (complete.contains(last) || unproved.contains(last)) {
      beginAnew(last);
    }
  }

  // --- Jobs ---

  /** Null: there is none now. Jobs may run at the same time, in any order; each is reported once. */
  public ReceiverJob takeJob() {
    ReceiverJob.Store store = begun.takeStore();
    if (store != null) {
      return store;
    }
    if (!toWrite.isEmpty()) {
      return toWrite.poll();
    }
    if (decoding + writes >= BLOCKS_IN_JOBS) {
      return null;
    }
    while (!decodable.isEmpty()) {
      int block = decodable.pollFirst();
      // Symbols may have been given up since.
      if (isReady(block)) {
        decoding++;
        return begun.decode(block, nextJob++);
      }
    }
    return null;
  }

  public void handleStored(ReceiverJob.Store job, boolean isGood) {
    if (!isGood) {
      noteLost();
    }
    begun.handleStored(job, isGood);
    lookAt(job.place().block());
  }

  public void handleDecoded(ReceiverJob.Decoded block) {
    decoding--;
    final int number = block.job().place().block();
    ReceivingBlock known = begun.find(number);
    // It may have begun anew meanwhile.
    if (known == null || !known.isDecoding() || known.decodeJob() != block.job().number()) {
      pool.give(block.job().content());
      return;
    }
    schedule.noteNews();
    if (block.outcome() != ReceiverJob.Decoded.Outcome.DECODED) {
      if (block.isUnreadable()) {
        noteLost();
      }
      begun.handleNotDecoded(number, block);
      lookAt(number);
    } else if (told.is(number, block.hash(), 0)) {
      handleRight(number, block);
    } else {
      pool.give(block.job().content());
      beginAnew(number);
    }
  }

  private void handleRight(int number, ReceiverJob.Decoded block) {
    begun.erase(number);
    complete.add(number);
    computed.set(number, block.hash());
    bytesVerified += block.job().place().bytes();
    if (missingWhenTold <= LAST_BLOCKS) {
      schedule.noteUrgent();
    }
    long job = nextJob++;
    writing.put(number, job);
    writes++;
    toWrite.add(new ReceiverJob.Write(job, block.job().place(), block.job().content()));
  }

  /** Not good: the block is fetched again. */
  public void handleWritten(ReceiverJob.Write job, boolean isGood) {
    writes--;
    pool.give(job.content());
    int block = job.place().block();
    Long current = writing.remove(block);
    if (current == null || current != job.number()) {
      return;
    }
    if (isGood) {
      written.add(block);
      finish();
    } else {
      beginAnew(block);
    }
  }

  /** A block that was written is not what it was: it is fetched again, and the content is not done any more. */
  public void handleBad(int block) {
    if (!written.contains(block)) {
      return;
    }
    beginAnew(block);
    schedule.noteUrgent();
    if (isDone) {
      isDone = false;
      schedule.beginAgain();
    }
  }

  /** Nothing is there any more of what was written: all is fetched again. */
  public void handleAllLost() {
    while (!begun.blocks().isEmpty()) {
      beginAnew(begun.blocks().lastKey());
    }
    for (BlockSet each : List.of(complete, unproved)) {
      while (!each.isEmpty()) {
        beginAnew(each.end() - 1);
      }
    }
    schedule.noteUrgent();
  }

  /** What its daemon takes to be here is not. */
  private void noteLost() {
    hasLostSome = true;
    schedule.noteNews();
  }

  private void beginAnew(int block) {
    noteLost();
    begun.erase(block);
    writing.computeIfPresent(block, (number, job) -> 0L);
    boolean isComplete = complete.contains(block);
    boolean isUnproved = unproved.contains(block);
    if (!isComplete && !isUnproved) {
      return;
    }
    if (isUnproved || written.contains(block)) {
      takenBack++;
    }
    complete.remove(block);
    unproved.remove(block);
    written.remove(block);
    computed.forget(block);
    bytesVerified -= isComplete ? layout.bytesOf(block) : 0;
  }

  /** Once all hashes were told, the root says whether they are right, and they say which blocks are. */
  private void compareWithRoot() {
    byte[] found = told.root(layout.blocks());
    if (found == null) {
      return;
    }
    if (!Arrays.equals(found, root)) {
      lacksIndex = true;
      told.clear();
      return;
    }
    isIndexRight = true;
    lacksIndex = false;
    schedule.noteNews();
    BlockSet known = new BlockSet(computed.known());
    for (int run = 0; run < known.runs(); run++) {
      for (int block = known.start(run); block < known.end(run); block++) {
        if (!computed.is(block, told.find(block), 0)) {
          beginAnew(block);
        }
      }
    }
    noteAllProved();
  }

  private void finish() {
    if (root == null || isDone) {
      return;
    }
    if (!isIndexRight) {
      compareWithRoot();
    }
    int there = written.count() + unproved.count();
    if (there != layout.blocks() || !Arrays.equals(computed.root(layout.blocks()), root)) {
      return;
    }
    noteAllProved();
    isDone = true;
    schedule.noteUrgent();
    schedule.end();
  }

  // --- What is to be told ---

  /** Hashes that its daemon has asked for, and has not been told; null: none. */
  BulkFrames.IndexPart takeIndex() {
    if (indexFrom < 0) {
      return null;
    }
    byte[] hashes = told.hashesFrom(indexFrom, BulkFrames.HASHES_PER_INDEX_MAX);
    if (hashes.length == 0) {
      indexFrom = -1;
      return null;
    }
    BulkFrames.IndexPart part = BulkFrames.IndexPart.of(indexFrom, hashes);
    indexFrom += part.count();
    return part;
  }

  /** Whether the daemon is to be asked for the index now: the one that it has told was wrong. */
  boolean takeIndexWish(long now) {
    if (!lacksIndex || (indexWishedAt != 0 && now - indexWishedAt < INDEX_WISH)) {
      return false;
    }
    indexWishedAt = now;
    return true;
  }

  /** What is to be told now, or null. */
  Need takeNeed(long now) {
    if (schedule.due() > now) {
      return null;
    }
    Need need = new Need();
    need.complete = new BlockSet(complete);
    need.serves = serves;
    need.knowsIndex = serves && isIndexRight;
    need.seen = seen;
    need.lost = hasLostSome;
    hasLostSome = false;
    for (Map.Entry<Integer, ReceivingBlock> each : begun.blocks().entrySet()) {
      ReceivingBlock block = each.getValue();
      boolean hasEnough = block.isDecoding() || block.isDecodable();
      if (!need.addBegun(each.getKey(), hasEnough ? Need.ENOUGH : Math.min(block.held(), Need.ENOUGH - 1))) {
        break;
      }
    }
    missingWhenTold = layout.hasSize() ? layout.blocks() - complete.count() : Integer.MAX_VALUE;
    schedule.noteTold(now);
    return need;
  }

  /** When `takeNeed` has something next; NEVER: not before something happens. */
  long needDue() {
    return schedule.due();
  }

  /** Whether it says that it can give complete blocks, and the index. */
  public void setServes(boolean value) {
    if (serves != value) {
      serves = value;
      schedule.noteNews();
    }
  }

  // --- How it stands ---

  public boolean isDone() {
    return isDone;
  }

  /** Whether something is missing that the source has told of. */
  public boolean lacksSomething() {
    return layout.hasSize() ? !isDone : !complete.containsAll(told.known());
  }

  public ContentLayout layout() {
    return layout;
  }

  /** Blocks that are right. */
  public BlockSet complete() {
    return complete;
  }

  /** Blocks that are right, and at their places. */
  public BlockSet written() {
    return written;
  }

  /** The hashes of complete blocks. */
  public BlockIndex hashes() {
    return computed;
  }

  /** What a later receiver of this content goes on with. */
  public ResumeState resumeState() {
    BlockIndex index = new BlockIndex(told);
    BlockSet there = new BlockSet(written);
    there.addAll(unproved);
    for (int run = 0; run < there.runs(); run++) {
      for (int block = there.start(run); block < there.end(run); block++) {
        index.set(block, computed.find(block));
      }
    }
    return new ResumeState(layout, root, there, index);
  }

  public long bytesVerified() {
    return bytesVerified;
  }

  /** Of symbols that were useful. */
  public long bytesPerSecond(long now) {
    return rate.rate(now);
  }

  /** Symbols that were of use. */
  public long useful() {
    return useful;
  }

  /** How many blocks were written, and then were missing again. */
  public long takenBack() {
    return takenBack;
  }

  /**
   * How many symbols it is to be sent at most, in all that are on their way: what takes long to be stored is not to be
   * dropped for want of memory.
   */
  long room() {
    return begun.room();
  }
}
