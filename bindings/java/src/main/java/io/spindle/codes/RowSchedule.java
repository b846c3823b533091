package io.spindle.codes;

import java.util.Arrays;

/**
 * What is done with rows of octets, whatever is in them: sums and products in an order that was found before. Rows that
 * are given are *inputs*, rows in between are *slots*. It is found once for a code and for the symbols that are there,
 * and run for all of their bytes, a *stripe* at a time: some hundred octets of all rows, so that these are in the cache
 * together.
 */
final class RowSchedule {
  private static final int SUM = 0;
  private static final int ADD_MULTIPLE = 1;
  private static final int MULTIPLY = 2;
  private static final int ACCUMULATE = 3;
  private static final int FACTOR_SHIFT = 2; // behind the kind

  private final int slots;
  private final int inputs;
  // Of each step: kind and factor, the slot, and where its rows begin in `rows`.
  private final IntList steps = new IntList(1024);
  private final IntList rows = new IntList(4096);
  private static final int STEP = 3;

  /** Inputs are numbered behind all slots. */
  RowSchedule(int slots, int inputs) {
    this.slots = slots;
    this.inputs = inputs;
  }

  int slots() {
    return slots;
  }

  int input(int number) {
    return slots + number;
  }

  private void begin(int kind, int factor, int to) {
    steps.add(kind | factor << FACTOR_SHIFT);
    steps.add(to);
    steps.add(rows.size);
  }

  // How it is made.

  void sum(int slot, IntList terms) {
    begin(SUM, 0, slot);
    for (int i = 0; i < terms.size; i++) {
      rows.add(terms.get(i));
    }
  }

  /** The slot is 0. */
  void clear(int slot) {
    begin(SUM, 0, slot);
  }

  void add(int slot, int row) {
    boolean goesOn =
        steps.size != 0 && steps.get(steps.size - STEP) == SUM && steps.get(steps.size - STEP + 1) == slot;
    if (!goesOn) {
      begin(SUM, 0, slot);
      rows.add(slot);
    }
    rows.add(row);
  }

  void addMultiple(int slot, int from, int factor) {
    if (factor == 1) {
      add(slot, from);
    } else if (factor != 0) {
      begin(ADD_MULTIPLE, factor, slot);
      rows.add(from);
    }
  }

  void multiply(int slot, int factor) {
    if (factor != 1) {
      begin(MULTIPLY, factor, slot);
    }
  }

  /** running = alpha * running + row, and then a += running and b += running. All are slots. */
  void accumulate(int running, int row, int a, int b) {
    begin(ACCUMULATE, 0, running);
    rows.add(row);
    rows.add(a);
    rows.add(b);
  }

  // How it is run.

  /** Memory for a stripe of so many words of eight octets: slots, and behind them inputs. */
  long[][] makeMemory(int words) {
    return new long[slots + inputs][words];
  }

  /** Computes the slots of one stripe. */
  void run(long[][] memory) {
    for (int at = 0; at < steps.size; at += STEP) {
      int how = steps.get(at);
      long[] to = memory[steps.get(at + 1)];
      int first = steps.get(at + 2);
      int end = at + STEP < steps.size ? steps.get(at + STEP + 2) : rows.size;
      switch (how & 3) {
        case SUM -> sum(to, memory, rows.values, first, end);
        case ADD_MULTIPLE -> Rows.addMultiple(to, memory[rows.get(first)], how >> FACTOR_SHIFT);
        case MULTIPLY -> Rows.multiply(to, how >> FACTOR_SHIFT);
        default -> Rows.accumulate(
            to, memory[rows.get(first)], memory[rows.get(first + 1)], memory[rows.get(first + 2)]);
      }
    }
  }

  /** to = the sum of these rows; none of them make it 0. `to` may be the first of them. */
  static void sum(long[] to, long[][] memory, int[] numbers, int first, int end) {
    if (first == end) {
      Arrays.fill(to, 0);
      return;
    }
    int at = first;
    if (memory[numbers[at]] != to) {
      Rows.set(to, memory[numbers[at]]);
    }
    for (at++; end - at >= 4; at += 4) {
      Rows.add(to, memory[numbers[at]], memory[numbers[at + 1]], memory[numbers[at + 2]], memory[numbers[at + 3]]);
    }
    if (end - at >= 2) {
      Rows.add(to, memory[numbers[at]], memory[numbers[at + 1]]);
      at += 2;
    }
    if (at < end) {
      Rows.add(to, memory[numbers[at]]);
    }
  }
}
