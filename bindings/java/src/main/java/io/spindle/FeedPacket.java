package io.spindle;

/**
 * A message of a feed. Each packet of a feed is in one FeedPacket or in one {@link FeedGap}.
 *
 * @param feed its number
 * @param sequence of the first packet that it came in: they are counted from 0, and one by one
 * @param packets that it took; several short messages may have come in one
 * @param payload what was sent, not copied
 */
public record FeedPacket(long feed, long sequence, long packets, byte[] payload) implements FeedEvent {}
