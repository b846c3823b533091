package io.spindle.codes;

import java.util.Arrays;

/** Numbers, without an object for each. */
final class IntList {
  int[] values;
  int size;

  IntList() {
    this(16);
  }

  IntList(int room) {
    values = new int[room];
  }

  void add(int value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, Math.max(16, 2 * size));
    }
    values[size++] = value;
  }

  int get(int index) {
    return values[index];
  }

  int removeLast() {
    return values[--size];
  }

  void clear() {
    size = 0;
  }

  int[] toArray() {
    return Arrays.copyOf(values, size);
  }
}
