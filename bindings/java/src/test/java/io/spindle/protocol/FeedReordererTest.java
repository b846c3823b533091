package io.spindle.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class FeedReordererTest {
  private static final int FIRST = FeedNews.Packet.FIRST;
  private static final int LAST = FeedNews.Packet.LAST;
  private static final int WHOLE = FeedNews.Packet.WHOLE;

  /** Messages as "first+count", gaps in parentheses. */
  private static String take(FeedReorderer feed) {
    List<String> told = new ArrayList<>();
    for (FeedReorderer.Output each : feed.takeOutput()) {
      String range = each.first + "+" + each.count;
      told.add(each.isGap() ? "(" + range + ")" : range);
    }
    return String.join(" ", told);
  }

  @Test
  void whatIsMissingIsWaitedFor() {
    FeedReorderer feed = new FeedReorderer(true, 100, true);
    feed.packet(0, 0, WHOLE, new byte[1]);
    feed.packet(1, 2, WHOLE, new byte[1]);
    assertEquals("0+1", take(feed));
    assertEquals(101, feed.nextDeadline());
    feed.packet(50, 1, WHOLE, new byte[1]);
    assertEquals("1+1 2+1", take(feed));
    assertEquals(ClientSession.NEVER, feed.nextDeadline());
    feed.packet(60, 4, WHOLE, new byte[1]);
    feed.handleTime(160);
    assertEquals("(3+1) 4+1", take(feed));
    feed.packet(170, 3, WHOLE, new byte[1]);
    assertEquals("", take(feed), "it comes too late");
  }

  @Test
  void aMessageIsWholeOrMissing() {
    for (boolean isOrdered : new boolean[] {true, false}) {
      FeedReorderer feed = new FeedReorderer(isOrdered, 100, true);
      feed.packet(0, 0, FIRST, new byte[2]);
      feed.packet(0, 1, 0, new byte[3]);
      assertEquals("", take(feed));
      feed.packet(0, 2, LAST, new byte[4]);
      FeedReorderer.Output message = feed.takeOutput().get(0);
      assertEquals(9, message.payload.length);
      assertEquals(3, message.count);
      feed.packet(0, 3, FIRST, new byte[2]);
      feed.gap(4, 1, FeedReorderer.LOST);
      feed.packet(0, 5, LAST, new byte[2]);
      feed.packet(0, 6, WHOLE, new byte[2]);
      feed.end();
      long missing = 0;
      for (FeedReorderer.Output each : feed.takeOutput()) {
        missing += each.isGap() ? each.count : 0;
      }
      assertEquals(3, missing);
    }
  }

  /** Who comes to an open feed begins behind all that it has passed over. */
  @Test
  void beginsBehindWhatItHasPassedOver() {
    for (boolean ordered : new boolean[] {true, false}) {
      FeedReorderer feed = new FeedReorderer(ordered, 10, false);
      feed.packet(0, 1, 0, new byte[1]);
      feed.packet(0, 3, 0, new byte[1]);
      feed.packet(0, 4, LAST, new byte[1]);
      feed.packet(0, 2, FIRST, new byte[1]);
      feed.gap(2, 1, 0);
      assertTrue(feed.takeOutput().isEmpty());
      feed.packet(0, 5, FIRST | LAST, new byte[1]);
      List<FeedReorderer.Output> told = feed.takeOutput();
      assertEquals(1, told.size());
      assertEquals(5, told.get(0).first);
    }
  }

  /** Whatever comes in whatever order, each sequence is in one message or in one gap. */
  @Test
  void eachSequenceIsToldOnce() {
    Random random = new Random(1);
    for (int round = 0; round < 2000; round++) {
      FeedReorderer feed = new FeedReorderer(random.nextBoolean(), 10, true);
      List<Integer> flags = new ArrayList<>();
      while (flags.size() < 40) {
        int length = 1 + random.nextInt(4);
        for (int i = 0; i < length; i++) {
          flags.add((i == 0 ? FIRST : 0) | (i == length - 1 ? LAST : 0));
        }
      }
      int count = flags.size();
      List<FeedReorderer.Output> told = new ArrayList<>();
      for (int step = 0; step < 120; step++) {
        int sequence = Math.min(count - 1, Math.max(0, step / 3 + random.nextInt(9) - 4));
        if (random.nextInt(8) == 0) {
          feed.gap(sequence, 1 + random.nextInt(Math.min(3, count - sequence)), random.nextInt(2));
        } else {
          feed.packet(step, sequence, flags.get(sequence), new byte[1]);
        }
        feed.handleTime(step);
        told.addAll(feed.takeOutput());
      }
      feed.end();
      told.addAll(feed.takeOutput());
      int[] times = new int[count];
      for (FeedReorderer.Output each : told) {
        for (long i = each.first; i < each.first + each.count; i++) {
          times[(int) i]++;
        }
      }
      int last = count - 1;
      while (last >= 0 && times[last] == 0) {
        last--;
      }
      for (int i = 0; i <= last; i++) {
        assertTrue(times[i] == 1, "round " + round + ": " + i + " is told " + times[i] + " times");
      }
    }
  }
}
