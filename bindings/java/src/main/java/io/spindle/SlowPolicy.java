package io.spindle;

/** What a daemon does about a client that does not read fast enough. The ordinal goes over the wire. */
public enum SlowPolicy {
  /** What its configuration says. */
  DAEMON_DEFAULT,
  /** Senders slow down; the client is cut off only where it stops reading. */
  PRICE,
  /** The oldest messages are lost, and {@link Gap} says which. */
  DROP,
  /** The client is cut off. */
  DISCONNECT
}
