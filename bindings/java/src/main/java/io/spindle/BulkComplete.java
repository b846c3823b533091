package io.spindle;

import java.util.List;

/**
 * All members of the audience, the group where the content was offered, have it or have said that they will not. Comes
 * to source and members alike, at one place in the order. Where some are missing, a source that stays serves them when
 * they are back, and hears of it by {@link BulkReturned}.
 *
 * @param channel which
 * @param done private names
 * @param failed they could not receive it
 * @param refused they did not want it
 * @param gone who is a member no longer
 */
public record BulkComplete(ChannelId channel, List<Name> done, List<Failed> failed, List<Name> refused, BulkGone gone)
    implements BulkEvent {
  /**
   * Who could not receive it, and why.
   *
   * @param name the private name
   * @param code why
   */
  public record Failed(Name name, Code code) {}
}
