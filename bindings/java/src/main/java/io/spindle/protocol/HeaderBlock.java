package io.spindle.protocol;

import io.spindle.Headers;
import io.spindle.Name;
import java.util.ArrayList;
import java.util.List;

/** Headers of a message as they stand before its payload: u16 length of all, then of each u8 and key, u16 and value. */
final class HeaderBlock {
  /** The number of a request, and in an answer that of the request. */
  static final Name REQUEST_KEY = Name.of("$id");

  static final Name ANSWER_KEY = Name.of("$re");
  static final int REQUEST_NUMBER_BYTES = 8;

  private static final int HEADER_BYTES_MAX = 4096;
  private static final int OWN_BYTES_MAX = 64;
  private static final int BLOCK_BYTES_MAX = 2 + HEADER_BYTES_MAX + OWN_BYTES_MAX;

  private HeaderBlock() {}

  private static int sizeOf(Headers.Header header) {
    return 1 + header.key().size() + 2 + header.value().length;
  }

  /** Whether a program may send them. */
  static boolean areValid(Headers headers) {
    int bytes = 0;
    for (Headers.Header header : headers) {
      int size = header.key().size();
      if (size == 0 || size > 255 || header.key().byteAt(0) == '$') {
        return false;
      }
      bytes += Math.min(sizeOf(header), HEADER_BYTES_MAX + 1);
      if (bytes > HEADER_BYTES_MAX) {
        return false;
      }
    }
    return true;
  }

  /** A block of one of the library's own, where there is one, and then the others. */
  static byte[] write(Headers.Header own, Headers headers) {
    Output out = new Output(new byte[64]);
    out.u16(0);
    if (own != null) {
      write(out, own);
    }
    for (Headers.Header header : headers) {
      write(out, header);
    }
    out.bytes[0] = (byte) (out.size - 2);
    out.bytes[1] = (byte) ((out.size - 2) >> 8);
    return out.toBytes();
  }

  private static void write(Output out, Headers.Header header) {
    out.name(header.key());
    out.u16(header.value().length);
    out.bytes(header.value());
  }

  /** Bytes of the block that these bytes begin with; 0 where that is none. */
  static int size(byte[] bytes, int from, int to) {
    ByteReader reader = new ByteReader(bytes, from, to);
    int length = reader.u16();
    reader.skip(length);
    if (!reader.isOk() || length == 0 || 2 + length > BLOCK_BYTES_MAX) {
      return 0;
    }
    ByteReader headers = new ByteReader(bytes, from + 2, from + 2 + length);
    while (headers.isOk() && headers.remaining() != 0) {
      int key = headers.u8();
      if (key == 0) {
        return 0;
      }
      headers.skip(key);
      headers.skip(headers.u16());
    }
    return headers.isOk() ? 2 + length : 0;
  }

  /** The first value of a key in a well-formed block, or null. */
  static byte[] find(byte[] block, Name key) {
    ByteReader reader = new ByteReader(block, 2, block.length);
    while (reader.remaining() != 0) {
      boolean isIt = reader.name().equals(key);
      byte[] value = reader.bytes(reader.u16());
      if (isIt) {
        return value;
      }
    }
    return null;
  }

  /** Those of a well-formed block that are not the library's own. */
  static Headers read(byte[] block) {
    ByteReader reader = new ByteReader(block, 2, block.length);
    List<Headers.Header> all = new ArrayList<>();
    while (reader.remaining() != 0) {
      Name key = reader.name();
      byte[] value = reader.bytes(reader.u16());
      if (key.byteAt(0) != '$') {
        all.add(new Headers.Header(key, value));
      }
    }
    return Headers.of(all);
  }
}
