package io.spindle;

import java.time.Duration;

/**
 * How a request is sent, and what is waited for.
 *
 * @param answers how many are waited for, each of another client; {@link #ALL_MEMBERS}: those of all members of the group
 * @param service of the request
 * @param type as in {@link SendOptions}
 * @param selfDiscard the client, where it is a member, neither gets the request nor is waited for
 * @param timeout bounds waiting, also for room; null: nothing does
 * @param headers that go with the request
 */
public record RequestOptions(
    int answers, Service service, int type, boolean selfDiscard, Duration timeout, Headers headers) {
  /**
   * Who leaves the group, or is out of reach, counts as having answered. The client has to be a member itself, and there
   * is one destination, a group.
   */
  public static final int ALL_MEMBERS = 0;

  /** One answer to a request of the service agreed. */
  public static final RequestOptions DEFAULT =
      new RequestOptions(1, Service.AGREED, 0, false, null, Headers.NONE);

  /**
   * These, waiting for other answers.
   *
   * @param answers how many, or {@link #ALL_MEMBERS}
   * @return the options
   */
  public RequestOptions withAnswers(int answers) {
    return new RequestOptions(answers, service, type, selfDiscard, timeout, headers);
  }

  /**
   * These, in another service.
   *
   * @param service of the request
   * @return the options
   */
  public RequestOptions withService(Service service) {
    return new RequestOptions(answers, service, type, selfDiscard, timeout, headers);
  }

  /**
   * These, with a tag.
   *
   * @param type of 16 bits
   * @return the options
   */
  public RequestOptions withType(int type) {
    return new RequestOptions(answers, service, type, selfDiscard, timeout, headers);
  }

  /**
   * These, without the client itself.
   *
   * @return the options
   */
  public RequestOptions withSelfDiscard() {
    return new RequestOptions(answers, service, type, true, timeout, headers);
  }

  /**
   * These, with a timeout.
   *
   * @param timeout bounds waiting
   * @return the options
   */
  public RequestOptions withTimeout(Duration timeout) {
    return new RequestOptions(answers, service, type, selfDiscard, timeout, headers);
  }

  /**
   * These, with headers.
   *
   * @param headers instead of those that were there
   * @return the options
   */
  public RequestOptions withHeaders(Headers headers) {
    return new RequestOptions(answers, service, type, selfDiscard, timeout, headers);
  }
}
