package io.spindle;

/**
 * There is room again in a feed of this client's own, for which {@link Feed#trySend} has given false.
 *
 * @param feed its number
 */
public record FeedWritable(long feed) implements FeedEvent {}
