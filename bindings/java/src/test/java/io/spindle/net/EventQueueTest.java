package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.Code;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.FlushRequest;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.protocol.ClientSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** One thread pushes, several take. */
final class EventQueueTest {
  private static final int EVENTS = 400_000;
  private static final int TAKERS = 4;
  private static final Name DEN = Name.of("den");

  private static Event numbered(int number) {
    return new FlushRequest(DEN, number);
  }

  private static int numberOf(Event event) {
    return (int) ((FlushRequest) event).number();
  }

  private static List<Event> listOf(Event... events) {
    return new ArrayList<>(List.of(events));
  }

  /** What one thread has been given up to the end. */
  private static final class Taker extends Thread {
    final EventQueue queue;
    final int[] numbers = new int[EVENTS];
    int count;
    int ends;

    Taker(EventQueue queue) {
      this.queue = queue;
    }

    @Override
    public void run() {
      try {
        for (Event event = queue.take(ClientSession.NEVER); event != null; event = queue.take(ClientSession.NEVER)) {
          if (event instanceof Disconnected) {
            ends++;
          } else {
            numbers[count++] = numberOf(event);
          }
        }
      } catch (InterruptedException interrupt) {
        interrupt();
      }
    }
  }

  /** Each event goes to one of them, and what one is given is in order. */
  @Test
  void eachEventIsTakenOnce() throws Exception {
    EventQueue queue = new EventQueue(1 << 20, () -> {}, () -> {});
    List<Taker> takers = new ArrayList<>();
    for (int i = 0; i < TAKERS; i++) {
      takers.add(new Taker(queue));
    }
    for (int i = 0; i < EVENTS; ) {
      List<Event> batch = new ArrayList<>();
      for (int left = i % 7 * 400 + 1; left > 0 && i < EVENTS; left--) {
        batch.add(numbered(i++));
      }
      queue.push(batch, 100L * batch.size()); // some batches are merged, and some are not
      if (i > EVENTS / 2 && takers.get(0).getState() == Thread.State.NEW) {
        takers.forEach(Thread::start); // half of it is there already
      }
    }
    queue.push(listOf(new Disconnected(Code.CLOSED_BY_CLIENT, "", new NotTaken(0, true))), 0);
    boolean[] isTaken = new boolean[EVENTS];
    int ends = 0;
    int count = 0;
    for (Taker each : takers) {
      each.join();
      ends += each.ends;
      count += each.count;
      for (int i = 0; i < each.count; i++) {
        assertTrue(i == 0 || each.numbers[i - 1] < each.numbers[i]);
        assertFalse(isTaken[each.numbers[i]]);
        isTaken[each.numbers[i]] = true;
      }
    }
    assertEquals(EVENTS, count);
    assertEquals(1, ends);
    assertTrue(queue.isFinished());
    assertFalse(queue.isFull());
  }

  @Test
  void itIsFullUntilEnoughIsTaken() {
    AtomicInteger rooms = new AtomicInteger();
    EventQueue queue = new EventQueue(300_000, rooms::incrementAndGet, () -> {});
    for (int i = 0; i < 4; i++) {
      queue.push(listOf(numbered(2 * i), numbered(2 * i + 1)), 100_000);
    }
    assertTrue(queue.isFull());
    for (int i = 0; i < 8; i++) {
      assertEquals(i, numberOf(queue.poll()));
      // Two batches are two thirds of the limit: an eighth and more has to be free.
      assertEquals(i >= 3 ? 1 : 0, rooms.get(), "after " + i);
    }
    assertFalse(queue.isFull());
    assertNull(queue.poll());
  }
}
