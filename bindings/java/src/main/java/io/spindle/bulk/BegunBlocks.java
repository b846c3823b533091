package io.spindle.bulk;

import io.spindle.protocol.ContentLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The blocks of a receiver that have begun, within a bound of memory. Blocks that begin have room for all of
 * themselves, where the bound for source symbols is that of a block at least: one block more than the bound has. So
 * what comes in order is copied once. Others keep symbols one by one.
 *
 * <p>Where memory is used up the symbols of the block that has begun last are given up: so the oldest ones get
 * complete, whatever is sent.
 */
final class BegunBlocks {
  enum Taken {
    USEFUL,
    DUPLICATE,
    NO_ROOM
  }

  /** Repair symbols in memory, in bytes; at least those of one block, and four. */
  static final long REPAIR_BYTES = 64L << 20;
  /**
   * Source symbols in memory, one at least. What is more goes to its place in the content, that of the oldest blocks
   * first.
   */
  static final long SOURCE_BYTES = 16L << 20;

  /**
   * Symbols that there is room for beside those of a block: as many as a block has do not always suffice to decode it,
   * and RaptorQ fails with four more once in 10^10 times.
   */
  private static final int SYMBOLS_BESIDE = 4;

  private static final class Memory {
    final long limitBytes;
    long symbols;
    final TreeMap<Long, Integer> blocks = new TreeMap<>(); // that have some, by their order

    Memory(long limitBytes) {
      this.limitBytes = limitBytes;
    }
  }

  private final int symbolBytes;
  private final int blockBytes;
  private final BlockPool pool;
  private int rooms; // of blocks that have room for all of themselves
  private final int roomsMax;
  private final TreeMap<Integer, ReceivingBlock> blocks = new TreeMap<>();
  private long nextOrder;
  private final Memory source;
  private final Memory repair;
  private final Deque<ReceiverJob.Store> toStore = new ArrayDeque<>();
  private final Map<Integer, Integer> storing = new HashMap<>(); // jobs of blocks, taken or not
  private long storingBytes; // of these, and of jobs that were taken
  private long givenUp;

  BegunBlocks(ContentLayout layout, BlockPool pool, long sourceBytes, long repairBytes) {
    symbolBytes = layout.symbolBytes();
    blockBytes = layout.blockBytes();
    this.pool = pool;
    source = new Memory(Math.max(sourceBytes, symbolBytes));
    repair = new Memory(Math.max(repairBytes, blockBytes + (long) SYMBOLS_BESIDE * symbolBytes));
    long count = source.limitBytes / blockBytes;
    roomsMax = count == 0 ? 0 : (int) count + 1;
  }

  SortedMap<Integer, ReceivingBlock> blocks() {
    return blocks;
  }

  /** Null where it has not begun. */
  ReceivingBlock find(int block) {
    return blocks.get(block);
  }

  private void count(ReceivingBlock block) {
    source.symbols += block.sourceInMemory();
    repair.symbols += block.repairInMemory();
    rooms += block.hasRoom() ? 1 : 0;
    if (block.sourceInMemory() != 0) {
      source.blocks.put(block.order, block.place().block());
    }
    if (block.repairInMemory() != 0) {
      repair.blocks.put(block.order, block.place().block());
    }
  }

  private void uncount(ReceivingBlock block) {
    source.symbols -= block.sourceInMemory();
    repair.symbols -= block.repairInMemory();
    rooms -= block.hasRoom() ? 1 : 0;
    source.blocks.remove(block.order);
    repair.blocks.remove(block.order);
  }

  /** Calls `work` with the block, which has begun. Without symbols it has not begun any more. */
  <T> T change(int block, Function<ReceivingBlock, T> work) {
    ReceivingBlock changed = blocks.get(block);
    uncount(changed);
    T result = work.apply(changed);
    count(changed);
    if (changed.held() == 0) {
      erase(block);
    }
    return result;
  }

  private void changeOnly(int block, Consumer<ReceivingBlock> work) {
    change(
        block,
        each -> {
          work.accept(each);
          return null;
        });
  }

  void erase(int block) {
    ReceivingBlock found = blocks.remove(block);
    if (found != null) {
      uncount(found);
      pool.give(found.takeRoom());
    }
  }

  /** Takes a copy of the symbol, which has as many bytes as the layout says; the block begins with it. */
  Taken add(BlockPlace place, BulkFrames.Symbol symbol) {
    ReceivingBlock begun = find(place.block());
    if (begun != null && begun.holds(symbol.esi())) {
      return Taken.DUPLICATE;
    }
    Memory memory = symbol.esi() < place.symbols() ? source : repair;
    if (!makeRoom(memory, begun != null ? begun.order : nextOrder)) {
      return Taken.NO_ROOM;
    }
    // Making room may have ended it.
    if (find(place.block()) == null) {
      blocks.put(place.block(), new ReceivingBlock(place, nextOrder++));
    }
    changeOnly(
        place.block(),
        block -> {
          if (block.held() == 0 && block.isSource(symbol.esi()) && rooms < roomsMax) {
            block.giveRoom(pool.take(blockBytes));
          }
          block.add(symbol);
        });
    return Taken.USEFUL;
  }

  /** Whether there is room for a symbol of the block with that order; room is made where it can be. */
  private boolean makeRoom(Memory memory, long order) {
    while ((memory.symbols + 1) * symbolBytes > memory.limitBytes) {
      if (memory == source ? !storeOldest(order) : !giveUpNewest(order)) {
        return false;
      }
    }
    return true;
  }

  private boolean storeOldest(long but) {
    // As much may be on its way as may be kept.
    if (source.blocks.isEmpty() || storingBytes >= source.limitBytes) {
      return false;
    }
    Map.Entry<Long, Integer> oldest = source.blocks.firstEntry();
    if (oldest.getKey() == but && source.blocks.size() > 1) {
      oldest = source.blocks.higherEntry(but);
    }
    ReceiverJob.Store job = change(oldest.getValue(), ReceivingBlock::store);
    storingBytes += job.bytes();
    storing.merge(job.place().block(), 1, Integer::sum);
    toStore.add(job);
    return true;
  }

  private boolean giveUpNewest(long order) {
    if (repair.blocks.isEmpty() || repair.blocks.lastKey() <= order) {
      return false;
    }
    givenUp++;
    changeOnly(repair.blocks.lastEntry().getValue(), ReceivingBlock::dropOne);
    return true;
  }

  /** How many source symbols can be taken before any job that stores some is over, and none is dropped. */
  long room() {
    long left = Math.max(0, source.limitBytes - source.symbols * symbolBytes);
    return (left + Math.max(0, source.limitBytes - storingBytes)) / symbolBytes;
  }

  /** That were taken, and then given up for others. */
  long givenUp() {
    return givenUp;
  }

  /** The job of a block that can be decoded. */
  ReceiverJob.Decode decode(int block, long number) {
    byte[] spare = blocks.get(block).hasRoom() ? null : pool.take(blockBytes);
    return change(block, begun -> begun.decode(number, spare));
  }

  void handleNotDecoded(int block, ReceiverJob.Decoded decoded) {
    changeOnly(block, back -> pool.give(back.handleNotDecoded(decoded)));
  }

  /** Symbols that are to be stored, or null. */
  ReceiverJob.Store takeStore() {
    return toStore.poll();
  }

  void handleStored(ReceiverJob.Store job, boolean isGood) {
    storingBytes -= Math.min(storingBytes, job.bytes());
    storing.computeIfPresent(job.place().block(), (block, jobs) -> jobs == 1 ? null : jobs - 1);
    pool.give(job.content());
    // The block may have begun anew meanwhile.
    ReceivingBlock block = find(job.place().block());
    if (!isGood && block != null && block.order == job.order()) {
      changeOnly(job.place().block(), stored -> stored.handleNotStored(job));
    }
  }

  /**
   * Whether symbols of the block are on their way to their places, or were before it began anew. It is not decoded, and
   * nothing else is written there, until they have arrived.
   */
  boolean isStoring(int block) {
    return storing.containsKey(block);
  }
}
