package io.spindle.protocol;

import io.spindle.ChannelId;
import io.spindle.Name;

/**
 * What a client asks of bulk channels. The daemon answers by the number of the request: what is refused by a reply with
 * the reason; what is not by one without, but for an offer, which is answered by a BulkNews.Offered.
 */
public sealed interface BulkRequest {
  /** How a receiver stands. What is said first of the last three is so for good. */
  enum Outcome {
    NONE,
    ACCEPTED,
    DONE,
    FAILED,
    REFUSED,
    /** Done, and it gives the content to nobody. */
    KEPT
  }

  record Offer(Name group, ContentTerms terms) implements BulkRequest {}

  /** The content is whole: no block comes any more. */
  record Seal(ChannelId channel, long size, byte[] root) implements BulkRequest {}

  /** By a receiver, about itself. `code`: of FAILED only. */
  record OutcomeSaid(ChannelId channel, Outcome outcome, int code) implements BulkRequest {}

  record Cancel(ChannelId channel) implements BulkRequest {}

  record SetRate(ChannelId channel, long bytesPerSecond) implements BulkRequest {}

  /** Asks for a token, by which another connection proves to be of the same session. */
  record TokenRequest() implements BulkRequest {}

  /** The type of its frame. */
  default int type() {
    if (this instanceof Offer) {
      return Frames.BULK_OFFER;
    } else if (this instanceof Seal) {
      return Frames.BULK_SEAL;
    } else if (this instanceof OutcomeSaid) {
      return Frames.BULK_OUTCOME;
    } else if (this instanceof Cancel) {
      return Frames.BULK_CANCEL;
    } else if (this instanceof SetRate) {
      return Frames.BULK_SET_RATE;
    }
    return Frames.BULK_TOKEN_REQUEST;
  }

  /** Appends the frame, head included. */
  default void write(Output out, int number) {
    int head = out.beginFrame(type());
    out.varint32(number);
    if (this instanceof Offer offer) {
      out.name(offer.group);
      offer.terms.write(out);
    } else if (this instanceof Seal seal) {
      Channels.write(out, seal.channel);
      out.varint(seal.size);
      out.bytes(seal.root);
    } else if (this instanceof OutcomeSaid said) {
      Channels.write(out, said.channel);
      out.u8(said.outcome.ordinal());
      if (said.outcome == Outcome.FAILED) {
        out.u16(said.code);
      }
    } else if (this instanceof Cancel cancel) {
      Channels.write(out, cancel.channel);
    } else if (this instanceof SetRate rate) {
      Channels.write(out, rate.channel);
      out.varint(rate.bytesPerSecond);
    }
    out.endFrame(head);
  }
}
