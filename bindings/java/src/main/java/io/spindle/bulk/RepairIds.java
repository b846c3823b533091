package io.spindle.bulk;

import java.util.HashMap;
import java.util.Map;

/**
 * The ids of repair symbols of one sender: K + 2,048 n + s, with s from the sender's place and n from a random start
 * on, so that two senders make the same symbol only by accident. Where 24 bits have no more n it goes on from 0, and
 * where all n were there with the next s: no id comes twice before nearly all were there.
 */
final class RepairIds {
  private static final int PLACES = 2048;
  private static final int STARTS_MAX = 4096;

  private final int place;
  private final int start;
  private final Map<Integer, Integer> made = new HashMap<>(); // by block

  /** Drawn at random. */
  RepairIds(int place, int start) {
    this.place = Integer.remainderUnsigned(place, PLACES);
    this.start = Integer.remainderUnsigned(start, STARTS_MAX);
  }

  /** Of a block of so many source symbols: the id of the next symbol, whoever it is for. */
  int next(int block, int sourceSymbols) {
    int before = made.merge(block, 1, Integer::sum) - 1;
    int rounds = (BulkFrames.ESI_MAX + 1 - sourceSymbols) / PLACES;
    int n = (start + before) % rounds;
    int s = (place + before / rounds) % PLACES;
    return sourceSymbols + PLACES * n + s;
  }
}
