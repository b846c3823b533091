package io.spindle.protocol;

/** Types and limits of the frames between a client and its daemon. docs/wire-format.md shows each with an example. */
final class Frames {
  // From the client.
  static final int HELLO = 1;
  static final int DEFINE = 2;
  static final int SEND = 3;
  static final int SEND_MORE = 4;
  static final int JOIN = 5;
  static final int LEAVE = 6;
  static final int BYE = 7;
  static final int PING = 8;
  static final int VIEW_REQUEST = 9;
  static final int FLOW_REQUEST = 10;
  static final int RECEIVED = 11;
  static final int FLUSH_OK = 12;
  static final int CONFIRM = 13;
  static final int BULK_OFFER = 40;
  static final int BULK_SEAL = 41;
  static final int BULK_OUTCOME = 42;
  static final int BULK_CANCEL = 43;
  static final int BULK_SET_RATE = 44;
  static final int BULK_TOKEN_REQUEST = 45;
  static final int FEED_OPEN = 56;
  static final int FEED_SEND = 57;
  static final int FEED_CLOSE = 58;
  static final int LISTEN = 59;
  static final int STOP_LISTENING = 60;

  // From the daemon.
  static final int WELCOME = 16;
  static final int CLOSE = 17;
  static final int MESSAGE = 18;
  static final int MESSAGE_MORE = 19;
  static final int VIEW = 20;
  static final int TRANSITIONAL = 21;
  static final int REPLY = 22;
  static final int PONG = 23;
  static final int ADMITTED = 24;
  static final int FLOW = 25;
  static final int GAP = 26;
  static final int WARNING = 27;
  static final int VIEW_PART = 28;
  static final int TAKEN = 29;
  static final int REFUSED = 30;
  static final int RECEIVED_BY_DAEMON = 31;
  static final int FLUSH_REQUEST = 32;
  static final int ORDER_VIEW = 34;
  static final int CONFIRMED = 35;
  static final int GOING = 36;
  static final int BULK_OFFERED = 48;
  static final int BULK_SEALED = 49;
  static final int BULK_COMPLETE = 50;
  static final int BULK_ENDED = 51;
  static final int BULK_TOKEN = 52;
  static final int BULK_RETURNED = 53;
  static final int FEED_READY = 64;
  static final int FEED_ROOM = 65;
  static final int FEED_FLOW = 66;
  static final int FEED_OPENED = 67;
  static final int FEED_PACKET = 68;
  static final int FEED_GAP = 69;
  static final int FEED_END = 70;

  static final int HELLO_MAGIC = 0x4c445053; // "SPDL" on the wire
  static final int VERSION = 1;
  static final int INDEPENDENT_FLOWS_BIT = 0x01;
  static final int SLOW_POLICY_SHIFT = 1;
  static final int TELL_TAKEN_BIT = 0x08;
  static final int SYNCHRONOUS_BIT = 0x01;
  static final int SYNCHRONOUS_FORM_BIT = 0x80;
  // Beside the service, in one byte.
  static final int SELF_DISCARD_BIT = 0x08; // of a send
  static final int PLACE_BIT = 0x08; // of a message
  static final int HEADERS_BIT = 0x10; // of both
  static final int SERVICE_MAX = 5;

  static final int MESSAGE_BYTES_MAX = 16 << 20;
  static final int GROUPS_MAX = 1000; // of a message
  static final int CHUNK_BYTES_MAX = 32 << 10;
  static final int HANDLES_MAX = 4096;
  static final int DEFINED_BYTES_MAX = 16 << 20;
  static final int DEFINED_NAME_BYTES = 64;
  static final int VIEW_PART_BYTES_MAX = 256 << 10;
  static final int VIEW_BYTES_MAX = 256 << 20;
  static final int GAP_NAMES_MAX = 64;
  static final int FLOW_WINDOW_BYTES = 64 << 10;
  static final int FLOW_TOLD_BYTES = FLOW_WINDOW_BYTES / 4;
  static final int FLOW_MESSAGE_BYTES = 64;
  static final int FLOW_TEXT_BYTES_MAX = 1024;
  static final int BLOCKED_MAX = 1000;
  static final int VARINT_BYTES_MAX = 10;
  static final int MESSAGE_FRAME_BYTES_MAX =
      (GROUPS_MAX + 1) * (Names.GROUP_BYTES_MAX + 1) + 5 * VARINT_BYTES_MAX + CHUNK_BYTES_MAX;
  static final int FEED_MESSAGE_BYTES_MAX = 64 << 10;
  static final int FEED_PACKET_BYTES_MAX = 32 << 10;
  static final long FEED_SEQUENCE_MAX = 1L << 62;
  static final long REPAIR_FOR_MAX_US = 60_000_000;
  static final int FEED_LOSS_MAX = 65_535;

  private Frames() {}

  /** The longest frame of a type that a daemon may send, without the head. */
  static int lengthLimit(int type) {
    return switch (type) {
      case MESSAGE -> MESSAGE_FRAME_BYTES_MAX;
      case MESSAGE_MORE -> CHUNK_BYTES_MAX;
      case VIEW, VIEW_PART -> VIEW_PART_BYTES_MAX;
      default -> 65_535 + 4 + VARINT_BYTES_MAX; // `close` is the longest of the others
    };
  }

  /** What a message counts in the window of its flow. */
  static int flowBytes(int payload) {
    return payload + FLOW_MESSAGE_BYTES;
  }
}
