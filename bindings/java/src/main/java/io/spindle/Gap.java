package io.spindle;

import java.util.List;

/**
 * The client did not keep up, and its policy is to lose messages: those that stood at this place of what it receives were
 * dropped, the oldest first. Nothing but messages is ever lost so.
 *
 * @param messages that were dropped here
 * @param bytes of their payloads
 * @param names where they were sent to; 64 names at most
 * @param unlisted how many of the messages were sent to a name that is not listed for want of room
 */
public record Gap(long messages, long bytes, List<OfName> names, long unlisted) implements Event {
  /**
   * Messages to one name.
   *
   * @param name of a group, or a private name
   * @param messages how many were sent to it; one sent to several counts at each
   */
  public record OfName(Name name, long messages) {}
}
