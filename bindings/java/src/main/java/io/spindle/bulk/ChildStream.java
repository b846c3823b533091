package io.spindle.bulk;

import io.spindle.protocol.ContentLayout;

/**
 * What a holder sends to one child that is behind: what a need lacks, once, and blocks in ascending order. Of one of
 * which the child has nothing its source symbols, in order; of one that has begun as many repair symbols as it lacks.
 * Who has as many as there are source symbols and could not decode, as happens to one block in a hundred, gets two
 * more; who has enough of a block gets none.
 */
final class ChildStream {
  // Grants are advice of our own daemon; what they add up to has a bound all the same.
  static final long CREDIT_MAX = 1L << 40;
  // So many symbols beyond its source symbols give a block with a probability of 99.9999 % (RFC 6330, section 5.8).
  private static final int MORE_SYMBOLS = 2;
  /** Of a wish: any repair symbol. */
  static final int ANY_REPAIR = -1;

  /** `source`: its ESI, or ANY_REPAIR. */
  record Wish(int block, int source) {
    boolean isRepair() {
      return source == ANY_REPAIR;
    }
  }

  private final Need need;
  private long credit; // symbols that it may still be sent
  private int block; // that it is at: those before were sent,
  private int sent; // and so many symbols of this one

  ChildStream(Need need) {
    this.need = need;
  }

  void handleGrant(long symbols) {
    credit = Math.min(credit + Math.min(symbols, CREDIT_MAX), CREDIT_MAX);
  }

  boolean lacks(int of) {
    return !need.complete.contains(of);
  }

  long credit() {
    return credit;
  }

  /** Runs and begun blocks of its need. */
  int needEntries() {
    return need.complete.runs() + need.begun();
  }

  private Wish wishFrom(int from, int sentOfIt, ContentLayout layout, BlockSet available, int end) {
    int last = Math.min(end, layout.blocks());
    int at = from;
    int count = sentOfIt;
    for (; ; at++, count = 0) {
      int present = available.firstPresent(need.complete.firstMissing(at));
      if (present >= last) {
        return null;
      }
      count = present != at ? 0 : count;
      at = present;
      if (need.complete.contains(at)) {
        continue;
      }
      int symbols = layout.symbolsOf(at);
      int held = need.heldOf(at);
      if (held == 0 && count < symbols) {
        return new Wish(at, count);
      }
      if (held != 0 && held != Need.ENOUGH && count < (held < symbols ? symbols - held : MORE_SYMBOLS)) {
        return new Wish(at, ANY_REPAIR);
      }
    }
  }

  /** What is to be sent next, with or without credit, of blocks below `end` that can be sent. Null: that was all. */
  Wish next(ContentLayout layout, BlockSet available, int end) {
    return wishFrom(block, sent, layout, available, end);
  }

  /** What is to be sent behind the block of `wish`. */
  Wish nextAfter(Wish wish, ContentLayout layout, BlockSet available, int end) {
    return wishFrom(wish.block + 1, 0, layout, available, end);
  }

  /** The wish of the last call of `next` was fulfilled. Says whether it was the first one of its block. */
  boolean noteSent(Wish wish) {
    credit--;
    boolean isFirst = wish.block != block || sent == 0;
    if (wish.block != block) {
      sent = 0;
    }
    block = wish.block;
    sent++;
    return isFirst;
  }
}
