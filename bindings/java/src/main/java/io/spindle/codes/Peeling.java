package io.spindle.codes;

import java.util.Arrays;

/**
 * Which equations are solved one by one, and which symbols are left for dense ones: inactivation decoding, without any
 * symbol (RFC 6330, section 5.4.2.2). An equation with one unknown gives that one. Where there is none, a symbol
 * becomes *inactive*: it counts as known, and equations that are left over are solved for all of those in the end.
 */
final class Peeling {
  static final int INACTIVE_BIT = 1 << 30;
  private static final int UNKNOWN = -1;

  private final ConstraintRows rows;
  private final int[] places; // of symbols: among pivots, or, with INACTIVE_BIT, among inactive ones
  private final int[] degrees; // unknown symbols in each row
  private final int[] unknownSums; // their numbers, all xored: of one that is left its number
  private final boolean[] isUsed;
  private final IntList ready = new IntList(); // rows with one unknown symbol
  final IntList pivotRows = new IntList(); // an equation,
  final IntList pivotColumns = new IntList(); // and the symbol that it gives, from those before it and inactive ones
  final IntList leftOver = new IntList();
  private int inactives;
  private int unknown;
  private final int[] parents; // of columns, for `chooseInactive`
  private final int[] sizes;

  Peeling(BlockCode code, ConstraintRows rows) {
    this.rows = rows;
    places = new int[code.intermediate];
    Arrays.fill(places, UNKNOWN);
    degrees = new int[rows.rows()];
    unknownSums = new int[rows.rows()];
    isUsed = new boolean[rows.rows()];
    parents = new int[code.intermediate];
    sizes = new int[code.intermediate];
    unknown = code.intermediate;
    for (int row = 0; row < rows.rows(); row++) {
      degrees[row] = rows.rowEnd(row) - rows.rowStart(row);
      for (int i = rows.rowStart(row); i < rows.rowEnd(row); i++) {
        unknownSums[row] ^= rows.columns.get(i);
      }
      if (degrees[row] == 1) {
        ready.add(row);
      }
    }
    for (int column = code.ltSymbols; column < code.intermediate; column++) {
      inactivate(column);
    }
    peel();
    while (unknown != 0) {
      inactivate(chooseInactive());
      peel();
    }
    for (int row = 0; row < rows.rows(); row++) {
      if (!isUsed[row]) {
        leftOver.add(row);
      }
    }
  }

  int inactives() {
    return inactives;
  }

  int placeOf(int column) {
    return places[column];
  }

  private void inactivate(int column) {
    places[column] = inactives++ | INACTIVE_BIT;
    noteKnown(column);
  }

  /** The symbol is no longer unknown: equations about it have one unknown less. */
  private void noteKnown(int column) {
    unknown--;
    for (int i = rows.columnStart(column); i < rows.columnEnd(column); i++) {
      int row = rows.rows[i];
      unknownSums[row] ^= column;
      if (--degrees[row] == 1) {
        ready.add(row);
      }
    }
  }

  private void peel() {
    while (ready.size != 0) {
      int row = ready.removeLast();
      if (degrees[row] != 1) {
        continue; // another one has given its symbol
      }
      int column = unknownSums[row];
      isUsed[row] = true;
      places[column] = pivotRows.size;
      pivotRows.add(row);
      pivotColumns.add(column);
      noteKnown(column);
    }
  }

  /**
   * One that sets free as many others as possible. Equations with two unknown symbols join these: when one is known, so
   * are all that hang together.
   */
  private int chooseInactive() {
    for (int i = 0; i < parents.length; i++) {
      parents[i] = i;
      sizes[i] = 1;
    }
    int best = UNKNOWN;
    int bestSize = 1;
    for (int row = 0; row < rows.rows(); row++) {
      if (degrees[row] != 2) {
        continue;
      }
      int first = UNKNOWN;
      int second = UNKNOWN;
      for (int i = rows.rowStart(row); i < rows.rowEnd(row); i++) {
        int column = rows.columns.get(i);
        if (places[column] == UNKNOWN) {
          second = first;
          first = column;
        }
      }
      int a = findRoot(first);
      int b = findRoot(second);
      if (a == b) {
        continue;
      }
      int large = sizes[a] < sizes[b] ? b : a;
      int small = large == a ? b : a;
      parents[small] = large;
      sizes[large] += sizes[small];
      if (sizes[large] > bestSize) {
        best = large;
        bestSize = sizes[large];
      }
    }
    return best != UNKNOWN ? best : mostWanted();
  }

  /** The unknown one that most equations are about. */
  private int mostWanted() {
    int best = UNKNOWN;
    int most = 0;
    for (int column = 0; column < places.length; column++) {
      if (places[column] != UNKNOWN) {
        continue;
      }
      int open = 0;
      for (int i = rows.columnStart(column); i < rows.columnEnd(column); i++) {
        open += degrees[rows.rows[i]] > 1 ? 1 : 0;
      }
      if (best == UNKNOWN || open > most) {
        best = column;
        most = open;
      }
    }
    return best;
  }

  private int findRoot(int column) {
    int at = column;
    while (parents[at] != at) {
      parents[at] = parents[parents[at]];
      at = parents[at];
    }
    return at;
  }
}
