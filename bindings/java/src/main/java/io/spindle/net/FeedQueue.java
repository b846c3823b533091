package io.spindle.net;

import io.spindle.Event;
import io.spindle.FeedClosed;
import io.spindle.FeedEvent;
import io.spindle.FeedFlow;
import io.spindle.FeedGap;
import io.spindle.FeedOpened;
import io.spindle.FeedPacket;
import io.spindle.FeedWritable;
import io.spindle.protocol.SequenceRanges;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Events of feeds that nobody has asked for yet. Holds no more than a limit: the oldest packets go, and a gap takes their
 * place. What goes stands in front of all that waits, feed by feed: only within a feed is there an order to keep. The
 * messages of one packet stay together: a program gets all of them or the gap. Of FeedFlow and FeedWritable the last of
 * each feed is there.
 */
final class FeedQueue {
  private static final int EVENT_BYTES = 96;

  private static final class Front {
    FeedOpened opened;
    final SequenceRanges gaps = new SequenceRanges();
    FeedClosed closed;
  }

  private final long limitBytes;
  private final ArrayDeque<FeedEvent> waiting = new ArrayDeque<>();
  private long bytes; // of `waiting`
  private final Map<Long, Front> fronts = new LinkedHashMap<>();
  private final Map<Long, FeedFlow> flows = new LinkedHashMap<>();
  private final Set<Long> writable = new LinkedHashSet<>();

  FeedQueue(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  private static long bytesOf(Event event) {
    return EVENT_BYTES + (event instanceof FeedPacket packet ? packet.payload().length : 0);
  }

  void push(List<FeedEvent> events) {
    for (FeedEvent event : events) {
      if (event instanceof FeedFlow flow) {
        flows.put(flow.feed(), flow);
      } else if (event instanceof FeedWritable) {
        writable.add(event.feed());
      } else {
        bytes += bytesOf(event);
        waiting.addLast(event);
      }
    }
    while (bytes > limitBytes) {
      dropOldest();
    }
  }

  private void dropOldest() {
    FeedEvent event = waiting.removeFirst();
    bytes -= bytesOf(event);
    Front front = fronts.computeIfAbsent(event.feed(), each -> new Front());
    if (event instanceof FeedPacket packet) {
      front.gaps.add(packet.sequence(), packet.sequence() + packet.packets() - 1, FeedGap.Cause.SLOW.ordinal());
      while (isNextOf(packet)) {
        bytes -= bytesOf(waiting.removeFirst());
      }
    } else if (event instanceof FeedGap gap) {
      front.gaps.add(gap.first(), gap.first() + gap.count() - 1, gap.cause().ordinal());
    } else if (event instanceof FeedOpened opened) {
      front.opened = opened;
    } else if (event instanceof FeedClosed closed) {
      // Of one that the program has never heard of it need not hear.
      if (front.opened != null) {
        fronts.remove(closed.feed());
      } else {
        front.closed = closed;
      }
    }
  }

  /** Whether what waits first was in the same packet. */
  private boolean isNextOf(FeedEvent event) {
    return event instanceof FeedPacket before
        && waiting.peekFirst() instanceof FeedPacket next
        && next.feed() == before.feed()
        && next.sequence() == before.sequence();
  }

  boolean isEmpty() {
    return waiting.isEmpty() && fronts.isEmpty() && flows.isEmpty() && writable.isEmpty();
  }

  /** Moves events of some `most` bytes to the end of `into`, in order; one at least where there is any. */
  void take(List<Event> into, long most) {
    into.addAll(flows.values());
    flows.clear();
    writable.forEach(feed -> into.add(new FeedWritable(feed)));
    writable.clear();
    fronts.forEach(
        (feed, front) -> {
          if (front.opened != null) {
            into.add(front.opened);
          }
          for (SequenceRanges.Range range : front.gaps.all()) {
            into.add(new FeedGap(feed, range.first(), range.count(), FeedGap.Cause.values()[range.cause()]));
          }
          if (front.closed != null) {
            into.add(front.closed);
          }
        });
    fronts.clear();
    FeedEvent last = null;
    for (long taken = 0; !waiting.isEmpty() && (taken < most || isNextOf(last)); ) {
      last = waiting.removeFirst();
      bytes -= bytesOf(last);
      taken += bytesOf(last);
      into.add(last);
    }
  }
}
