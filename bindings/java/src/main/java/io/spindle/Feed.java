package io.spindle;

import java.util.Optional;

/**
 * A feed of this client's own: {@link Connection#openFeed}. Any thread may use it.
 *
 * <p>A feed outlives connections: where its client goes on in another session it is opened again there, and has no room
 * meanwhile. Those who listen hear another feed then. Where it cannot be opened again {@link FeedClosed} says why.
 */
public interface Feed extends AutoCloseable {
  /**
   * By which events are of it.
   *
   * @return a number of the connection
   */
  long id();

  /**
   * Whether it has not ended.
   *
   * @return whether it is open
   */
  boolean isOpen();

  /**
   * Sends a message, and waits for nothing. Each packet of it, of some 1,200 bytes, may be lost, and the message with it.
   *
   * @param message of 1 to 65,536 bytes, which is copied
   * @return false where there is no room: {@link FeedWritable} comes when there is
   * @throws SpindleException MESSAGE_TOO_LARGE, BAD_ARGUMENT for an empty one, UNKNOWN_FEED where the feed has ended,
   *     NOT_CONNECTED
   */
  boolean trySend(byte[] message);

  /**
   * How the network treats it, as the last {@link FeedFlow} said.
   *
   * @return nothing before the first
   */
  Optional<FeedFlow> flow();

  /**
   * How many messages {@link FeedOptions#dropOldest} has dropped.
   *
   * @return messages
   */
  long dropped();

  /** Ends it for all who listen, behind what was sent. Nothing more is told of it. */
  @Override
  void close();
}
