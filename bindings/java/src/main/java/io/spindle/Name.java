package io.spindle;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The name of a group, a client or a daemon: bytes, which are compared as they are. Text is taken as UTF-8. A private
 * name, "#client#daemon", stands for one client.
 */
public final class Name implements Comparable<Name> {
  private final byte[] bytes;
  private final int hash;
  private String text; // made when it is asked for

  private Name(byte[] bytes) {
    this.bytes = bytes;
    this.hash = Arrays.hashCode(bytes);
  }

  /**
   * A name from text.
   *
   * @param text is encoded as UTF-8
   * @return the name
   */
  public static Name of(String text) {
    return new Name(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * A name of any bytes.
   *
   * @param bytes are copied
   * @return the name
   */
  public static Name of(byte[] bytes) {
    return new Name(bytes.clone());
  }

  /**
   * A name of some of an array's bytes.
   *
   * @param bytes are copied
   * @param from the first
   * @param to behind the last
   * @return the name
   */
  public static Name of(byte[] bytes, int from, int to) {
    return new Name(Arrays.copyOfRange(bytes, from, to));
  }

  /**
   * How long it is.
   *
   * @return in bytes
   */
  public int size() {
    return bytes.length;
  }

  /**
   * One of its bytes.
   *
   * @param index from 0
   * @return the byte
   */
  public byte byteAt(int index) {
    return bytes[index];
  }

  /**
   * Its bytes.
   *
   * @return a copy
   */
  public byte[] toBytes() {
    return bytes.clone();
  }

  /**
   * Puts its bytes into an array that has room for them.
   *
   * @param into the array
   * @param at where the first goes
   */
  public void copyTo(byte[] into, int at) {
    System.arraycopy(bytes, 0, into, at, bytes.length);
  }

  /**
   * Whether it stands for one client, and not for a group.
   *
   * @return whether it begins with '#'
   */
  public boolean isPrivate() {
    return bytes.length != 0 && bytes[0] == '#';
  }

  /** Byte by byte, without signs, as daemons compare. */
  @Override
  public int compareTo(Name other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Name name && hash == name.hash && Arrays.equals(bytes, name.bytes);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /** As text. What is no UTF-8 is replaced, so that this may be the text of several names. */
  @Override
  public String toString() {
    String known = text;
    if (known == null) {
      known = new String(bytes, StandardCharsets.UTF_8);
      text = known;
    }
    return known;
  }
}
