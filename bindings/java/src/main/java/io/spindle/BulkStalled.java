package io.spindle;

/**
 * Nothing has come for 10 s of a content that this client receives, although something is missing. Comes once; with the
 * next {@link BulkProgress} it is over.
 *
 * @param channel which
 */
public record BulkStalled(ChannelId channel) implements BulkEvent {}
