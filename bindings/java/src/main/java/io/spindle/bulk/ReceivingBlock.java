package io.spindle.bulk;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The symbols of a block that is not complete yet. Source symbols that come while it has room for all of itself go to
 * their places there. Symbols are in memory, or, source symbols only, stored at their places, or on their way there, or
 * with a job that decodes. All of them count as held: none is taken a second time.
 */
final class ReceivingBlock {
  private BlockPlace place;
  final long order; // how many blocks have begun before it
  private boolean isDecoding;
  private final TreeMap<Integer, byte[]> symbols = new TreeMap<>(); // by ESI; null: a job has it
  private byte[] room; // for all of the block; null: none
  private BlockSet placed = new BlockSet(); // ESIs of source symbols that are in `room`, or with a job that decodes
  private int sourceInMemory;
  private int repairInMemory;
  private BlockSet stored = new BlockSet(); // ESIs of source symbols that are stored or on their way
  private int lastTried; // held then
  private long decodeJob;

  ReceivingBlock(BlockPlace place, long order) {
    this.place = place;
    this.order = order;
  }

  BlockPlace place() {
    return place;
  }

  boolean isDecoding() {
    return isDecoding;
  }

  boolean holds(int esi) {
    return placed.contains(esi) || symbols.containsKey(esi) || stored.contains(esi);
  }

  /** All different. */
  int held() {
    return symbols.size() + placed.count() + stored.count();
  }

  boolean isSource(int esi) {
    return esi < place.symbols();
  }

  int sourceInMemory() {
    return sourceInMemory;
  }

  int repairInMemory() {
    return repairInMemory;
  }

  /** Whether it is worth to decode: it has enough symbols, and more than at the last failure. */
  boolean isDecodable() {
    return !isDecoding && held() >= place.symbols() && held() > lastTried;
  }

  /** Room for all of the block. It has none yet, or a job has taken it, and no job decodes. */
  void giveRoom(byte[] block) {
    room = block;
  }

  boolean hasRoom() {
    return room != null;
  }

  /** It is not used any more; null where there is none. */
  byte[] takeRoom() {
    byte[] taken = room;
    room = null;
    return taken;
  }

  private void count(int esi, boolean comes) {
    int change = comes ? 1 : -1;
    if (isSource(esi)) {
      sourceInMemory += change;
    } else {
      repairInMemory += change;
    }
  }

  /** Takes a copy of one that it does not hold. */
  void add(BulkFrames.Symbol symbol) {
    int esi = symbol.esi();
    count(esi, true);
    if (room != null && isSource(esi)) {
      System.arraycopy(symbol.bytes(), symbol.at(), room, esi * place.symbolBytes(), symbol.size());
      placed.add(esi);
      return;
    }
    byte[] copy = new byte[symbol.size()];
    System.arraycopy(symbol.bytes(), symbol.at(), copy, 0, copy.length);
    symbols.put(esi, copy);
  }

  /** Forgets a repair symbol that is in memory, or, where it has none, a source symbol; it must have one. */
  void dropOne() {
    // The last ones are repair symbols, if any is there. Those of jobs are no longer in memory.
    Integer last = null;
    for (Map.Entry<Integer, byte[]> each : symbols.descendingMap().entrySet()) {
      if (each.getValue() != null) {
        last = each.getKey();
        break;
      }
    }
    if (room != null && !placed.isEmpty() && (last == null || isSource(last))) {
      int esi = placed.end() - 1;
      count(esi, false);
      placed.remove(esi);
    } else if (last != null) {
      count(last, false);
      symbols.remove(last);
    }
  }

  /** Hands out the source symbols that are in memory. */
  ReceiverJob.Store store() {
    List<ReceiverJob.HeldSymbol> handed = new ArrayList<>();
    for (Iterator<Map.Entry<Integer, byte[]>> at = symbols.entrySet().iterator(); at.hasNext(); ) {
      Map.Entry<Integer, byte[]> each = at.next();
      if (!isSource(each.getKey())) {
        break;
      }
      if (each.getValue() != null) {
        count(each.getKey(), false);
        stored.add(each.getKey());
        handed.add(new ReceiverJob.HeldSymbol(each.getKey(), each.getValue()));
        at.remove();
      }
    }
    BlockSet inRoom = new BlockSet();
    byte[] content = room;
    if (room != null) {
      room = null;
      inRoom = placed;
      placed = new BlockSet();
      sourceInMemory -= inRoom.count();
      stored.addAll(inRoom);
    }
    return new ReceiverJob.Store(order, place, handed, content, inRoom);
  }

  /** They are lost. */
  void handleNotStored(ReceiverJob.Store job) {
    for (ReceiverJob.HeldSymbol symbol : job.symbols()) {
      stored.remove(symbol.esi());
    }
    for (int run = 0; run < job.placed().runs(); run++) {
      for (int esi = job.placed().start(run); esi < job.placed().end(run); esi++) {
        stored.remove(esi);
      }
    }
  }

  /** `spare`: for where it has no room of its own. */
  ReceiverJob.Decode decode(long job, byte[] spare) {
    List<ReceiverJob.HeldSymbol> held = new ArrayList<>(symbols.size());
    lastTried = held();
    sourceInMemory -= placed.count();
    for (Map.Entry<Integer, byte[]> each : symbols.entrySet()) {
      count(each.getKey(), false);
      held.add(new ReceiverJob.HeldSymbol(each.getKey(), each.getValue()));
      each.setValue(null);
    }
    byte[] content = room != null ? room : spare;
    room = null;
    decodeJob = job;
    isDecoding = true;
    return new ReceiverJob.Decode(job, place, held, new BlockSet(stored), content, new BlockSet(placed));
  }

  /** The job that decodes it, where one does. */
  long decodeJob() {
    return decodeJob;
  }

  /** It was not decoded: the symbols come back. Gives the array that is not used any more, or null. */
  byte[] handleNotDecoded(ReceiverJob.Decoded block) {
    isDecoding = false;
    for (ReceiverJob.HeldSymbol symbol : block.job().held()) {
      if (symbols.get(symbol.esi()) == null) {
        symbols.put(symbol.esi(), symbol.bytes());
        count(symbol.esi(), true);
      }
    }
    byte[] unused = block.job().content();
    if (!placed.isEmpty()) {
      room = unused;
      unused = null;
    }
    sourceInMemory += placed.count();
    if (block.isUnreadable()) {
      stored.clear();
      lastTried = 0;
    }
    return unused;
  }

  /**
   * Whether the block can be a shorter one from now on, as is seen when the end of the content is known. Then it is,
   * and its symbols are what they are by their ids. Not while a job decodes them.
   */
  boolean shorten(BlockPlace shorter) {
    if (isDecoding) {
      return false;
    }
    place = shorter;
    while (placed.end() > shorter.symbols()) {
      int esi = placed.end() - 1;
      byte[] copy = new byte[shorter.symbolBytes()];
      System.arraycopy(room, esi * copy.length, copy, 0, copy.length);
      symbols.put(esi, copy);
      placed.remove(esi);
    }
    sourceInMemory = placed.count();
    repairInMemory = 0;
    symbols.keySet().forEach(esi -> count(esi, true));
    // What was stored beyond the end is no symbol of this block: nobody has sent it.
    while (stored.end() > shorter.symbols()) {
      stored.remove(stored.end() - 1);
    }
    return true;
  }
}
