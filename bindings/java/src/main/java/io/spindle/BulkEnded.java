package io.spindle;

import java.util.Optional;

/**
 * Nothing more comes of the channel.
 *
 * @param channel which
 * @param cause why
 * @param code why this client cancelled it by itself; empty: it did not
 * @param text says more of the code, for people
 */
public record BulkEnded(ChannelId channel, Cause cause, Optional<Code> code, String text) implements BulkEvent {
  /** Why a channel has ended. */
  public enum Cause {
    /** By the source, or, with a code, as its content cannot be read. */
    CANCELLED,
    /** It was complete, and its time to linger is over. */
    OVER,
    /**
     * The source is gone, nobody has the content, and nothing has happened for a minute; or the daemon of a new session
     * has not told of the channel for a minute.
     */
    ABANDONED,
    /** Daemons that were apart and are back know that it has ended. */
    ELSEWHERE,
    /** The session of this client that offered it is gone; others may go on. */
    DISCONNECTED,
    /** This client is a member of the group no more; others may go on. */
    LEFT
  }
}
