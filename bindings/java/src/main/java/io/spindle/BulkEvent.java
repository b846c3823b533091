package io.spindle;

/** What is told of bulk channels: {@link Bulk}. */
public sealed interface BulkEvent extends Event
    permits BulkOffered, BulkProgress, BulkStalled, BulkReceived, BulkComplete, BulkReturned, BulkEnded {
  /**
   * Which.
   *
   * @return the channel
   */
  ChannelId channel();
}
