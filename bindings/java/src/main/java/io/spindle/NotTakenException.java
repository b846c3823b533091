package io.spindle;

/** Of {@link Connection#confirm}: not all that was sent has entered the network. */
public class NotTakenException extends SpindleException {
  private static final long serialVersionUID = 1;

  /** How much has not. */
  private final transient NotTaken notTaken;

  /**
   * With what is known.
   *
   * @param code TIMED_OUT, CONNECTION_LOST where a connection was lost with some of them, or why the connection is not
   *     open
   * @param notTaken how much has not
   */
  public NotTakenException(Code code, NotTaken notTaken) {
    super(code, notTaken.messages() + " messages have not entered the network: " + code.text());
    this.notTaken = notTaken;
  }

  /**
   * How much has not entered.
   *
   * @return messages
   */
  public NotTaken notTaken() {
    return notTaken;
  }
}
