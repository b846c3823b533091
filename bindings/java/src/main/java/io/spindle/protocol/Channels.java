package io.spindle.protocol;

import io.spindle.ChannelId;
import java.nio.charset.StandardCharsets;

/**
 * The id of a bulk channel, as all frames have it: the daemon as a short string, u64 incarnation, the number as a
 * varint.
 */
public final class Channels {
  private Channels() {}

  public static void write(Output out, ChannelId id) {
    byte[] daemon = id.daemon().getBytes(StandardCharsets.US_ASCII);
    out.u8(daemon.length);
    out.bytes(daemon);
    out.u64(id.incarnation());
    out.varint(id.number());
  }

  /** The reader fails where the daemon's name is none, or the number is 0. */
  public static ChannelId read(ByteReader reader) {
    int size = reader.u8();
    int at = reader.skip(size);
    if (!reader.isOk() || !Names.isDaemon(reader.bytes, at, at + size)) {
      reader.fail();
      return null;
    }
    String daemon = new String(reader.bytes, at, size, StandardCharsets.US_ASCII);
    ChannelId id = new ChannelId(daemon, reader.u64(), reader.varint());
    if (id.number() == 0) {
      reader.fail();
    }
    return id;
  }
}
