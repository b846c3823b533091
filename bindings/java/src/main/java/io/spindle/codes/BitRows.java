package io.spindle.codes;

import java.util.function.IntConsumer;

/** A matrix of bits. */
final class BitRows {
  private final int words; // of a row
  final long[] bits;

  BitRows(int rows, int columns) {
    words = (columns + 63) / 64;
    bits = new long[rows * words];
  }

  int words() {
    return words;
  }

  boolean has(int row, int column) {
    return (bits[row * words + column / 64] >>> (column % 64) & 1) != 0;
  }

  void flip(int row, int column) {
    bits[row * words + column / 64] ^= 1L << (column % 64);
  }

  void add(int to, int from) {
    for (int i = 0; i < words; i++) {
      bits[to * words + i] ^= bits[from * words + i];
    }
  }

  /** The first column with a bit, or -1. */
  int first(int row) {
    for (int i = 0; i < words; i++) {
      long word = bits[row * words + i];
      if (word != 0) {
        return i * 64 + Long.numberOfTrailingZeros(word);
      }
    }
    return -1;
  }

  void forEach(int row, IntConsumer visit) {
    for (int i = 0; i < words; i++) {
      for (long rest = bits[row * words + i]; rest != 0; rest &= rest - 1) {
        visit.accept(i * 64 + Long.numberOfTrailingZeros(rest));
      }
    }
  }
}
