package io.spindle.bulk;

import io.spindle.protocol.ClientSession;

/**
 * When a receiver tells what it needs: every 250 ms while there is news, at once where that saves what would be sent
 * for nothing, and again when nothing has come for a second. Times are nanoseconds.
 */
final class NeedSchedule {
  private static final long INTERVAL = 250_000_000;
  private static final long SILENCE = 1_000_000_000;
  /** A time that is over. */
  static final long AT_ONCE = Long.MIN_VALUE;

  private long told;
  private long heard;
  private boolean hasNews;
  private boolean isUrgent = true; // the first one
  private boolean isOver;

  /** What is needed is no longer what was told. */
  void noteNews() {
    hasNews = true;
  }

  void noteUrgent() {
    isUrgent = true;
  }

  /** Something of the content has come. */
  void noteHeard(long now) {
    heard = now;
  }

  void noteTold(long now) {
    told = now;
    hasNews = false;
    isUrgent = false;
  }

  /** All is there: silence is as it should be. */
  void end() {
    isOver = true;
  }

  void beginAgain() {
    isOver = false;
  }

  /** When it is due. NEVER: not before something happens. */
  long due() {
    if (isUrgent) {
      return AT_ONCE;
    }
    long silence = Math.max(told, heard) + SILENCE;
    if (hasNews) {
      return isOver ? told + INTERVAL : Math.min(told + INTERVAL, silence);
    }
    return isOver ? ClientSession.NEVER : silence;
  }
}
