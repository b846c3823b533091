package io.spindle;

/** What a view of a group says of the members. */
public enum ViewForm {
  /** All of them: the first view that a client gets of a group, and every view of a small group. */
  FULL,
  /** Who joined and who left, and a digest of the rest: the further views of a large group. */
  CHANGE,
  /** All of them, once more: what {@link Connection#requestView} asked for. Nothing has changed. */
  ANSWER,
  /** Nothing: this client has left the group. */
  FAREWELL
}
