package io.spindle.codes;

/**
 * What RFC 6330 makes of the number of source symbols of a block: its parameters (section 5.3.3.3), and of which
 * intermediate symbols each encoding symbol is the sum. An encoding symbol is named by its internal symbol id (ISI)
 * here: source symbols, then padding, then repair symbols.
 */
public final class BlockCode {
  /** So many source symbols a block has at most (K'_max). */
  public static final int SYMBOLS_MAX = 56_403;

  // Table 1 of section 5.3.5.2: f[1] to f[30].
  private static final int[] DEGREES = {
    5243, 529531, 704294, 791675, 844104, 879057, 904023, 922747, 937311, 948962, 958494, 966438, 973160, 978921,
    983914, 988283, 992138, 995565, 998631, 1001391, 1003887, 1006157, 1008229, 1010129, 1011876, 1013490, 1014983,
    1016370, 1017662, 1048576
  };

  final int sourceSymbols; // K
  final int symbols; // K': with padding
  final int systematicIndex; // J
  final int ldpcSymbols; // S
  final int hdpcSymbols; // H
  final int ltSymbols; // W
  final int intermediate; // L
  final int inactive; // P: permanently inactive ones
  final int inactivePrime; // P1: the smallest prime that is no less
  final int ltOnly; // B: LT symbols that are no LDPC symbols

  /** `sourceSymbols`: 1 to SYMBOLS_MAX. */
  BlockCode(int sourceSymbols) {
    int row = Tables.rowOf(sourceSymbols);
    this.sourceSymbols = sourceSymbols;
    symbols = Tables.value(row, 0);
    systematicIndex = Tables.value(row, 1);
    ldpcSymbols = Tables.value(row, 2);
    hdpcSymbols = Tables.value(row, 3);
    ltSymbols = Tables.value(row, 4);
    intermediate = symbols + ldpcSymbols + hdpcSymbols;
    inactive = intermediate - ltSymbols;
    int prime = inactive;
    while (!isPrime(prime)) {
      prime++;
    }
    inactivePrime = prime;
    ltOnly = ltSymbols - ldpcSymbols;
  }

  private static boolean isPrime(int number) {
    for (int i = 2; i * i <= number; i++) {
      if (number % i == 0) {
        return false;
      }
    }
    return number > 1;
  }

  /** The random generator of section 5.3.5.1: a number below `bound`. */
  static int random(int y, int i, int bound) {
    int value = 0;
    for (int table = 0; table < 4; table++) {
      value ^= Tables.random(table, (y >>> (8 * table)) + i & 0xff);
    }
    return Integer.remainderUnsigned(value, bound);
  }

  /** The degree of section 5.3.5.2, of `v` below 2^20. */
  static int degree(int v, int ltSymbols) {
    int d = 1;
    while (v >= DEGREES[d - 1]) {
      d++;
    }
    return Math.min(d, ltSymbols - 2);
  }

  /** The ISI of an encoding symbol by its id (ESI), as it is sent. */
  int isiOf(int esi) {
    return esi < sourceSymbols ? esi : esi + (symbols - sourceSymbols);
  }

  /**
   * Appends the numbers of the intermediate symbols that add up to the encoding symbol (section 5.3.5.3), by the tuple
   * of section 5.3.5.4.
   */
  void appendTerms(int isi, IntList terms) {
    int seed = 53_591 + systematicIndex * 997;
    seed += seed % 2 == 0 ? 1 : 0;
    final int y = 10_267 * (systematicIndex + 1) + isi * seed;
    final int d = degree(random(y, 0, 1 << 20), ltSymbols);
    final int a = 1 + random(y, 1, ltSymbols - 1);
    final int a1 = 1 + random(isi, 4, inactivePrime - 1);
    final int d1 = d < 4 ? 2 + random(isi, 3, 2) : 2;
    int b = random(y, 2, ltSymbols);
    for (int i = 0; i < d; i++) {
      terms.add(b);
      b = (b + a) % ltSymbols;
    }
    int b1 = random(isi, 5, inactivePrime);
    for (int i = 0; i < d1; i++) {
      while (b1 >= inactive) {
        b1 = (b1 + a1) % inactivePrime;
      }
      terms.add(ltSymbols + b1);
      b1 = (b1 + a1) % inactivePrime;
    }
  }
}
