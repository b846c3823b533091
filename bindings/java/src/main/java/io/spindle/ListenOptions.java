package io.spindle;

import java.time.Duration;

/**
 * How feeds are heard.
 *
 * @param ordered messages are given as they were sent, what comes behind a gap waiting for what is missing; otherwise as
 *     they come
 * @param deadline of each packet that waits; what is missing then is a {@link FeedGap}, and is dropped where it comes later
 */
public record ListenOptions(boolean ordered, Duration deadline) {
  /** In order, waiting for 50 ms. */
  public static final ListenOptions DEFAULT = new ListenOptions(true, Duration.ofMillis(50));

  /** As messages come. */
  public static final ListenOptions IMMEDIATE = new ListenOptions(false, Duration.ofMillis(50));

  /**
   * These, with another deadline.
   *
   * @param deadline of each packet that waits
   * @return the options
   */
  public ListenOptions withDeadline(Duration deadline) {
    return new ListenOptions(ordered, deadline);
  }
}
