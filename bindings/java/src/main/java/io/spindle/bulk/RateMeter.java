package io.spindle.bulk;

/**
 * How many bytes come in a second. Counts in windows of a second: the rate is that of the last whole one and of what
 * the current one has so far. Times are nanoseconds.
 */
public final class RateMeter {
  private static final long WINDOW = 1_000_000_000;

  private long begin; // of the current window
  private long former;
  private long current;

  public void add(long now, long bytes) {
    advance(now);
    current += bytes;
  }

  /** Bytes per second. */
  public long rate(long now) {
    advance(now);
    return (long) ((former + current) / ((WINDOW + Math.max(now - begin, 0)) / 1e9));
  }

  private void advance(long now) {
    if (now - begin < WINDOW) {
      return;
    }
    boolean isNext = now - begin < 2 * WINDOW;
    former = isNext ? current : 0;
    current = 0;
    begin = isNext ? begin + WINDOW : now;
  }
}
