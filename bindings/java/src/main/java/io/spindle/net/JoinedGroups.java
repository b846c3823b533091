package io.spindle.net;

import io.spindle.Event;
import io.spindle.GroupView;
import io.spindle.Name;
import io.spindle.Reconnected;
import io.spindle.RequestFailed;
import io.spindle.ViewForm;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The groups that a client is in, or has asked to be. Each join that was asked for ends in one of two ways: it is refused,
 * or there is a last view of the group. A client that asks to leave and to join again before it has heard of either has
 * asked twice.
 */
final class JoinedGroups {
  private final Map<Name, Integer> count = new HashMap<>();

  void asked(Name group) {
    count.merge(group, 1, Integer::sum);
  }

  /** What an event says of them. `asked`: the groups that a new session has asked to join, of which it is in none. */
  void note(Event event, Set<Name> asked) {
    if (event instanceof Reconnected again && !again.resumed()) {
      count.clear();
      asked.forEach(group -> count.put(group, 1));
    } else if (event instanceof GroupView view && view.form() == ViewForm.FAREWELL) {
      ended(view.group());
    }
  }

  void noteRefused(RequestFailed failed) {
    if (failed.request() == RequestFailed.Request.JOIN) {
      ended(failed.group());
    }
  }

  boolean isEmpty() {
    return count.isEmpty();
  }

  List<Name> names() {
    return List.copyOf(count.keySet());
  }

  private void ended(Name group) {
    count.computeIfPresent(group, (name, times) -> times == 1 ? null : times - 1);
  }
}
