package io.spindle.store;

import java.util.Map;
import java.util.TreeMap;

/** Parts of a content, from their first bytes to behind their last ones. */
final class Ranges {
  private final TreeMap<Long, Long> ends = new TreeMap<>(); // by where each begins; none touches another

  void add(long start, long end) {
    long from = start;
    long to = end;
    for (Map.Entry<Long, Long> near = ends.floorEntry(to);
        near != null && near.getValue() >= from;
        near = ends.floorEntry(to)) {
      from = Math.min(from, near.getKey());
      to = Math.max(to, near.getValue());
      ends.remove(near.getKey());
    }
    ends.put(from, to);
  }

  void clear() {
    ends.clear();
  }

  /** In ascending order. */
  Map<Long, Long> all() {
    return ends;
  }
}
