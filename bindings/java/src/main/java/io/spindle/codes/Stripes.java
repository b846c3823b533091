package io.spindle.codes;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Symbols in stripes: octets that all rows have at a place, as words of eight. */
final class Stripes {
  // With 1,000 rows that are given and 1,100 in between these are 1 MB, which the second cache has.
  private static final int STRIPE_BYTES = 512;

  private final int symbolBytes;
  private final int bytes; // of a stripe, a multiple of 8; the last one may have fewer

  Stripes(int symbolBytes) {
    this.symbolBytes = symbolBytes;
    int stripes = (symbolBytes + STRIPE_BYTES - 1) / STRIPE_BYTES;
    int even = (symbolBytes + stripes - 1) / stripes;
    bytes = (even + 7) / 8 * 8;
  }

  int count() {
    return (symbolBytes + bytes - 1) / bytes;
  }

  int words() {
    return bytes / 8;
  }

  private int bytesOf(int stripe) {
    return Math.min(bytes, symbolBytes - stripe * bytes);
  }

  /** Reads that stripe of the symbol which begins at `start`; the last word is filled up with 0. */
  void load(byte[] from, int start, int stripe, long[] to) {
    int count = bytesOf(stripe);
    int whole = count / 8;
    int at = start + stripe * bytes;
    ByteBuffer.wrap(from, at, count).order(ByteOrder.nativeOrder()).asLongBuffer().get(to, 0, whole);
    Arrays.fill(to, whole, to.length, 0);
    if (whole * 8 < count) {
      byte[] rest = new byte[8];
      System.arraycopy(from, at + whole * 8, rest, 0, count - whole * 8);
      to[whole] = ByteBuffer.wrap(rest).order(ByteOrder.nativeOrder()).getLong();
    }
  }

  /** Writes it. */
  void store(long[] from, byte[] to, int start, int stripe) {
    int count = bytesOf(stripe);
    int whole = count / 8;
    int at = start + stripe * bytes;
    ByteBuffer.wrap(to, at, count).order(ByteOrder.nativeOrder()).asLongBuffer().put(from, 0, whole);
    if (whole * 8 < count) {
      byte[] rest = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(from[whole]).array();
      System.arraycopy(rest, 0, to, at + whole * 8, count - whole * 8);
    }
  }
}
