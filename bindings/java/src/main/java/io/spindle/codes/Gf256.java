package io.spindle.codes;

/**
 * GF(2^8) by the polynomial x^8 + x^4 + x^3 + x^2 + 1 (RFC 6330, section 5.7). To add is to xor, and so is to subtract.
 */
final class Gf256 {
  private static final int[] EXP = new int[510]; // alpha^i, twice over
  private static final int[] LOG = new int[256]; // of 0: nothing

  static {
    int value = 1;
    for (int i = 0; i < 255; i++) {
      EXP[i] = value;
      EXP[i + 255] = value;
      LOG[value] = i;
      value = value << 1 ^ (value >= 128 ? 0x11d : 0);
    }
  }

  private Gf256() {}

  static int power(int exponent) {
    return EXP[exponent % 255];
  }

  static int multiply(int a, int b) {
    return a == 0 || b == 0 ? 0 : EXP[LOG[a] + LOG[b]];
  }

  /** Of what is not 0. */
  static int invert(int a) {
    return EXP[255 - LOG[a]];
  }
}
