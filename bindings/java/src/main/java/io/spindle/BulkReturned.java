package io.spindle;

/**
 * Of those that were missing in {@link BulkComplete} some are back, or gone once more, or have it by now. Comes to the
 * source as long as the channel is there. All have it, or have said why not, where none is missing.
 *
 * @param channel which
 * @param gone those that were missing: what has come of them since
 * @param present of those still missing: they are back, and receive it
 */
public record BulkReturned(ChannelId channel, BulkGone gone, long present) implements BulkEvent {}
