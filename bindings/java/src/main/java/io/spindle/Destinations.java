package io.spindle;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * Where a message goes: 1 to 1,000 names of groups or private names. Whoever is reached by several of them gets it once.
 * A program that sends to the same ones often keeps the object. Names are checked where it is used.
 */
public final class Destinations {
  private final List<Name> names;
  private final byte[] key; // each name behind a byte of length; null where one is too long for that
  private final int hash;

  private Destinations(List<Name> names) {
    this.names = names;
    this.key = pack(names);
    this.hash = Arrays.hashCode(key);
  }

  private static byte[] pack(List<Name> names) {
    int size = 0;
    for (Name name : names) {
      if (name.size() > 255) {
        return null;
      }
      size += 1 + name.size();
    }
    byte[] key = new byte[size];
    int at = 0;
    for (Name name : names) {
      key[at] = (byte) name.size();
      name.copyTo(key, at + 1);
      at += 1 + name.size();
    }
    return key;
  }

  /**
   * One group, or one client.
   *
   * @param name of a group, or a private name
   * @return the destination
   */
  public static Destinations of(String name) {
    return new Destinations(List.of(Name.of(name)));
  }

  /**
   * Several by text.
   *
   * @param names of groups, and private names
   * @return the destinations
   */
  public static Destinations of(String... names) {
    return new Destinations(Arrays.stream(names).map(Name::of).toList());
  }

  /**
   * Several names.
   *
   * @param names of groups, and private names
   * @return the destinations
   */
  public static Destinations of(Name... names) {
    return new Destinations(List.of(names));
  }

  /**
   * Several names.
   *
   * @param names of groups, and private names
   * @return the destinations
   */
  public static Destinations of(Collection<Name> names) {
    return new Destinations(List.copyOf(names));
  }

  /**
   * The names as they were given.
   *
   * @return an unmodifiable list
   */
  public List<Name> names() {
    return names;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Destinations that
        && hash == that.hash
        && Arrays.equals(key, that.key)
        && (key != null || names.equals(that.names));
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    return names.toString();
  }
}
