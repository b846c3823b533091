package io.spindle;

import java.util.Optional;

/**
 * Nothing more comes of a feed that this client has heard, or it can send to its own no longer.
 *
 * @param feed its number
 * @param why why
 * @param code of a feed of this client's own that could not be opened in a new session: the reason
 */
public record FeedClosed(long feed, Why why, Optional<Code> code) implements FeedEvent {
  /** Why a feed is over. */
  public enum Why {
    /** By its source. */
    CLOSED,
    /** Its daemon is out of reach, or the session in which it was heard is gone. */
    LOST,
    /** The rules of access do not allow it any more. */
    DENIED,
    /** This client has left its group, or had stopped listening there. */
    LEFT
  }
}
