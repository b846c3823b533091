package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.Event;
import io.spindle.FeedEvent;
import io.spindle.FeedGap;
import io.spindle.FeedPacket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What waits for a program that does not take it. */
final class FeedQueueTest {
  /** Messages of one packet of feed 1. */
  private static List<FeedEvent> bundle(long sequence, int messages) {
    List<FeedEvent> events = new ArrayList<>();
    for (int i = 0; i < messages; i++) {
      events.add(new FeedPacket(1, sequence, 1, new byte[1000]));
    }
    return events;
  }

  private static String shown(FeedQueue queue, long most) {
    List<Event> events = new ArrayList<>();
    queue.take(events, most);
    StringBuilder text = new StringBuilder();
    for (Event event : events) {
      if (event instanceof FeedPacket packet) {
        text.append(" p").append(packet.sequence());
      } else if (event instanceof FeedGap gap) {
        text.append(" ").append(gap.cause()).append(gap.first()).append('+').append(gap.count());
      }
    }
    return text.toString().trim();
  }

  @Test
  void allMessagesOfAPacketAreTakenTogether() {
    FeedQueue queue = new FeedQueue(8_000);
    queue.push(bundle(0, 3));
    queue.push(bundle(1, 2));
    assertEquals("p0 p0 p0", shown(queue, 1));
    queue.push(bundle(2, 6));
    assertEquals("SLOW1+1 p2 p2 p2 p2 p2 p2", shown(queue, Long.MAX_VALUE));
    assertTrue(queue.isEmpty());
  }

  @Test
  void allMessagesOfAPacketAreLostTogether() {
    FeedQueue queue = new FeedQueue(6_000);
    queue.push(bundle(0, 3));
    queue.push(bundle(1, 3));
    assertEquals("SLOW0+1 p1 p1 p1", shown(queue, Long.MAX_VALUE));
  }
}
