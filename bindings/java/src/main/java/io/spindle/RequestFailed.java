package io.spindle;

/**
 * The daemon refused something that no call waits for.
 *
 * @param request what
 * @param group of several destinations of messages, the first one that is refused
 * @param code why
 * @param messages request SEND: so many to one set of destinations, since it was last told
 */
public record RequestFailed(Request request, Name group, Code code, long messages) implements Event {
  /** What can be refused. */
  public enum Request {
    /** To join. */
    JOIN,
    /** To leave. */
    LEAVE,
    /** To tell who the members are. */
    VIEW,
    /** Messages that it had been sent: nobody gets those. */
    SEND,
    /** To have the client stay a member of the group: it has left, and its last view says so, too. */
    MEMBERSHIP,
    /** To listen to feeds of the group. */
    LISTEN
  }
}
