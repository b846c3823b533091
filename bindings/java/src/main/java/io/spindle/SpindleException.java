package io.spindle;

/**
 * What a call could not do, or was refused. A call that waits and is interrupted says CANCELLED, and leaves the thread's
 * interrupt status set.
 */
public class SpindleException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why. */
  private final Code code;

  /**
   * In the words of the code.
   *
   * @param code why
   */
  public SpindleException(Code code) {
    this(code, code.text());
  }

  /**
   * In words that say more.
   *
   * @param code why
   * @param text in words
   */
  public SpindleException(Code code, String text) {
    super(text);
    this.code = code;
  }

  /**
   * Why.
   *
   * @return one of the table of all languages
   */
  public Code code() {
    return code;
  }
}
