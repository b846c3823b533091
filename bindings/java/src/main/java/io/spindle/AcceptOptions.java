package io.spindle;

/**
 * How a content is received.
 *
 * @param replace whether a file of that name may be replaced, or by a directory a directory with all that is in it;
 *     otherwise what is there is FILE_EXISTS
 * @param serve whether this client sends what it has to other receivers, which get it sooner so, or at all where the
 *     source is gone
 */
public record AcceptOptions(boolean replace, boolean serve) {
  /** Nothing is replaced, and others are served. */
  public static final AcceptOptions DEFAULT = new AcceptOptions(false, true);

  /**
   * These, with another {@link #replace}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public AcceptOptions withReplace(boolean value) {
    return new AcceptOptions(value, serve);
  }

  /**
   * These, with another {@link #serve}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public AcceptOptions withServe(boolean value) {
    return new AcceptOptions(replace, value);
  }
}
