package io.spindle;

import java.util.List;

/**
 * What came of a request.
 *
 * @param messages in the order in which they came, one of each client
 * @param missing of a request to all members, those who have not answered, as far as that is known; private names
 */
public record Answers(List<Message> messages, List<Name> missing) {
  /** Nothing has come. */
  public static final Answers NONE = new Answers(List.of(), List.of());
}
