package io.spindle;

import java.time.Duration;

/**
 * How a group is joined.
 *
 * @param synchronous members of a synchronous group get each message in the view that its sender had when it sent it; to
 *     that end they are asked, by {@link FlushRequest}, to stop sending before each new view
 * @param autoFlush a FlushRequest of the group is answered as soon as the program is given it
 * @param timeout bounds waiting for the view; null: nothing does
 */
public record JoinOptions(boolean synchronous, boolean autoFlush, Duration timeout) {
  /** As {@link Connection#join} has them without. */
  public static final JoinOptions DEFAULT = new JoinOptions(false, false, null);

  /**
   * These, of a synchronous group.
   *
   * @param autoFlush whether the library answers flush requests
   * @return the options
   */
  public JoinOptions withSynchrony(boolean autoFlush) {
    return new JoinOptions(true, autoFlush, timeout);
  }

  /**
   * These, with a timeout.
   *
   * @param timeout bounds waiting for the view
   * @return the options
   */
  public JoinOptions withTimeout(Duration timeout) {
    return new JoinOptions(synchronous, autoFlush, timeout);
  }
}
