package io.spindle;

import java.time.Duration;

/**
 * A feed of a group that this client listens to. {@link FeedPacket} and {@link FeedGap} follow, and {@link FeedClosed} at
 * the end.
 *
 * @param feed its number
 * @param group the group
 * @param source private name of the client that sends it
 * @param repairFor how long what is lost is asked for; zero: not at all
 */
public record FeedOpened(long feed, Name group, Name source, Duration repairFor) implements FeedEvent {}
