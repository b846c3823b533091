package io.spindle.bulk;

import io.spindle.codes.BlockEncoder;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/**
 * The blocks that a holder has in memory while it sends symbols of them. Blocks that were used longest ago make room
 * for others; but a block that somebody could use now gives some symbols first, so that many who want different ones
 * take turns and do not have everything loaded for each symbol.
 */
final class BlockCache {
  // Symbols that a block gives before it makes room for others although it is wanted.
  private static final int USES_MIN = 64;

  static final class Entry {
    final BlockPlace place;
    byte[] content; // null: not there yet
    int[] crcs; // of its symbols
    BlockEncoder encoder;
    private long job; // that gets what is missing; 0: none does
    private boolean isJobTaken;
    private boolean wantsEncoder;
    private int uses; // symbols that it has given
    private long lastUse; // of all uses of blocks

    Entry(BlockPlace place) {
      this.place = place;
    }
  }

  private final int limit;
  private final Map<Integer, Entry> entries = new TreeMap<>();
  private long uses;
  private long nextJob = 1;

  /** `blocks`: so many are in memory at most. */
  BlockCache(int blocks) {
    limit = blocks;
  }

  /**
   * The block, where what is asked for is there. Otherwise null, and it is loaded, where room can be made for it.
   * `isWanted`: whether somebody who may send wants it now.
   */
  Entry get(BlockPlace place, boolean encoder, IntPredicate isWanted) {
    return get(place, encoder, isWanted, USES_MIN);
  }

  /** Loads the block where there is room, or one that nobody wants. */
  void prefetch(BlockPlace place, boolean encoder, IntPredicate isWanted) {
    get(place, encoder, isWanted, Integer.MAX_VALUE);
  }

  private Entry get(BlockPlace place, boolean encoder, IntPredicate isWanted, int usesMin) {
    Entry entry = entries.get(place.block());
    if (entry == null) {
      if (entries.size() >= limit && !makeRoom(isWanted, usesMin)) {
        return null;
      }
      entry = new Entry(place);
      entry.lastUse = uses;
      entries.put(place.block(), entry);
    }
    entry.wantsEncoder |= encoder;
    if (entry.content != null && (!encoder || entry.encoder != null)) {
      return entry;
    }
    if (entry.job == 0) {
      entry.job = nextJob++;
      entry.isJobTaken = false;
    }
    return null;
  }

  /** A block that is wanted makes room once it has given so many symbols. */
  private boolean makeRoom(IntPredicate isWanted, int usesMin) {
    int oldest = -1;
    long lastUse = Long.MAX_VALUE;
    for (Map.Entry<Integer, Entry> each : entries.entrySet()) {
      Entry entry = each.getValue();
      boolean stays = entry.isJobTaken || (entry.uses < usesMin && isWanted.test(each.getKey()));
      if (!stays && entry.lastUse < lastUse) {
        oldest = each.getKey();
        lastUse = entry.lastUse;
      }
    }
    return oldest >= 0 && entries.remove(oldest) != null;
  }

  /** The block has given a symbol. */
  void noteUsed(int block) {
    Entry entry = entries.get(block);
    entry.uses = Math.min(entry.uses + 1, Integer.MAX_VALUE - 1);
    entry.lastUse = ++uses;
  }

  /** Null: none. */
  LoadJob takeJob() {
    for (Entry entry : entries.values()) {
      if (entry.job != 0 && !entry.isJobTaken) {
        entry.isJobTaken = true;
        boolean wantsEncoder = entry.wantsEncoder && entry.encoder == null;
        return new LoadJob(entry.job, entry.place, entry.content, false, wantsEncoder, null);
      }
    }
    return null;
  }

  /** Nothing becomes of one that nobody waits for any more. */
  void handleLoaded(LoadJob.Loaded block) {
    int number = block.job().place().block();
    Entry entry = entries.get(number);
    if (entry == null || entry.job != block.job().number()) {
      return;
    }
    entry.job = 0;
    entry.isJobTaken = false;
    if (!block.isGood()) {
      entries.remove(number);
      return;
    }
    entry.content = block.content();
    if (block.crcs() != null) {
      entry.crcs = block.crcs();
    }
    if (block.encoder() != null) {
      entry.encoder = block.encoder();
    }
  }
}
