package io.spindle.protocol;

import java.util.Map;
import java.util.TreeMap;

/**
 * Sequences of a feed that are missing, and why. Ranges that touch each other are one, and where one of them is `slow` all
 * of it is: so there are no more of them than there are sequences between them.
 */
public final class SequenceRanges {
  public record Range(long first, long last, int cause) {
    public long count() {
      return last - first + 1;
    }
  }

  /** For ranges from `first` to `last`. */
  interface Visit {
    void range(long first, long last);
  }

  private final TreeMap<Long, Range> ranges = new TreeMap<>(); // by the first

  /** Some of these may be there. */
  public void add(long first, long last, int cause) {
    Map.Entry<Long, Range> before = ranges.floorEntry(first);
    long at = before != null && before.getValue().last + 1 >= first ? before.getKey() : first;
    for (Map.Entry<Long, Range> each = ranges.ceilingEntry(at);
        each != null && each.getKey() <= last + 1;
        each = ranges.ceilingEntry(at)) {
      Range old = ranges.remove(each.getKey());
      first = Math.min(first, old.first);
      last = Math.max(last, old.last);
      cause = Math.max(cause, old.cause);
    }
    ranges.put(first, new Range(first, last, cause));
  }

  /** What is there below `sequence` is not any more. */
  void forgetBefore(long sequence) {
    while (!ranges.isEmpty() && ranges.firstKey() < sequence) {
      Range old = ranges.pollFirstEntry().getValue();
      if (old.last >= sequence) {
        ranges.put(sequence, new Range(sequence, old.last, old.cause));
      }
    }
  }

  /** The one that has `sequence` in it, or null. */
  Range find(long sequence) {
    Map.Entry<Long, Range> found = ranges.floorEntry(sequence);
    return found == null || found.getValue().last < sequence ? null : found.getValue();
  }

  boolean contains(long sequence) {
    return find(sequence) != null;
  }

  /** For those from `first` to `last` that are not there. */
  void forEachMissing(long first, long last, Visit visit) {
    for (long at = first; at <= last; ) {
      Range range = find(at);
      if (range != null) {
        at = range.last + 1;
        continue;
      }
      Long next = ranges.higherKey(at);
      long end = next == null ? last : Math.min(last, next - 1);
      visit.range(at, end);
      at = end + 1;
    }
  }

  int size() {
    return ranges.size();
  }

  Range front() {
    return ranges.firstEntry().getValue();
  }

  public Iterable<Range> all() {
    return ranges.values();
  }
}
