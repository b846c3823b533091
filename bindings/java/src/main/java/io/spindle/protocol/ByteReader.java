package io.spindle.protocol;

import io.spindle.Name;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads untrusted bytes. After the first read beyond the end, or a malformed varint, {@code isOk} is false for good and
 * every read gives zero or nothing; callers check once, at the end.
 */
public final class ByteReader {
  public byte[] bytes;
  public int at;
  public int end;
  private boolean isOk = true;

  public ByteReader() {}

  public ByteReader(byte[] bytes, int from, int to) {
    reset(bytes, from, to);
  }

  public void reset(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
    this.isOk = true;
  }

  private long fixed(int count) {
    if (end - at < count) {
      fail();
      return 0;
    }
    long value = 0;
    for (int i = 0; i < count; i++) {
      value |= (bytes[at + i] & 0xffL) << (8 * i);
    }
    at += count;
    return value;
  }

  public int u8() {
    if (at == end) {
      fail();
      return 0;
    }
    return bytes[at++] & 0xff;
  }

  public int u16() {
    return (int) fixed(2);
  }

  public int u32() {
    return (int) fixed(4);
  }

  public long u64() {
    return fixed(8);
  }

  /** 64 bits without a sign. */
  public long varint() {
    if (at != end && bytes[at] >= 0) {
      return bytes[at++]; // most are
    }
    long value = 0;
    for (int shift = 0; shift < 64 && at != end; shift += 7) {
      int octet = bytes[at++] & 0xff;
      if (shift == 63 && octet > 1) {
        break;
      }
      value |= (long) (octet & 0x7f) << shift;
      if (octet < 0x80) {
        return value;
      }
    }
    fail();
    return 0;
  }

  /** A varint that must not exceed a limit. */
  public long varintUpTo(long limit) {
    long value = varint();
    if (Long.compareUnsigned(value, limit) > 0) {
      fail();
      return 0;
    }
    return value;
  }

  /** A varint of 32 bits without a sign. */
  public int varint32() {
    return (int) varintUpTo(0xffffffffL);
  }

  /** Passes over so many bytes. Gives where they begin; they end where it stands then. */
  public int skip(int count) {
    if (count > end - at) {
      fail();
      return at;
    }
    at += count;
    return at - count;
  }

  public byte[] bytes(int count) {
    int from = skip(count);
    return isOk ? Arrays.copyOfRange(bytes, from, from + count) : new byte[0];
  }

  /** All that is left. */
  public byte[] rest() {
    return bytes(end - at);
  }

  /** Bytes behind one byte of length. */
  public Name name() {
    int size = u8();
    int from = skip(size);
    return isOk ? Name.of(bytes, from, from + size) : EMPTY;
  }

  private static final Name EMPTY = Name.of("");

  public String text(int size) {
    int from = skip(size);
    return isOk ? new String(bytes, from, size, StandardCharsets.UTF_8) : "";
  }

  private interface Kind {
    boolean has(byte[] bytes, int from, int to);
  }

  private Name name(Kind kind) {
    int size = u8();
    int from = skip(size);
    if (!isOk || !kind.has(bytes, from, from + size)) {
      fail();
      return EMPTY;
    }
    return Name.of(bytes, from, from + size);
  }

  public Name group() {
    return name(Names::isGroup);
  }

  public Name privateName() {
    return name(Names::isPrivate);
  }

  public Name destination() {
    return name(Names::isDestination);
  }

  /** So many private names. A count that the bytes at hand cannot hold is refused before anything is made for it. */
  public List<Name> privateNames(long count) {
    if (Long.compareUnsigned(count, remaining()) > 0) {
      fail();
    }
    if (!isOk || count == 0) {
      return List.of();
    }
    List<Name> names = new ArrayList<>((int) count);
    for (long i = 0; i < count && isOk; i++) {
      names.add(privateName());
    }
    return List.copyOf(names);
  }

  public int remaining() {
    return end - at;
  }

  public boolean isOk() {
    return isOk;
  }

  /** Whether everything was read and nothing failed. */
  public boolean isDone() {
    return isOk && at == end;
  }

  public void fail() {
    isOk = false;
    at = end;
  }
}
