package io.spindle.net;

import io.spindle.protocol.ClientSession;
import java.time.Duration;

/** Time in nanoseconds since an epoch of this process, and spans of it. */
final class Clock {
  private static final long START = System.nanoTime();

  private Clock() {}

  static long now() {
    return System.nanoTime() - START;
  }

  /** Null, and what is too long to tell: for ever. */
  static long nanos(Duration span) {
    if (span == null) {
      return ClientSession.NEVER;
    }
    try {
      return Math.max(span.toNanos(), 0);
    } catch (ArithmeticException tooLong) {
      return span.isNegative() ? 0 : ClientSession.NEVER;
    }
  }

  /** The end of what begins now. */
  static long after(Duration span) {
    return ClientSession.later(now(), nanos(span));
  }

  /** For functions that count in milliseconds: no sooner than the deadline. */
  static long millisUntil(long deadline) {
    return deadline == ClientSession.NEVER
        ? Long.MAX_VALUE
        : Math.max(0, (deadline - now() + 999_999) / 1_000_000);
  }
}
