package io.spindle;

/**
 * Names a bulk channel for good: a daemon that has started anew counts from 1 again, but in another incarnation.
 *
 * @param daemon of the client that offers the content
 * @param incarnation which of that daemon's lives
 * @param number of the offers of that daemon in that life, from 1
 */
public record ChannelId(String daemon, long incarnation, long number) implements Comparable<ChannelId> {
  @Override
  public int compareTo(ChannelId other) {
    int order = daemon.compareTo(other.daemon);
    order = order != 0 ? order : Long.compareUnsigned(incarnation, other.incarnation);
    return order != 0 ? order : Long.compareUnsigned(number, other.number);
  }

  /** "number@daemon", as people read and type it. */
  @Override
  public String toString() {
    return Long.toUnsignedString(number) + "@" + daemon;
  }
}
