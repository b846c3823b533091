package io.spindle;

/**
 * How many messages that were accepted have not entered the network: nobody gets those. Of messages that are unknown
 * ({@link Reconnected}) those are among them that the program had not been told of by that event when it asked; these may
 * have entered.
 *
 * @param messages how many
 * @param exact the daemon has said so with its last word; otherwise there are no more than these
 */
public record NotTaken(long messages, boolean exact) {
  /**
   * Whether nothing is lost.
   *
   * @return whether there are none
   */
  public boolean isNothing() {
    return messages == 0;
  }
}
