package io.spindle.protocol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which messages of a client are not known to have entered the network. They enter in the order sent, or, with independent
 * flows, those under one handle do. Each has a ticket, a number of the caller's choice. Bytes are those of
 * Frames.flowBytes().
 */
final class UntakenMessages {
  /** Messages whose tickets are all the same, or rise by one. */
  private static final class Run {
    private long ticket; // of the first
    private long step;
    private long count = 1;

    Run(long ticket) {
      this.ticket = ticket;
    }

    /** Whether the next message is one of them. */
    boolean add(long next) {
      long difference = next - ticket;
      if (count == 1 && (difference == 0 || difference == 1)) {
        step = difference;
      } else if (count == 1 || difference != step * count) {
        return false;
      }
      count++;
      return true;
    }

    void remove(long messages) {
      ticket += step * messages;
      count -= messages;
    }
  }

  /** The line of a flow: rings of numbers, so that a message makes no object. Its window bounds it. */
  private static final class Line {
    private long[] tickets = new long[16];
    private long[] numbers = new long[16];
    private int[] bytes = new int[16];
    private int first;
    private int count;

    void add(int size, long ticket, long number) {
      if (count == tickets.length) {
        tickets = grown(tickets);
        numbers = grown(numbers);
        int[] more = new int[2 * count];
        for (int i = 0; i < count; i++) {
          more[i] = bytes[(first + i) & (count - 1)];
        }
        bytes = more;
        first = 0;
      }
      int at = (first + count++) & (tickets.length - 1);
      tickets[at] = ticket;
      numbers[at] = number;
      bytes[at] = size;
    }

    private long[] grown(long[] ring) {
      long[] more = new long[2 * count];
      for (int i = 0; i < count; i++) {
        more[i] = ring[(first + i) & (count - 1)];
      }
      return more;
    }

    void remove() {
      first = (first + 1) & (tickets.length - 1);
      count--;
    }

    long ticket(int index) {
      return tickets[(first + index) & (tickets.length - 1)];
    }

    /** How many of them have no higher number. */
    int waitingAmong(long number) {
      int found = 0;
      while (found < count && numbers[(first + found) & (numbers.length - 1)] <= number) {
        found++;
      }
      return found;
    }
  }

  // Of a client without independent flows, which may have a million in the time until the daemon tells: as runs they take no
  // more memory than a few do.
  private final ArrayDeque<Run> only = new ArrayDeque<>();
  private long waiting; // messages of `only`

  private final Map<Integer, Line> lines = new HashMap<>(); // with independent flows, by handle
  private long sent;

  /** The next message of a client without independent flows. */
  void sent(long ticket) {
    sent++;
    waiting++;
    Run last = only.peekLast();
    if (last == null || !last.add(ticket)) {
      only.addLast(new Run(ticket));
    }
  }

  /** The next message of a flow. */
  void sent(int handle, int bytes, long ticket) {
    lines.computeIfAbsent(handle, each -> new Line()).add(bytes, ticket, ++sent);
  }

  /** All of the first ones have entered, so many. */
  void entered(long first) {
    taken(first - (sent - waiting));
    for (Line line : lines.values()) {
      while (line.count != 0 && line.numbers[line.first] <= first) {
        line.remove();
      }
    }
  }

  /** So many more have entered, of a client without independent flows. */
  void taken(long messages) {
    for (long left = Math.min(messages, waiting); left > 0; ) {
      Run run = only.peekFirst();
      long count = Math.min(left, run.count);
      run.remove(count);
      if (run.count == 0) {
        only.removeFirst();
      }
      waiting -= count;
      left -= count;
    }
  }

  /** Of a flow: so many bytes more have. */
  void admitted(int handle, long bytes) {
    Line line = lines.get(handle);
    if (line == null) {
      return;
    }
    while (line.count != 0 && line.bytes[line.first] <= bytes) {
      bytes -= line.bytes[line.first];
      line.remove();
    }
    if (line.count != 0) {
      line.bytes[line.first] -= (int) bytes;
    } else {
      lines.remove(handle);
    }
  }

  /** How many of the first ones, so many, are not known to have entered. */
  long waitingAmong(long first) {
    long count = Math.max(0, first - (sent - waiting));
    for (Line line : lines.values()) {
      count += line.waitingAmong(first);
    }
    return count;
  }

  /** The tickets of all but the last ones, of which `unsent` has the handle of each: those stay. In rising order. */
  List<Long> takeAllBut(List<Integer> unsent) {
    Map<Integer, Integer> staying = new HashMap<>();
    for (int handle : unsent) {
      staying.merge(handle, 1, Integer::sum);
    }
    List<Long> tickets = new ArrayList<>();
    for (long left = waiting - staying.getOrDefault(0, 0); left > 0; left--) {
      tickets.add(only.peekFirst().ticket);
      taken(1);
    }
    for (Map.Entry<Integer, Line> each : lines.entrySet()) {
      Line line = each.getValue();
      for (int left = line.count - staying.getOrDefault(each.getKey(), 0); left > 0; left--) {
        tickets.add(line.ticket(0));
        line.remove();
      }
    }
    Collections.sort(tickets);
    return tickets;
  }
}
