package io.spindle.codes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Takes encoding symbols of a block, in any order, until they suffice. That takes as many as there are source symbols
 * with a probability of 99 %, and two more with 99.9999 % (RFC 6330, section 5.8). One thread at a time may use it.
 */
public final class BlockDecoder {
  private record Held(int esi, byte[] bytes, int start) {}

  private final BlockCode code;
  private final int symbolBytes;
  private final List<Held> held = new ArrayList<>();
  private final Set<Integer> esis = new HashSet<>();

  /** `sourceSymbols`: 1 to BlockCode.SYMBOLS_MAX. */
  public BlockDecoder(int sourceSymbols, int symbolBytes) {
    code = new BlockCode(sourceSymbols);
    this.symbolBytes = symbolBytes;
  }

  /**
   * Takes the encoding symbol with that id, which stays where it is until the block is decoded. False where it is
   * there.
   */
  public boolean add(int esi, byte[] bytes, int start) {
    if (!esis.add(esi)) {
      return false;
    }
    held.add(new Held(esi, bytes, start));
    return true;
  }

  public int symbols() {
    return held.size();
  }

  /**
   * Writes the content, all source symbols one behind the other, to the front of an array, where symbols may be that it
   * has been given, if they are at their places. False where what is there does not suffice yet, and nothing was
   * written then but source symbols that are there.
   */
  public boolean decode(byte[] content) {
    if (held.size() < code.sourceSymbols) {
      return false;
    }
    boolean[] isThere = new boolean[code.sourceSymbols];
    int sources = 0;
    for (Held each : held) {
      if (each.esi < code.sourceSymbols) {
        isThere[each.esi] = true;
        sources++;
      }
    }
    if (sources < code.sourceSymbols && !decodeMissing(isThere, content)) {
      return false;
    }
    for (Held each : held) {
      int at = each.esi * symbolBytes;
      if (each.esi < code.sourceSymbols && (each.bytes != content || each.start != at)) {
        System.arraycopy(each.bytes, each.start, content, at, symbolBytes);
      }
    }
    return true;
  }

  private boolean decodeMissing(boolean[] isThere, byte[] content) {
    final int padding = code.symbols - code.sourceSymbols;
    int[] isis = new int[padding + held.size()];
    for (int i = 0; i < padding; i++) {
      isis[i] = code.sourceSymbols + i;
    }
    for (int i = 0; i < held.size(); i++) {
      isis[padding + i] = code.isiOf(held.get(i).esi);
    }
    Solver.Solution solution = Solver.solve(code, isis);
    if (solution == null) {
      return false;
    }
    List<int[]> terms = new ArrayList<>();
    for (int esi = 0; esi < code.sourceSymbols; esi++) {
      terms.add(isThere[esi] ? null : solution.slotsOf(code, esi));
    }
    RowSchedule schedule = solution.schedule();
    Stripes stripes = new Stripes(symbolBytes);
    long[][] memory = schedule.makeMemory(stripes.words());
    long[] sum = new long[stripes.words()];
    for (int stripe = 0; stripe < stripes.count(); stripe++) {
      for (int i = 0; i < held.size(); i++) {
        Held each = held.get(i);
        stripes.load(each.bytes, each.start, stripe, memory[schedule.input(padding + i)]);
      }
      for (int i = 0; i < padding; i++) {
        Arrays.fill(memory[schedule.input(i)], 0);
      }
      schedule.run(memory);
      for (int esi = 0; esi < code.sourceSymbols; esi++) {
        int[] wanted = terms.get(esi);
        if (wanted != null) {
          RowSchedule.sum(sum, memory, wanted, 0, wanted.length);
          stripes.store(sum, content, esi * symbolBytes, stripe);
        }
      }
    }
    return true;
  }
}
