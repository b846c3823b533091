package io.spindle.protocol;

import java.util.ArrayDeque;

/**
 * How much the source of a feed may send, and what it keeps meanwhile. The daemon gives room in bytes; the last message
 * that it is used for may exceed it. Where there is none a message is refused, or, with `dropsOldest`, kept until there is:
 * as many bytes as the most room that there ever was, and the oldest go.
 */
final class FeedSourceWindow {
  /** What becomes of a message. */
  enum Answer {
    SEND,
    KEEP,
    REFUSE
  }

  private static final long ROOM_MAX = 1L << 40;
  private static final long KEPT_LEAST = 64 << 10; // before a daemon has given any room

  private final boolean dropsOldest;
  private boolean isOpen;
  private boolean isWanted;
  private long room;
  private long roomMost;
  private final ArrayDeque<byte[]> kept = new ArrayDeque<>();
  private long keptBytes;
  private long dropped;

  FeedSourceWindow(boolean dropsOldest) {
    this.dropsOldest = dropsOldest;
  }

  private static long bounded(long bytes) {
    return bytes < 0 || bytes > ROOM_MAX ? ROOM_MAX : bytes;
  }

  /** A daemon has opened the feed. */
  void open(long bytes) {
    isOpen = true;
    room = bounded(bytes);
    roomMost = Math.max(roomMost, room);
  }

  /** There is none any more. */
  void stop() {
    isOpen = false;
  }

  void addRoom(long bytes) {
    room = Math.min(room + bounded(bytes), ROOM_MAX);
    roomMost = Math.max(roomMost, room);
  }

  private boolean maySend() {
    return isOpen && room > 0;
  }

  /** What becomes of a message of so many bytes: it is sent by the caller, who gives it to `keep`, or it is refused. */
  Answer offer(int bytes) {
    if (maySend() && kept.isEmpty()) {
      room -= bytes;
      return Answer.SEND;
    }
    isWanted |= !dropsOldest;
    return dropsOldest ? Answer.KEEP : Answer.REFUSE;
  }

  void keep(byte[] message) {
    keptBytes += message.length;
    kept.addLast(message);
    long most = roomMost > 0 ? roomMost : KEPT_LEAST;
    while (kept.size() > 1 && keptBytes > most) {
      keptBytes -= kept.removeFirst().length;
      dropped++;
    }
  }

  /** The next of those that were kept, where there is room: it is sent now. Otherwise null. */
  byte[] next() {
    if (!maySend() || kept.isEmpty()) {
      return null;
    }
    byte[] message = kept.removeFirst();
    room -= message.length;
    keptBytes -= message.length;
    return message;
  }

  /** Whether there is room again since a message was refused; once. */
  boolean takeWritable() {
    boolean isDue = maySend() && isWanted;
    if (isDue) {
      isWanted = false;
    }
    return isDue;
  }

  /** Messages that were kept and dropped. */
  long dropped() {
    return dropped;
  }
}
