package io.spindle;

import java.time.Duration;

/**
 * How a content is offered.
 *
 * @param bytesPerSecond the most that this client sends of it; 0: as much as goes
 * @param weight 1 to 100: its share of what connections carry, beside the weights of other channels
 * @param linger how long the channel stays once it is complete, for members that come later, in whole seconds; who has
 *     accepted by then is served to the end
 * @param timeout bounds waiting for the daemon's answer; null: none does
 */
public record OfferOptions(long bytesPerSecond, int weight, Duration linger, Duration timeout) {
  /** As fast as it goes; a minute to linger; half a minute to wait. */
  public static final OfferOptions DEFAULT = new OfferOptions(0, 10, Duration.ofSeconds(60), Duration.ofSeconds(30));

  /**
   * These, with another {@link #bytesPerSecond}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public OfferOptions withBytesPerSecond(long value) {
    return new OfferOptions(value, weight, linger, timeout);
  }

  /**
   * These, with another {@link #weight}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public OfferOptions withWeight(int value) {
    return new OfferOptions(bytesPerSecond, value, linger, timeout);
  }

  /**
   * These, with another {@link #linger}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public OfferOptions withLinger(Duration value) {
    return new OfferOptions(bytesPerSecond, weight, value, timeout);
  }

  /**
   * These, with another {@link #timeout}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public OfferOptions withTimeout(Duration value) {
    return new OfferOptions(bytesPerSecond, weight, linger, value);
  }
}
