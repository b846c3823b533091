package io.spindle;

import io.spindle.protocol.ReceivedMessage;
import java.util.List;
import java.util.Optional;

/** A message that has been received. It may be kept, and used by any thread. */
public sealed interface Message extends Event permits ReceivedMessage {
  /**
   * What its sender was promised for it.
   *
   * @return the service
   */
  Service service();

  /**
   * The sender's tag.
   *
   * @return 16 bits
   */
  int type();

  /**
   * Who has sent it.
   *
   * @return a private name
   */
  Name sender();

  /**
   * Where it was sent to, as the sender gave it.
   *
   * @return an unmodifiable list, not empty
   */
  List<Name> groups();

  /**
   * The first of {@link #groups}.
   *
   * @return a name
   */
  default Name group() {
    return groups().get(0);
  }

  /**
   * What was sent.
   *
   * @return the array of this message, which is not copied
   */
  byte[] payload();

  /**
   * The payload as text of UTF-8.
   *
   * @return the text, where the payload is text
   */
  String text();

  /**
   * What travelled beside the payload.
   *
   * @return may be empty
   */
  Headers headers();

  /**
   * The first value of a header as text of UTF-8.
   *
   * @param key of the header
   * @return nothing where there is no such header
   */
  default Optional<String> header(String key) {
    return headers().text(key);
  }

  /**
   * Where it stands in the order, for checkpoints, and to tell one that came before.
   *
   * @return nothing for services without an order, and for messages that were left open when a view of the daemons ended
   */
  Optional<MessagePosition> position();

  /**
   * Whether the sender waits for answers: {@link Connection#reply}.
   *
   * @return whether it does
   */
  boolean isRequest();
}
