package io.spindle.protocol;

import io.spindle.Name;

/** Which names there can be, as docs/wire-format.md has it. */
public final class Names {
  static final int GROUP_BYTES_MAX = 255;
  private static final int PLAIN_BYTES_MAX = 64;

  private Names() {}

  private static boolean isPlain(byte[] bytes, int from, int to) {
    if (to <= from || to - from > PLAIN_BYTES_MAX) {
      return false;
    }
    for (int i = from; i < to; i++) {
      if (bytes[i] <= ' ' || bytes[i] > '~' || bytes[i] == '#') {
        return false;
      }
    }
    return true;
  }

  /** Of a client or a daemon. */
  public static boolean isClient(Name name) {
    byte[] bytes = name.toBytes();
    return isPlain(bytes, 0, bytes.length);
  }

  static boolean isDaemon(byte[] bytes, int from, int to) {
    return isPlain(bytes, from, to);
  }

  public static boolean isGroup(Name name) {
    return name.size() != 0 && name.size() <= GROUP_BYTES_MAX && !name.isPrivate();
  }

  static boolean isGroup(byte[] bytes, int from, int to) {
    return to > from && to - from <= GROUP_BYTES_MAX && bytes[from] != '#';
  }

  /** "#client#daemon". */
  static boolean isPrivate(byte[] bytes, int from, int to) {
    if (to <= from || bytes[from] != '#') {
      return false;
    }
    int separator = from + 1;
    while (separator < to && bytes[separator] != '#') {
      separator++;
    }
    return separator < to && isPlain(bytes, from + 1, separator) && isPlain(bytes, separator + 1, to);
  }

  static boolean isPrivate(Name name) {
    return isPrivate(name.toBytes(), 0, name.size());
  }

  /** What a message can be sent to. */
  static boolean isDestination(byte[] bytes, int from, int to) {
    return isGroup(bytes, from, to) || isPrivate(bytes, from, to);
  }

  static boolean isDestination(Name name) {
    return isDestination(name.toBytes(), 0, name.size());
  }

  /** The daemon's part of a private name. */
  static Name daemonOf(Name name) {
    int at = name.size();
    while (at > 0 && name.byteAt(at - 1) != '#') {
      at--;
    }
    return Name.of(name.toBytes(), at, name.size());
  }
}
