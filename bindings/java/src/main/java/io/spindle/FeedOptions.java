package io.spindle;

import java.time.Duration;

/**
 * How a feed is opened.
 *
 * @param repairFor how long what is lost on its way is worth repairing, up to 60 s; zero: nothing is repaired
 * @param bytesPerSecond the most that the feed sends, of payload; 0: as much as the network carries
 * @param dropOldest a message for which there is no room is kept until there is, and the oldest that are kept are dropped
 *     for it; otherwise {@link Feed#trySend} gives false
 * @param timeout bounds waiting for the daemon's answer
 */
public record FeedOptions(Duration repairFor, long bytesPerSecond, boolean dropOldest, Duration timeout) {
  /** As {@link Connection#openFeed} has them without. */
  public static final FeedOptions DEFAULT =
      new FeedOptions(Duration.ofMillis(200), 0, false, Duration.ofSeconds(30));

  /**
   * These, with another time for repairs.
   *
   * @param repairFor up to 60 s
   * @return the options
   */
  public FeedOptions withRepairFor(Duration repairFor) {
    return new FeedOptions(repairFor, bytesPerSecond, dropOldest, timeout);
  }

  /**
   * These, with a bound of the rate.
   *
   * @param bytesPerSecond of payload; 0: no bound
   * @return the options
   */
  public FeedOptions withBytesPerSecond(long bytesPerSecond) {
    return new FeedOptions(repairFor, bytesPerSecond, dropOldest, timeout);
  }

  /**
   * These, dropping the oldest.
   *
   * @return the options
   */
  public FeedOptions withDropOldest() {
    return new FeedOptions(repairFor, bytesPerSecond, true, timeout);
  }

  /**
   * These, with a timeout.
   *
   * @param timeout bounds waiting
   * @return the options
   */
  public FeedOptions withTimeout(Duration timeout) {
    return new FeedOptions(repairFor, bytesPerSecond, dropOldest, timeout);
  }
}
