package io.spindle;

/**
 * Packets of a feed that this client does not get. Where several reasons touch each other the last one is said.
 *
 * @param feed its number
 * @param first sequence
 * @param count of packets
 * @param cause why
 */
public record FeedGap(long feed, long first, long count, Cause cause) implements FeedEvent {
  /** Why packets do not come. */
  public enum Cause {
    /** In the network, and not repaired in time. */
    LOST,
    /** This client has not read them in time. */
    SLOW
  }
}
