package io.spindle;

/** What is told of feeds. It stands in no order with anything but the same feed. */
public sealed interface FeedEvent extends Event
    permits FeedOpened, FeedPacket, FeedGap, FeedClosed, FeedFlow, FeedWritable {
  /**
   * Which feed it is about.
   *
   * @return a number of the connection, never 0, and never used again
   */
  long feed();
}
