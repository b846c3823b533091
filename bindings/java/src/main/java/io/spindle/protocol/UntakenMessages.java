package io.spindle.protocol;

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
  /** A line of messages: rings of numbers, so that a message makes no object. */
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
  }

  private final Map<Integer, Line> lines = new HashMap<>();
  private final Line only = new Line(); // under handle 0, which most clients have alone
  private long sent;

  UntakenMessages() {
    lines.put(0, only);
  }

  /** The next message. The handle is that of its flow; 0 where flows are not independent. */
  void sent(int handle, int bytes, long ticket) {
    Line line = handle == 0 ? only : lines.computeIfAbsent(handle, each -> new Line());
    line.add(bytes, ticket, ++sent);
  }

  /** All of the first ones have entered, so many. */
  void entered(long first) {
    for (Line line : lines.values()) {
      while (line.count != 0 && line.numbers[line.first] <= first) {
        line.remove();
      }
    }
  }

  /** So many more have entered, of one line. */
  void taken(long messages) {
    for (long i = 0; i < messages && only.count != 0; i++) {
      only.remove();
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
    } else if (line != only) {
      lines.remove(handle);
    }
  }

  /** The tickets of all but the last ones, of which `unsent` has the handle of each: those stay. In rising order. */
  List<Long> takeAllBut(List<Integer> unsent) {
    Map<Integer, Integer> staying = new HashMap<>();
    for (int handle : unsent) {
      staying.merge(handle, 1, Integer::sum);
    }
    List<Long> tickets = new ArrayList<>();
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
