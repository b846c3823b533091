package io.spindle.codes;

/**
 * Gives encoding symbols of a block: the source symbols, with ids (ESI) from 0 on, and behind them as many repair
 * symbols as anybody may want, up to 2^24. `encode` may be called by any threads at once.
 */
public final class BlockEncoder {
  private final EncodingPlan plan;
  private final int symbolBytes;
  private final Stripes stripes;
  private final long[][][] slots; // of each stripe, all intermediate symbols

  /**
   * `content`: the source symbols of the plan, of `symbolBytes` each, one behind the other, the last one filled up; it
   * need not stay. Most of what encoding costs is here.
   */
  public BlockEncoder(EncodingPlan plan, byte[] content, int symbolBytes) {
    this.plan = plan;
    this.symbolBytes = symbolBytes;
    stripes = new Stripes(symbolBytes);
    RowSchedule schedule = plan.solution.schedule();
    slots = new long[stripes.count()][][];
    long[][] memory = schedule.makeMemory(stripes.words());
    for (int stripe = 0; stripe < slots.length; stripe++) {
      for (int i = 0; i < plan.code.sourceSymbols; i++) {
        stripes.load(content, i * symbolBytes, stripe, memory[schedule.input(i)]);
      }
      // Slots stay, inputs are used again.
      slots[stripe] = new long[schedule.slots()][];
      for (int i = 0; i < schedule.slots(); i++) {
        memory[i] = new long[stripes.words()];
        slots[stripe][i] = memory[i];
      }
      schedule.run(memory);
    }
  }

  public int symbolBytes() {
    return symbolBytes;
  }

  /** Writes the encoding symbol with that id to where it begins in an array. */
  public void encode(int esi, byte[] to, int start) {
    int[] terms = plan.solution.slotsOf(plan.code, plan.code.isiOf(esi));
    long[] sum = new long[stripes.words()];
    for (int stripe = 0; stripe < slots.length; stripe++) {
      RowSchedule.sum(sum, slots[stripe], terms, 0, terms.length);
      stripes.store(sum, to, start, stripe);
    }
  }
}
