package io.spindle.protocol;

import io.spindle.Name;
import java.util.function.Consumer;

/** What a daemon tells of feeds, which it knows by numbers of its own. */
sealed interface FeedNews {
  record Ready(int request, int feed, long room) implements FeedNews {}

  record Room(int feed, long bytes) implements FeedNews {}

  record Rate(int feed, long bytesPerSecond, long roundTripUs, int loss, int limitedBy) implements FeedNews {}

  record Opened(int feed, long repairForUs, Name group, Name source, boolean isNew) implements FeedNews {}

  record Packet(int feed, long sequence, int flags, byte[] payload) implements FeedNews {
    static final int FIRST = 1;
    static final int LAST = 2;
    static final int WHOLE = FIRST | LAST;
    static final int BUNDLE = WHOLE | 4; // of several messages
  }

  record Missing(int feed, long first, long count, int cause) implements FeedNews {}

  record Ended(int feed, int why) implements FeedNews {}

  static boolean is(int type) {
    return type >= Frames.FEED_READY && type <= Frames.FEED_END;
  }

  /** Null where it does not parse. */
  static FeedNews read(int type, ByteReader reader) {
    FeedNews news =
        switch (type) {
          case Frames.FEED_READY -> new Ready(reader.u32(), number(reader), reader.varint());
          case Frames.FEED_ROOM -> new Room(number(reader), reader.varint());
          case Frames.FEED_FLOW -> new Rate(
              number(reader), reader.varint(), reader.varint(), reader.u16(), oneOf(reader, 4));
          case Frames.FEED_OPENED -> new Opened(
              number(reader),
              reader.varintUpTo(Frames.REPAIR_FOR_MAX_US),
              reader.group(),
              reader.privateName(),
              oneOf(reader, 1) == 1);
          case Frames.FEED_PACKET -> packet(reader);
          case Frames.FEED_GAP -> new Missing(
              number(reader),
              reader.varintUpTo(Frames.FEED_SEQUENCE_MAX),
              notZero(reader, reader.varintUpTo(Frames.FEED_SEQUENCE_MAX)),
              oneOf(reader, 1));
          default -> new Ended(number(reader), oneOf(reader, 3));
        };
    return reader.isDone() ? news : null;
  }

  private static long notZero(ByteReader reader, long value) {
    if (value == 0) {
      reader.fail();
    }
    return value;
  }

  private static int number(ByteReader reader) {
    return (int) notZero(reader, reader.varintUpTo(0xffffffffL));
  }

  private static int oneOf(ByteReader reader, int last) {
    int value = reader.u8();
    if (value > last) {
      reader.fail();
    }
    return value;
  }

  private static Packet packet(ByteReader reader) {
    int feed = number(reader);
    long sequence = reader.varintUpTo(Frames.FEED_SEQUENCE_MAX);
    int flags = reader.u8();
    byte[] payload = reader.rest();
    boolean isKnown = flags <= Packet.WHOLE || flags == Packet.BUNDLE;
    if (!isKnown
        || payload.length == 0
        || payload.length > Frames.FEED_PACKET_BYTES_MAX
        || (flags == Packet.BUNDLE && !forEachInBundle(payload, each -> {}))) {
      reader.fail();
    }
    return new Packet(feed, sequence, flags, payload);
  }

  /**
   * Calls `visit` for each message of a bundle: two at least, none of them empty, of each its length in the fewest bytes,
   * and its bytes. Whether it is well-formed; where it is not, some have been visited.
   */
  static boolean forEachInBundle(byte[] bundle, Consumer<byte[]> visit) {
    ByteReader reader = new ByteReader(bundle, 0, bundle.length);
    int count = 0;
    while (reader.isOk() && reader.remaining() > 0) {
      int before = reader.remaining();
      long size = reader.varintUpTo(before);
      if (size == 0 || before - reader.remaining() != varintSize(size)) {
        return false;
      }
      byte[] message = reader.bytes((int) size);
      if (!reader.isOk()) {
        return false;
      }
      visit.accept(message);
      count++;
    }
    return reader.isOk() && count >= 2;
  }

  private static int varintSize(long value) {
    int size = 1;
    for (; (value & ~0x7fL) != 0; value >>>= 7) {
      size++;
    }
    return size;
  }
}
