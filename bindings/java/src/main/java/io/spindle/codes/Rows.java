package io.spindle.codes;

/**
 * Arithmetic of RFC 6330, section 5.7, on rows of octets that lie in words of eight: which octet of a word comes first
 * is all the same. Rows are of one length.
 */
final class Rows {
  private static final long LOW = 0x0101010101010101L;
  private static final long ALL_BUT_HIGH = 0x7f7f7f7f7f7f7f7fL;

  private Rows() {}

  /** Each octet times alpha: bits move up by one, and what falls out is 0x1d. */
  private static long timesAlpha(long octets) {
    long carries = octets >>> 7 & LOW;
    return (octets & ALL_BUT_HIGH) << 1 ^ carries ^ carries << 2 ^ carries << 3 ^ carries << 4;
  }

  /** to = from */
  static void set(long[] to, long[] from) {
    System.arraycopy(from, 0, to, 0, to.length);
  }

  /** to += from */
  static void add(long[] to, long[] from) {
    for (int i = 0; i < to.length; i++) {
      to[i] ^= from[i];
    }
  }

  /** to += a + b */
  static void add(long[] to, long[] a, long[] b) {
    for (int i = 0; i < to.length; i++) {
      to[i] ^= a[i] ^ b[i];
    }
  }

  /** to += a + b + c + d */
  static void add(long[] to, long[] a, long[] b, long[] c, long[] d) {
    for (int i = 0; i < to.length; i++) {
      to[i] ^= a[i] ^ b[i] ^ c[i] ^ d[i];
    }
  }

  /** to += factor * from */
  static void addMultiple(long[] to, long[] from, int factor) {
    for (int i = 0; i < to.length; i++) {
      to[i] ^= times(from[i], factor);
    }
  }

  /** row *= factor */
  static void multiply(long[] row, int factor) {
    for (int i = 0; i < row.length; i++) {
      row[i] = times(row[i], factor);
    }
  }

  private static long times(long octets, int factor) {
    long product = 0;
    long power = octets;
    for (int rest = factor; rest != 0; rest >>>= 1) {
      product ^= power & -(long) (rest & 1);
      power = timesAlpha(power);
    }
    return product;
  }

  /** row = alpha * row + more, then a += row and b += row. */
  static void accumulate(long[] row, long[] more, long[] a, long[] b) {
    for (int i = 0; i < row.length; i++) {
      long next = timesAlpha(row[i]) ^ more[i];
      row[i] = next;
      a[i] ^= next;
      b[i] ^= next;
    }
  }
}
