package io.spindle.bulk;

import io.spindle.protocol.ClientSession;

/**
 * The most that may be sent in a second. Who has sent less than it might have is let make up for a fiftieth of a second
 * of it. Times are nanoseconds.
 */
final class RateLimit {
  private static final long BURST = 20_000_000;

  private long bytesPerSecond;
  private long freeAt;
  private boolean isWaiting;

  /** 0: as much as goes. */
  void set(long value) {
    bytesPerSecond = value;
  }

  boolean maySend(long now) {
    isWaiting = bytesPerSecond != 0 && now < freeAt;
    return !isWaiting;
  }

  void noteSent(long now, int bytes) {
    if (bytesPerSecond == 0) {
      return;
    }
    double seconds = Math.min(bytes / Math.max((double) bytesPerSecond, 1e-3), 3600);
    freeAt = Math.max(freeAt, now - BURST) + (long) (seconds * 1e9);
  }

  /** When it may send what `maySend` has held back last; NEVER: it has held back nothing. */
  long due() {
    return isWaiting ? freeAt : ClientSession.NEVER;
  }
}
