package io.spindle.codes;

/** A row of octets by their bits: a *plane* has one bit of each octet, and 64 of them are added at a time. */
final class OctetPlanes {
  private final int words; // of a plane
  private final long[] planes; // the bits of lowest weight first

  OctetPlanes(int columns) {
    words = (columns + 63) / 64;
    planes = new long[8 * words];
  }

  /** Adds 1 to the octet of a column. */
  void flip(int column) {
    planes[column / 64] ^= 1L << (column % 64);
  }

  /** Adds 1 to the octets of all columns that have a bit. */
  void add(BitRows from, int row) {
    for (int i = 0; i < words; i++) {
      planes[i] ^= from.bits[row * words + i];
    }
  }

  void add(OctetPlanes other) {
    Rows.add(planes, other.planes);
  }

  /** Bits move up by one, and what falls out is 0x1d, by the polynomial. */
  void multiplyByAlpha() {
    for (int i = 0; i < words; i++) {
      long high = planes[7 * words + i];
      for (int bit = 7; bit > 0; bit--) {
        planes[bit * words + i] = planes[(bit - 1) * words + i];
      }
      planes[i] = high;
      planes[2 * words + i] ^= high;
      planes[3 * words + i] ^= high;
      planes[4 * words + i] ^= high;
    }
  }

  /** The octets of so many columns. */
  int[] octets(int columns) {
    int[] octets = new int[columns];
    for (int column = 0; column < columns; column++) {
      for (int bit = 0; bit < 8; bit++) {
        octets[column] |= (int) (planes[bit * words + column / 64] >>> (column % 64) & 1) << bit;
      }
    }
    return octets;
  }
}
