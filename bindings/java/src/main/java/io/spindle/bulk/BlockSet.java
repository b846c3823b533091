package io.spindle.bulk;

import io.spindle.protocol.ByteReader;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.Output;
import java.util.Arrays;

/**
 * A set of blocks of a channel, below BLOCKS_MAX, kept as runs of neighbours in ascending order: what is received in
 * order takes one run however much it is. Searching takes the logarithm of the runs, adding moves the runs behind.
 */
public final class BlockSet {
  private static final int MAX = ContentLayout.BLOCKS_MAX;

  // Run i is from starts[i] to below ends[i]; between two there is a block that is missing.
  private int[] starts = new int[4];
  private int[] ends = new int[4];
  private int runs;
  private int count;

  public BlockSet() {}

  public BlockSet(BlockSet other) {
    starts = other.starts.clone();
    ends = other.ends.clone();
    runs = other.runs;
    count = other.count;
  }

  /** All blocks from 0 to below `count`. */
  public static BlockSet ofFirst(int count) {
    BlockSet set = new BlockSet();
    set.addRun(0, count);
    return set;
  }

  /** The first run that ends behind `block`: the one that it is in, or would be before. */
  private int runAt(int block) {
    int low = 0;
    for (int high = runs; low < high; ) {
      int middle = (low + high) >>> 1;
      if (ends[middle] <= block) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void replace(int from, int to, int start, int end, boolean isThere) {
    int more = (isThere ? 1 : 0) - (to - from);
    if (runs + more > starts.length) {
      starts = Arrays.copyOf(starts, 2 * starts.length);
      ends = Arrays.copyOf(ends, 2 * ends.length);
    }
    System.arraycopy(starts, to, starts, to + more, runs - to);
    System.arraycopy(ends, to, ends, to + more, runs - to);
    runs += more;
    if (isThere) {
      starts[from] = start;
      ends[from] = end;
    }
  }

  /** Blocks from BLOCKS_MAX on are left out, here and in `addRun`. False where it was there. */
  public boolean add(int block) {
    if (contains(block)) {
      return false;
    }
    addRun(block, block + 1);
    return true;
  }

  public void addRun(int first, int end) {
    int start = first;
    int last = Math.min(end, MAX);
    if (start >= last) {
      return;
    }
    // All runs that the new one overlaps or touches become one with it.
    int from = start == 0 ? 0 : runAt(start - 1);
    int to = from;
    for (; to < runs && starts[to] <= last; to++) {
      start = Math.min(start, starts[to]);
      last = Math.max(last, ends[to]);
      count -= ends[to] - starts[to];
    }
    count += last - start;
    replace(from, to, start, last, true);
  }

  public void remove(int block) {
    int run = runAt(block);
    if (run == runs || block < starts[run]) {
      return;
    }
    count--;
    int start = starts[run];
    int end = ends[run];
    replace(run, run + 1, start, block, start < block);
    if (block + 1 < end) {
      int behind = start < block ? run + 1 : run;
      replace(behind, behind, block + 1, end, true);
    }
  }

  public void clear() {
    runs = 0;
    count = 0;
  }

  public boolean contains(int block) {
    return firstMissing(block) != block;
  }

  public boolean isEmpty() {
    return runs == 0;
  }

  public int count() {
    return count;
  }

  /** The first block from `from` on that is not in the set: `from` itself, or the end of its run. */
  public int firstMissing(int from) {
    int run = runAt(from);
    return run == runs || from < starts[run] ? from : ends[run];
  }

  /** The first block from `from` on that is in the set; BLOCKS_MAX where there is none. */
  public int firstPresent(int from) {
    int run = runAt(from);
    return run == runs ? MAX : Math.max(from, starts[run]);
  }

  public int runs() {
    return runs;
  }

  public int start(int run) {
    return starts[run];
  }

  public int end(int run) {
    return ends[run];
  }

  /** Behind the last block; 0 where there is none. */
  public int end() {
    return runs == 0 ? 0 : ends[runs - 1];
  }

  public void addAll(BlockSet other) {
    for (int run = 0; run < other.runs; run++) {
      addRun(other.starts[run], other.ends[run]);
    }
  }

  /** Whether all blocks of the other are in this one. */
  public boolean containsAll(BlockSet other) {
    for (int run = 0; run < other.runs; run++) {
      if (firstMissing(other.starts[run]) < other.ends[run]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BlockSet set
        && runs == set.runs
        && Arrays.equals(starts, 0, runs, set.starts, 0, runs)
        && Arrays.equals(ends, 0, runs, set.ends, 0, runs);
  }

  @Override
  public int hashCode() {
    return 31 * runs + count;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    for (int run = 0; run < runs; run++) {
      text.append(' ').append(starts[run]).append("..").append(ends[run] - 1);
    }
    return text.append(" }").toString();
  }

  /**
   * As in `need`: a varint with how many runs there are; of each a varint with how many blocks are missing before it,
   * and one with its length.
   */
  public void write(Output out) {
    out.varint(runs);
    int at = 0;
    for (int run = 0; run < runs; run++) {
      out.varint(starts[run] - at);
      out.varint(ends[run] - starts[run]);
      at = ends[run];
    }
  }

  /** The reader fails where a run is empty, begins where the former ends, or goes beyond BLOCKS_MAX. */
  public static BlockSet read(ByteReader reader) {
    BlockSet set = new BlockSet();
    int at = 0;
    long count = reader.varintUpTo(MAX / 2);
    for (long i = 0; i < count && reader.isOk(); i++) {
      int first = at + (int) reader.varintUpTo(MAX);
      int end = first + (int) reader.varintUpTo(MAX);
      if (!reader.isOk() || (i > 0 && first == at) || end == first || end > MAX) {
        reader.fail();
        break;
      }
      set.addRun(first, end);
      at = end;
    }
    return set;
  }
}
