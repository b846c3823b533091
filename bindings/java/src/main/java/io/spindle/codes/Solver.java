package io.spindle.codes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How the intermediate symbols of a block come out of the encoding symbols that are there (RFC 6330, section 5.4.2). In
 * three steps: equations are reduced to inactive symbols (`reduce`), these are solved for (`solveInactive`), and each
 * pivot gives its symbol, from the equation as it was (`substitute`).
 */
final class Solver {
  /** The inputs of the schedule are the encoding symbols, in the order in which they were given. */
  record Solution(RowSchedule schedule, int[] slots) {
    /** The slots that add up to an encoding symbol. */
    int[] slotsOf(BlockCode code, int isi) {
      IntList terms = new IntList(40);
      code.appendTerms(isi, terms);
      int[] found = terms.toArray();
      for (int i = 0; i < found.length; i++) {
        found[i] = slots[found[i]];
      }
      return found;
    }
  }

  /** A left-over equation, and the inactive symbol that it is for. */
  private record Bound(int row, int column) {}

  private static final int NONE = -1;

  private final BlockCode code;
  private final ConstraintRows rows;
  private final Peeling peeling;
  private final int pivots;
  private final int leftOver;
  private final int inactive;
  private final BitRows bits; // of pivots and left-over equations, reduced
  private final List<Bound> bound = new ArrayList<>();
  private final int[][] octets; // of HDPC equations
  private final int[] valueOf; // the slots of inactive symbols
  private final IntList terms = new IntList();
  private final RowSchedule schedule;

  private Solver(BlockCode code, int[] isis) {
    this.code = code;
    rows = new ConstraintRows(code, isis);
    peeling = new Peeling(code, rows);
    pivots = peeling.pivotRows.size;
    leftOver = peeling.leftOver.size;
    inactive = peeling.inactives();
    bits = new BitRows(pivots + leftOver, inactive);
    octets = new int[code.hdpcSymbols][];
    valueOf = new int[inactive];
    Arrays.fill(valueOf, NONE);
    schedule = new RowSchedule(zeroSlot() + 1, isis.length);
  }

  /** Null where these encoding symbols, by their ISIs, each once, do not determine the block: further ones may. */
  static Solution solve(BlockCode code, int[] isis) {
    return new Solver(code, isis).solve();
  }

  private Solution solve() {
    if (leftOver + code.hdpcSymbols < inactive) {
      return null;
    }
    for (int i = 0; i < pivots; i++) {
      reduce(i, peeling.pivotRows.get(i));
      schedule.sum(i, terms);
    }
    reduceHdpc();
    for (int i = 0; i < leftOver; i++) {
      bind(pivots + i, peeling.leftOver.get(i));
    }
    if (!solveInactive()) {
      return null;
    }
    for (int i = 0; i < pivots; i++) {
      substitute(i);
    }
    int[] slots = new int[code.intermediate];
    for (int column = 0; column < slots.length; column++) {
      slots[column] = slotOf(column);
    }
    return new Solution(schedule, slots);
  }

  // Slots: of pivots, of left-over equations, of HDPC equations, one for a sum that runs over all symbols, and one that
  // is 0.

  private int hdpcSlot(int number) {
    return pivots + leftOver + number;
  }

  private int runningSlot() {
    return hdpcSlot(code.hdpcSymbols);
  }

  private int zeroSlot() {
    return runningSlot() + 1;
  }

  private static boolean isInactive(int place) {
    return (place & Peeling.INACTIVE_BIT) != 0;
  }

  private static int numberOf(int place) {
    return place & ~Peeling.INACTIVE_BIT;
  }

  private int slotOf(int column) {
    int place = peeling.placeOf(column);
    return isInactive(place) ? valueOf[numberOf(place)] : place;
  }

  /** Appends what the equation says its sum is: an input, or 0. */
  private void appendValue(int row) {
    if (row >= code.ldpcSymbols) {
      terms.add(schedule.input(row - code.ldpcSymbols));
    }
  }

  /**
   * Puts into `terms` what is left of the equation when all pivots before it are replaced, and its inactive symbols
   * into `bits`.
   */
  private void reduce(int number, int row) {
    terms.clear();
    appendValue(row);
    for (int i = rows.rowStart(row); i < rows.rowEnd(row); i++) {
      int place = peeling.placeOf(rows.columns.get(i));
      if (isInactive(place)) {
        bits.flip(number, numberOf(place));
      } else if (place != number) {
        terms.add(place);
        bits.add(number, place);
      }
    }
  }

  /**
   * A left-over equation, less those before it, is for the first inactive symbol that it has left. Where it has none,
   * it says nothing new.
   */
  private void bind(int number, int row) {
    reduce(number, row);
    for (Bound each : bound) {
      if (bits.has(number, each.column)) {
        bits.add(number, each.row);
        terms.add(each.row);
      }
    }
    int column = bits.first(number);
    if (column != NONE) {
      schedule.sum(number, terms);
      bound.add(new Bound(number, column));
      valueOf[column] = number;
    }
  }

  /**
   * The matrix of section 5.3.3.3 is MT * GAMMA, and the product of GAMMA with the symbols is a sum that runs over
   * them, multiplied by alpha at each: so no equation is ever written out.
   */
  private void reduceHdpc() {
    final int columns = code.symbols + code.ldpcSymbols;
    final int count = code.hdpcSymbols;
    OctetPlanes running = new OctetPlanes(inactive);
    OctetPlanes[] sums = new OctetPlanes[count];
    schedule.clear(runningSlot());
    schedule.clear(zeroSlot());
    for (int i = 0; i < count; i++) {
      sums[i] = new OctetPlanes(inactive);
      schedule.clear(hdpcSlot(i));
    }
    for (int column = 0; column < columns; column++) {
      int place = peeling.placeOf(column);
      final int term = isInactive(place) ? zeroSlot() : place;
      running.multiplyByAlpha();
      if (isInactive(place)) {
        running.flip(numberOf(place));
      } else {
        running.add(bits, place);
      }
      if (column + 1 == columns) {
        schedule.multiply(runningSlot(), Gf256.power(1));
        schedule.add(runningSlot(), term);
        break;
      }
      int first = BlockCode.random(column + 1, 6, count);
      int second = (first + BlockCode.random(column + 1, 7, count - 1) + 1) % count;
      sums[first].add(running);
      sums[second].add(running);
      schedule.accumulate(runningSlot(), term, hdpcSlot(first), hdpcSlot(second));
    }
    // The last column of MT has the powers of alpha.
    int[] last = running.octets(inactive);
    for (int row = 0; row < count; row++) {
      octets[row] = sums[row].octets(inactive);
      addMultiple(octets[row], last, Gf256.power(row));
      schedule.addMultiple(hdpcSlot(row), runningSlot(), Gf256.power(row));
      octets[row][numberOf(peeling.placeOf(columns + row))] ^= 1;
    }
  }

  private static void addMultiple(int[] to, int[] from, int factor) {
    for (int i = 0; i < to.length; i++) {
      to[i] ^= Gf256.multiply(from[i], factor);
    }
  }

  /** Gaussian elimination: the equations with octets are for the symbols that those with bits are not for. */
  private boolean solveInactive() {
    for (int h = 0; h < octets.length; h++) {
      for (Bound each : bound) {
        int[] row = octets[h];
        int factor = row[each.column];
        if (factor != 0) {
          bits.forEach(each.row, bit -> row[bit] ^= factor);
          schedule.addMultiple(hdpcSlot(h), each.row, factor);
        }
      }
    }
    if (!solveOpen()) {
      return false;
    }
    for (int i = bound.size() - 1; i >= 0; i--) {
      Bound each = bound.get(i);
      bits.forEach(
          each.row,
          bit -> {
            if (bit != each.column) {
              schedule.add(each.row, valueOf[bit]);
            }
          });
    }
    return true;
  }

  /** For the symbols that no equation with bits is for. */
  private boolean solveOpen() {
    boolean[] isUsed = new boolean[octets.length];
    for (int column = 0; column < inactive; column++) {
      if (valueOf[column] != NONE) {
        continue;
      }
      int pivot = 0;
      while (pivot < octets.length && (isUsed[pivot] || octets[pivot][column] == 0)) {
        pivot++;
      }
      if (pivot == octets.length) {
        return false;
      }
      isUsed[pivot] = true;
      int[] row = octets[pivot];
      int inverse = Gf256.invert(row[column]);
      for (int i = 0; i < row.length; i++) {
        row[i] = Gf256.multiply(row[i], inverse);
      }
      schedule.multiply(hdpcSlot(pivot), inverse);
      for (int other = 0; other < octets.length; other++) {
        int factor = octets[other][column];
        if (other != pivot && factor != 0) {
          addMultiple(octets[other], row, factor);
          schedule.addMultiple(hdpcSlot(other), hdpcSlot(pivot), factor);
        }
      }
      valueOf[column] = hdpcSlot(pivot);
    }
    return true;
  }

  private void substitute(int number) {
    int row = peeling.pivotRows.get(number);
    int own = peeling.pivotColumns.get(number);
    terms.clear();
    appendValue(row);
    for (int i = rows.rowStart(row); i < rows.rowEnd(row); i++) {
      if (rows.columns.get(i) != own) {
        terms.add(slotOf(rows.columns.get(i)));
      }
    }
    schedule.sum(number, terms);
  }
}
