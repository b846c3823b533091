package io.spindle;

/** Of {@link Connection#request}: fewer answers have come than were waited for. */
public class RequestException extends SpindleException {
  private static final long serialVersionUID = 1;

  /** Those that have. */
  private final transient Answers answers;

  /**
   * With what has come.
   *
   * @param code why no more are waited for
   * @param answers those that have come
   */
  public RequestException(Code code, Answers answers) {
    super(code);
    this.answers = answers;
  }

  /**
   * What has come.
   *
   * @return the answers, and who has not answered
   */
  public Answers answers() {
    return answers;
  }
}
