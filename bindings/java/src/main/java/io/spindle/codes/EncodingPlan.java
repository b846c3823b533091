package io.spindle.codes;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;

/** How blocks of so many source symbols are encoded, whatever is in them. Any threads may use it at once. */
public final class EncodingPlan {
  // Channels have blocks of one shape, but for their last ones.
  private static final int KEPT = 8;
  private static final ReentrantLock LOCK = new ReentrantLock(); // guards what follows
  private static final Deque<EncodingPlan> PLANS = new ArrayDeque<>(); // the one that was wanted last first

  final BlockCode code;
  final Solver.Solution solution;

  private EncodingPlan(int sourceSymbols) {
    code = new BlockCode(sourceSymbols);
    int[] isis = new int[code.symbols];
    for (int i = 0; i < isis.length; i++) {
      isis[i] = i;
    }
    // Source symbols determine a block, whatever its size: that is what the systematic index is for.
    solution = Solver.solve(code, isis);
  }

  /**
   * Makes the plan where it is not there. Others do not wait for that; two threads may make the same one.
   * `sourceSymbols`: 1 to BlockCode.SYMBOLS_MAX.
   */
  public static EncodingPlan of(int sourceSymbols) {
    EncodingPlan plan = null;
    LOCK.lock();
    try {
      for (EncodingPlan each : PLANS) {
        if (each.code.sourceSymbols == sourceSymbols) {
          plan = each;
        }
      }
      if (plan != null) {
        PLANS.remove(plan);
        PLANS.addFirst(plan);
        return plan;
      }
    } finally {
      LOCK.unlock();
    }
    plan = new EncodingPlan(sourceSymbols);
    LOCK.lock();
    try {
      PLANS.addFirst(plan);
      if (PLANS.size() > KEPT) {
        PLANS.removeLast();
      }
    } finally {
      LOCK.unlock();
    }
    return plan;
  }
}
