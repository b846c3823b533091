package io.spindle;

import java.time.Duration;

/**
 * How the network treats a feed of this client's own. Comes when it has changed, a few times a second at most.
 *
 * @param feed its number
 * @param bytesPerSecond that may leave, of payload
 * @param roundTrip to listeners behind what is congested; zero: not known
 * @param loss 0 to 1: of packets, on the worst path
 * @param limitedBy what keeps the rate from growing
 */
public record FeedFlow(long feed, long bytesPerSecond, Duration roundTrip, double loss, Limit limitedBy)
    implements FeedEvent {
  /** What keeps the rate of a feed from growing. */
  public enum Limit {
    /** Nothing: it grows fast. */
    START,
    /** A path that loses packets. */
    LINK,
    /** Less is sent than may be. */
    SOURCE,
    /** {@link FeedOptions#bytesPerSecond}. */
    MAXIMUM,
    /** Ordered traffic has the rest of a link. */
    SHARE
  }
}
