package io.spindle.protocol;

/**
 * When to try again to connect. The first attempt is made at once. The waits before the further ones double up to a
 * bound, and vary by a half of themselves, so that clients that have lost one daemon together do not come back
 * together.
 */
public final class BackOff {
  private static final long FIRST = 100_000_000L; // ns, as all
  private static final long LONGEST = 5_000_000_000L;
  private static final int DOUBLINGS_MAX = 6;

  private long state;
  private int attempts;

  public BackOff(long seed) {
    state = seed * 2 + 1;
  }

  public void reset() {
    attempts = 0;
  }

  /** How long to wait before the next attempt. */
  public long next() {
    if (attempts == 0) {
      attempts = 1;
      return 0;
    }
    long wait = Math.min(FIRST << Math.min(attempts - 1, DOUBLINGS_MAX), LONGEST);
    attempts++;
    // A linear congruential generator (Knuth, MMIX) is good enough to spread clients out.
    state = state * 6364136223846793005L + 1442695040888963407L;
    return wait / 2 + wait / 2 * (state >>> 54) / 1024;
  }
}
