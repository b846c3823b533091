package io.spindle.protocol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Puts the packets of a feed together into messages, in order or as they come, and says what is missing. From the first
 * packet that it is given on each sequence is in one message or in one gap, and never in both: a message of which a packet
 * is missing is part of the gap. A feed that is new begins with packet 0; of another, who listens gets what comes from the
 * first message that begins.
 *
 * <p>Ordered: what comes behind a packet that is missing waits for it, each packet no longer than the deadline; then what is
 * missing is a gap. What the daemon says never comes is one at once. What comes of a gap later is dropped. As they come: a
 * message is given when it is whole, and a gap when the daemon says so.
 */
final class FeedReorderer {
  static final int LOST = 0; // causes of gaps, by their numbers on the wire
  private static final int NO_GAP = -1;
  // What may wait in all; what is missing before it is given up then.
  private static final int BYTES_MAX = 4 << 20;
  // Stretches of packets that may be missing at a time where packets are given as they come.
  private static final int HOLES_MAX = 4096;
  // What a packet that waits takes beside its payload, about.
  private static final int PACKET_BYTES = 128;

  /** A message, or packets that are missing. */
  static final class Output {
    final long first;
    long count; // of packets
    byte[] payload;
    int gap = NO_GAP; // the cause
    boolean isBundle; // the payload is several messages

    Output(long first, long count) {
      this.first = first;
      this.count = count;
    }

    boolean isGap() {
      return gap != NO_GAP;
    }
  }

  private record Packet(int flags, byte[] payload) {
    boolean begins() {
      return (flags & FeedNews.Packet.FIRST) != 0;
    }

    boolean ends() {
      return (flags & FeedNews.Packet.LAST) != 0;
    }

    boolean isBundle() {
      return flags == FeedNews.Packet.BUNDLE;
    }
  }

  private record Arrival(long at, long sequence) {}

  private record Hole(long first, long last) {}

  private final boolean isOrdered;
  private final long deadline; // ns
  private boolean hasBegun;
  private long next; // all before it are settled
  private long end; // none from there on has come
  private final SequenceRanges settled = new SequenceRanges(); // of those from `next` on; ordered: that are missing
  private final TreeMap<Long, Packet> packets = new TreeMap<>();
  private int bytes;
  private List<Output> output = new ArrayList<>();
  private long gapEnd; // of the last gap that was given: what is behind it
  private int gapCause = LOST;

  // Ordered.
  private long hole; // the first that is neither settled nor there
  private long scanned; // the message at `next` is there up to this, and does not end before
  private int scannedBytes; // of it
  private final ArrayDeque<Arrival> arrivals = new ArrayDeque<>(); // of those behind `hole`, and of others

  FeedReorderer(boolean isOrdered, long deadline, boolean isNew) {
    this.isOrdered = isOrdered;
    this.deadline = deadline;
    this.hasBegun = isNew;
  }

  // --- What comes ---

  private boolean begin(long sequence, boolean beginsMessage) {
    if (hasBegun) {
      return true;
    }
    // Nothing would be told of packets behind it that have come, and were passed over.
    if (!beginsMessage || sequence < end) {
      end = Math.max(end, sequence + 1);
      return false;
    }
    next = sequence;
    hole = sequence;
    scanned = sequence;
    end = sequence;
    hasBegun = true;
    return true;
  }

  /** Whether it was given, or is known to be missing. */
  private boolean isSettled(long sequence) {
    return sequence < next || settled.contains(sequence);
  }

  void packet(long now, long sequence, int flags, byte[] payload) {
    Packet packet = new Packet(flags, payload);
    if (!begin(sequence, packet.begins()) || isSettled(sequence) || packets.containsKey(sequence)) {
      return;
    }
    end = Math.max(end, sequence + 1);
    bytes += payload.length + PACKET_BYTES;
    packets.put(sequence, packet);
    if (isOrdered) {
      arrivals.addLast(new Arrival(now, sequence));
      advance();
      while (bytes > BYTES_MAX && !arrivals.isEmpty()) {
        giveUpBefore(arrivals.peekFirst().sequence);
      }
    } else {
      giveIfWhole(sequence);
      holdToLimits();
    }
  }

  void gap(long first, long count, int cause) {
    long last = first + count - 1;
    if (!begin(first, true) || last < next) {
      return;
    }
    first = Math.max(first, next);
    end = Math.max(end, last + 1);
    for (Hole each : holes(first, last)) {
      if (isOrdered) {
        settled.add(each.first, each.last, cause);
      } else {
        lose(each.first, each.last, cause);
      }
    }
    if (isOrdered) {
      advance();
    } else {
      holdToLimits();
    }
  }

  void handleTime(long now) {
    while (nextDeadline() <= now) {
      giveUpBefore(arrivals.peekFirst().sequence);
    }
  }

  long nextDeadline() {
    return arrivals.isEmpty() ? ClientSession.NEVER : ClientSession.later(arrivals.peekFirst().at, deadline);
  }

  /** Nothing more comes: nothing waits any more. */
  void end() {
    if (!hasBegun) {
      return;
    }
    if (isOrdered) {
      giveUpBefore(end);
      // What is left has no end.
      if (!packets.isEmpty()) {
        drop(next, end - 1, LOST);
      }
      next = end;
      hole = end;
      scanned = end;
      arrivals.clear();
      return;
    }
    while (!packets.isEmpty()) {
      breakMessage(packets.firstKey(), LOST);
    }
    if (next < end) {
      for (Hole each : holes(next, end - 1)) {
        lose(each.first, each.last, LOST);
      }
    }
  }

  boolean hasOutput() {
    return !output.isEmpty();
  }

  List<Output> takeOutput() {
    List<Output> taken = output;
    output = new ArrayList<>();
    return taken;
  }

  // --- What waits ---

  private void forget(long sequence) {
    bytes -= packets.remove(sequence).payload.length + PACKET_BYTES;
  }

  /** What is neither settled nor there. */
  private List<Hole> holes(long first, long last) {
    List<Hole> found = new ArrayList<>();
    settled.forEachMissing(
        first,
        last,
        (from, to) -> {
          long at = from;
          for (Map.Entry<Long, Packet> packet = packets.ceilingEntry(at);
              packet != null && packet.getKey() <= to;
              packet = packets.ceilingEntry(at)) {
            if (at < packet.getKey()) {
              found.add(new Hole(at, packet.getKey() - 1));
            }
            at = packet.getKey() + 1;
          }
          if (at <= to) {
            found.add(new Hole(at, to));
          }
        });
    return found;
  }

  private void giveMessage(long first, long last) {
    Output message = new Output(first, last - first + 1);
    message.isBundle = packets.get(first).isBundle();
    int size = 0;
    for (Packet each : packets.subMap(first, true, last, true).values()) {
      size += each.payload.length;
    }
    byte[] payload = packets.get(first).payload;
    if (size != payload.length) {
      payload = new byte[size];
    }
    int at = 0;
    for (long sequence = first; sequence <= last; sequence++) {
      byte[] part = packets.get(sequence).payload;
      if (part != payload) {
        System.arraycopy(part, 0, payload, at, part.length);
      }
      at += part.length;
      forget(sequence);
    }
    message.payload = payload;
    output.add(message);
  }

  private void giveGap(long first, long last, int cause) {
    if (last >= gapEnd) {
      gapEnd = last + 1;
      gapCause = cause;
    }
    Output before = output.isEmpty() ? null : output.get(output.size() - 1);
    if (before != null && before.gap == cause && before.first + before.count == first) {
      before.count += last - first + 1;
      return;
    }
    Output gap = new Output(first, last - first + 1);
    gap.gap = cause;
    output.add(gap);
  }

  /** The packets from `first` to `last`, which are there, are of no use. */
  private void drop(long first, long last, int cause) {
    for (long sequence : List.copyOf(packets.subMap(first, true, last, true).keySet())) {
      forget(sequence);
    }
    giveGap(first, last, cause);
  }

  /** Why the packet is of no use, whose message has begun before it with what is missing. */
  private int causeBefore(long sequence) {
    if (gapEnd == sequence) {
      return gapCause;
    }
    SequenceRanges.Range missing = settled.find(sequence - 1);
    return missing == null ? LOST : missing.cause();
  }

  // --- Ordered ---

  private void advance() {
    noteHole();
    while (giveNext()) {
      continue;
    }
    settled.forgetBefore(next);
    // Who has nothing missing before it does not wait.
    while (!arrivals.isEmpty() && arrivals.peekFirst().sequence < hole) {
      arrivals.removeFirst();
    }
  }

  private void noteHole() {
    hole = Math.max(hole, next);
    while (true) {
      SequenceRanges.Range missing = null;
      if (packets.containsKey(hole)) {
        hole++;
      } else if ((missing = settled.find(hole)) != null) {
        hole = missing.last() + 1;
      } else {
        return;
      }
    }
  }

  /** Gives what is next, or finds that it has to wait. */
  private boolean giveNext() {
    if (scanned <= next) {
      scanned = next;
      scannedBytes = 0;
    }
    SequenceRanges.Range missing = settled.find(next);
    if (missing != null) {
      giveGap(next, missing.last(), missing.cause());
      next = missing.last() + 1;
      return true;
    }
    Packet first = packets.get(next);
    if (first == null) {
      return false;
    }
    if (!first.begins()) {
      drop(next, next, causeBefore(next)); // with the gap that it goes with
      next++;
      return true;
    }
    for (Packet packet = packets.get(scanned); packet != null; packet = packets.get(scanned)) {
      boolean isOther = scanned != next && packet.begins();
      scannedBytes += packet.payload.length;
      if (isOther || scannedBytes > Frames.FEED_MESSAGE_BYTES_MAX) {
        // A message without an end, or one that is too long: the daemon is wrong.
        long last = isOther ? scanned - 1 : scanned;
        drop(next, last, LOST);
        next = last + 1;
        return true;
      }
      if (packet.ends()) {
        long last = scanned;
        giveMessage(next, last);
        next = last + 1;
        return true;
      }
      scanned++;
    }
    missing = settled.find(scanned);
    if (missing == null) {
      return false;
    }
    drop(next, scanned - 1, missing.cause());
    next = scanned;
    return true;
  }

  /** Does not wait for anything before `sequence` any more. */
  private void giveUpBefore(long sequence) {
    if (sequence > hole) {
      for (Hole each : holes(hole, sequence - 1)) {
        settled.add(each.first, each.last, LOST);
      }
    }
    advance();
  }

  // --- As they come ---

  private void settle(long first, long last, int cause) {
    settled.add(first, last, cause);
    if (settled.front().first() > next) {
      return;
    }
    next = settled.front().last() + 1;
    gapEnd = next;
    gapCause = settled.front().cause();
    settled.forgetBefore(next);
  }

  private void giveIfWhole(long sequence) {
    long first = sequence;
    while (!packets.get(first).begins()) {
      if (first == 0) {
        breakMessage(sequence, LOST);
        return;
      }
      if (isSettled(first - 1)) {
        breakMessage(sequence, causeBefore(first));
        return;
      }
      if (!packets.containsKey(first - 1)) {
        return;
      }
      first--;
      if (packets.get(first).ends()) {
        breakMessage(sequence, LOST);
        return;
      }
    }
    long last = sequence;
    while (!packets.get(last).ends()) {
      if (isSettled(last + 1)) {
        breakMessage(sequence, LOST);
        return;
      }
      if (!packets.containsKey(last + 1)) {
        return;
      }
      last++;
      if (packets.get(last).begins()) {
        breakMessage(sequence, LOST);
        return;
      }
    }
    int size = 0;
    for (Packet each : packets.subMap(first, true, last, true).values()) {
      size += each.payload.length;
    }
    if (size > Frames.FEED_MESSAGE_BYTES_MAX) {
      breakMessage(sequence, LOST);
      return;
    }
    giveMessage(first, last);
    settle(first, last, LOST);
  }

  private void breakMessage(long sequence, int cause) {
    long first = sequence;
    while (!packets.get(first).begins()) {
      Packet before = packets.get(first - 1);
      if (before == null || before.ends()) {
        break;
      }
      first--;
    }
    long last = sequence;
    while (!packets.get(last).ends()) {
      Packet behind = packets.get(last + 1);
      if (behind == null || behind.begins()) {
        break;
      }
      last++;
    }
    drop(first, last, cause);
    settle(first, last, cause);
  }

  private void lose(long first, long last, int cause) {
    giveGap(first, last, cause);
    settle(first, last, cause);
    // What goes with what is missing.
    if (first != 0) {
      Packet before = packets.get(first - 1);
      if (before != null && !before.ends()) {
        breakMessage(first - 1, cause);
      }
    }
    Packet behind = packets.get(last + 1);
    if (behind != null && !behind.begins()) {
      breakMessage(last + 1, cause);
    }
  }

  private void holdToLimits() {
    while (bytes > BYTES_MAX) {
      breakMessage(packets.firstKey(), LOST);
    }
    while (settled.size() > HOLES_MAX) {
      final long first = next;
      final long last = settled.front().first() - 1;
      while (!packets.isEmpty() && packets.firstKey() <= last) {
        breakMessage(packets.firstKey(), LOST);
      }
      for (Hole each : holes(first, last)) {
        lose(each.first, each.last, LOST);
      }
    }
  }
}
