package io.spindle;

import java.time.Duration;

/**
 * How a message is sent.
 *
 * @param type a tag of 16 bits for the application's own use, delivered with the message
 * @param selfDiscard whether the sender itself gets no copy
 * @param ticket by which {@link Reconnected} names the message where it is not known what came of it
 * @param timeout bounds how long {@link Connection#multicast} waits; null: {@link ConnectOptions#sendTimeout} does
 * @param headers that go with the message
 */
public record SendOptions(int type, boolean selfDiscard, long ticket, Duration timeout, Headers headers) {
  /** As {@link Connection#multicast} has them without. */
  public static final SendOptions DEFAULT = new SendOptions(0, false, 0, null, Headers.NONE);

  /**
   * These, with a tag.
   *
   * @param type of 16 bits
   * @return the options
   */
  public SendOptions withType(int type) {
    return new SendOptions(type, selfDiscard, ticket, timeout, headers);
  }

  /**
   * These, without a copy for the sender.
   *
   * @return the options
   */
  public SendOptions withSelfDiscard() {
    return new SendOptions(type, true, ticket, timeout, headers);
  }

  /**
   * These, with a ticket.
   *
   * @param ticket of the program's choice
   * @return the options
   */
  public SendOptions withTicket(long ticket) {
    return new SendOptions(type, selfDiscard, ticket, timeout, headers);
  }

  /**
   * These, with a timeout.
   *
   * @param timeout bounds waiting
   * @return the options
   */
  public SendOptions withTimeout(Duration timeout) {
    return new SendOptions(type, selfDiscard, ticket, timeout, headers);
  }

  /**
   * These, with headers.
   *
   * @param headers instead of those that were there
   * @return the options
   */
  public SendOptions withHeaders(Headers headers) {
    return new SendOptions(type, selfDiscard, ticket, timeout, headers);
  }
}
