package io.spindle.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What it says of a client without independent flows, beside a list of all messages. */
final class UntakenMessagesTest {
  @Test
  void runsAreWhatTheyStandFor() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      UntakenMessages messages = new UntakenMessages();
      ArrayDeque<Long> all = new ArrayDeque<>();
      long ticket = 0;
      long sent = 0;
      for (int i = 0; i < 300; i++) {
        switch (random.nextInt(8)) {
          case 0 -> ticket = random.nextInt(5);
          case 1, 2 -> ticket++;
          case 3 -> {
            int taken = random.nextInt(6);
            messages.taken(taken);
            for (int k = 0; k < taken && !all.isEmpty(); k++) {
              all.removeFirst();
            }
          }
          case 4 -> {
            long first = Math.max(0, sent - random.nextInt(20));
            messages.entered(first);
            while (sent - all.size() < first) {
              all.removeFirst();
            }
          }
          default -> {}
        }
        messages.sent(ticket);
        all.addLast(ticket);
        sent++;
      }
      int staying = random.nextInt(all.size() + 1);
      List<Long> expected = new ArrayList<>(all).subList(0, all.size() - staying);
      Collections.sort(expected);
      assertEquals(expected, messages.takeAllBut(Collections.nCopies(staying, 0)), "seed " + seed);
      assertEquals(staying, messages.takeAllBut(List.of()).size());
    }
  }
}
