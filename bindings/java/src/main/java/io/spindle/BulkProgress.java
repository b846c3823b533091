package io.spindle;

import java.util.OptionalLong;

/**
 * How far a content is that this client offers or receives. Comes at most twice a second, and only where something has
 * changed, or comes again after {@link BulkStalled}.
 *
 * @param channel which
 * @param bytes of a content that is received: what is there, and is right; of one that is offered: what was sent to
 *     those who keep up
 * @param size of the content, in bytes; empty: not known yet
 * @param bytesPerSecond of late
 */
public record BulkProgress(ChannelId channel, long bytes, OptionalLong size, long bytesPerSecond)
    implements BulkEvent {}
