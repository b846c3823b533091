package io.spindle;

import java.util.OptionalLong;

/**
 * Somebody offers a content to a group that this client is a member of. It is to be answered by {@link Bulk#accept} or
 * {@link Bulk#refuse}: all wait for that.
 *
 * @param channel by which it is accepted
 * @param group to which it is offered
 * @param source the private name of the client that offers
 * @param name as the source says it; may be empty
 * @param kind what it is there
 * @param size in bytes; empty: not known yet
 * @param late it was offered before this client joined: nobody waits for it
 */
public record BulkOffered(
    ChannelId channel, Name group, Name source, String name, ContentKind kind, OptionalLong size, boolean late)
    implements BulkEvent {}
