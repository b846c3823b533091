package io.spindle.protocol;

import io.spindle.Destinations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How much of each flow a client may send before the daemon has let earlier messages of it enter the network. A window
 * belongs to a handle: where the handle gets other destinations, what was sent to the former ones goes on counting.
 */
final class FlowWindows {
  static final int NO_HANDLE = -1;

  private long[] outstanding = new long[0]; // by handle: bytes sent and not known to be admitted
  private final Map<Integer, List<Destinations>> wanted = new TreeMap<>();

  private long outstanding(int handle) {
    return handle >= 0 && handle < outstanding.length ? outstanding[handle] : 0;
  }

  boolean hasRoom(int handle) {
    return outstanding(handle) < Frames.FLOW_WINDOW_BYTES;
  }

  /** Whether the daemon may still hold messages of the flow, as far as it has told. */
  boolean mayBeHeld(int handle) {
    return outstanding(handle) >= Frames.FLOW_TOLD_BYTES;
  }

  void sent(int handle, int bytes) {
    if (handle >= outstanding.length) {
      outstanding = Arrays.copyOf(outstanding, Math.max(handle + 1, 2 * outstanding.length));
    }
    outstanding[handle] += bytes;
  }

  /** False where that is more than was sent. */
  boolean admitted(int handle, long bytes) {
    if (bytes > outstanding(handle)) {
      return false;
    }
    outstanding[handle] -= bytes;
    return true;
  }

  /** What was sent to a daemon is no concern of the next one's. */
  void forgetSent() {
    outstanding = new long[0];
  }

  /** Somebody waits for half of the window to be free. NO_HANDLE: for anything else. */
  void want(int handle, Destinations destinations) {
    List<Destinations> all = wanted.computeIfAbsent(handle, each -> new ArrayList<>());
    if (!all.contains(destinations)) {
      all.add(destinations);
    }
  }

  /** The destinations for which waiting is over, of those wanted under the handle. */
  List<Destinations> takeReady(int handle) {
    if (!wanted.containsKey(handle) || outstanding(handle) > Frames.FLOW_WINDOW_BYTES / 2) {
      return List.of();
    }
    return wanted.remove(handle);
  }

  List<Destinations> takeAllReady() {
    List<Destinations> ready = new ArrayList<>();
    for (int handle : List.copyOf(wanted.keySet())) {
      ready.addAll(takeReady(handle));
    }
    return ready;
  }
}
