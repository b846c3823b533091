package io.spindle;

/** Why a group has a new view. */
public enum ViewCause {
  /** Somebody has joined. */
  JOIN,
  /** Somebody has left. */
  LEAVE,
  /** Somebody's connection has ended. */
  DISCONNECT,
  /** The daemons that are together have changed. */
  NETWORK
}
