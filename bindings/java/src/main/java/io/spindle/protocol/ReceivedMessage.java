package io.spindle.protocol;

import io.spindle.GroupViewId;
import io.spindle.Headers;
import io.spindle.Message;
import io.spindle.MessagePosition;
import io.spindle.Name;
import io.spindle.Service;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** A message. It and its payload are all that is made for most: names are those of the message before. */
public final class ReceivedMessage implements Message {
  /** Sender and groups of messages: those of one sender to the same groups share them. */
  static final class Envelope {
    final byte[] packed; // as they stand in a frame
    final Name sender;
    final List<Name> groups;

    Envelope(byte[] packed, Name sender, List<Name> groups) {
      this.packed = packed;
      this.sender = sender;
      this.groups = groups;
    }
  }

  private static final Service[] SERVICES = Service.values();

  private final Envelope envelope;
  private final byte[] payload;
  private final byte[] headerBlock; // null: none
  private final GroupViewId change; // of the position; null: none
  private final long order;
  private final int index;
  private final char type;
  private final byte service;

  ReceivedMessage(
      Envelope envelope,
      byte[] payload,
      byte[] headerBlock,
      GroupViewId change,
      long order,
      int index,
      int type,
      int service) {
    this.envelope = envelope;
    this.payload = payload;
    this.headerBlock = headerBlock;
    this.change = change;
    this.order = order;
    this.index = index;
    this.type = (char) type;
    this.service = (byte) service;
  }

  @Override
  public Service service() {
    return SERVICES[service];
  }

  @Override
  public int type() {
    return type;
  }

  @Override
  public Name sender() {
    return envelope.sender;
  }

  @Override
  public List<Name> groups() {
    return envelope.groups;
  }

  @Override
  public byte[] payload() {
    return payload;
  }

  @Override
  public String text() {
    return new String(payload, StandardCharsets.UTF_8);
  }

  @Override
  public Headers headers() {
    return headerBlock == null ? Headers.NONE : HeaderBlock.read(headerBlock);
  }

  @Override
  public Optional<MessagePosition> position() {
    return change == null ? Optional.empty() : Optional.of(new MessagePosition(change, order, index));
  }

  @Override
  public boolean isRequest() {
    return requestNumber() != null;
  }

  boolean hasHeaders() {
    return headerBlock != null;
  }

  /** What an answer to it has to carry; null where it is no request. */
  byte[] requestNumber() {
    byte[] number = findHeader(HeaderBlock.REQUEST_KEY);
    return number != null && number.length == HeaderBlock.REQUEST_NUMBER_BYTES ? number : null;
  }

  /** Of the library's own headers, too. */
  byte[] findHeader(Name key) {
    return headerBlock == null ? null : HeaderBlock.find(headerBlock, key);
  }

  @Override
  public String toString() {
    return "Message[" + service() + " of " + sender() + " to " + groups() + ", " + payload.length + " bytes]";
  }
}
