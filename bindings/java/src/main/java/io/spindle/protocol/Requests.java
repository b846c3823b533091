package io.spindle.protocol;

import io.spindle.Answers;
import io.spindle.Code;
import io.spindle.Event;
import io.spindle.GroupView;
import io.spindle.Membership;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.ViewForm;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Requests of a client that wait for answers. It knows which message answers which request, and who has still to answer.
 *
 * <p>Whose answers a request to all members waits for is settled where the client gets the request itself: those who are
 * members there get it in the same view. It therefore follows the views of groups that such requests go to. The list that
 * it begins with is the first view of the group, or, where that has been before, the answer to a `view_request` that goes
 * in front of the request.
 */
public final class Requests {
  private static final int UNWANTED_MAX = 1024;

  /** `group`: where those of all its members are waited for, otherwise null; `accepted`: with this message. */
  record Wanted(int answers, Name group, boolean withoutSelf, long accepted) {}

  record Outcome(long number, Code error, Answers answers) {}

  private static final class Request {
    final long number;
    final Wanted wanted;
    boolean isPlaced; // for all members: it has come, so that it is known who they are
    final List<Message> answers = new ArrayList<>();
    final Set<Name> answered = new HashSet<>();
    final Set<Name> missing = new TreeSet<>();

    Request(long number, Wanted wanted) {
      this.number = number;
      this.wanted = wanted;
    }

    boolean isForAll() {
      return wanted.group != null;
    }

    boolean isComplete() {
      return isForAll() ? isPlaced && missing.isEmpty() : answers.size() == wanted.answers;
    }
  }

  private record Listed(int place, GroupView view) {}

  private long last;
  private final Map<Long, Request> requests = new LinkedHashMap<>();
  private final Map<Name, Membership> groups = new HashMap<>(); // that requests to all members have gone to
  private final Set<Name> joined = new HashSet<>(); // that have shown a view
  private final Map<Integer, Name> asked = new HashMap<>(); // for lists of the groups, in open requests
  private List<Listed> lists = new ArrayList<>(); // that have come
  private List<Outcome> outcomes = new ArrayList<>();
  /** Requests that have ended before the client has got them, which it does not want; the last ones. */
  private final TreeSet<Long> unwanted = new TreeSet<>();

  /** Numbers are counted from here: no other client, or former life, of the same name is to have the same ones. */
  void countFrom(long first) {
    last = first;
  }

  long nextNumber() {
    return ++last;
  }

  static byte[] toHeader(long number) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(number).array();
  }

  private static long fromHeader(byte[] header) {
    return ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  void add(long number, Wanted wanted) {
    if (wanted.group != null) {
      groups.computeIfAbsent(wanted.group, each -> new Membership());
    }
    requests.put(number, new Request(number, wanted));
  }

  /** Whether a list of the group's members is to be asked for, under the number of the request that asks for it. */
  boolean needsList(Name group) {
    return joined.contains(group) && !groups.containsKey(group);
  }

  void expectList(Name group, int request) {
    groups.computeIfAbsent(group, each -> new Membership());
    asked.put(request, group);
  }

  /** The reply to a request, behind `place` events: the list, or null where it is refused. Whether it was asked for here. */
  boolean takeList(int request, int place, GroupView view) {
    Name group = asked.remove(request);
    if (group == null) {
      return false;
    }
    if (view != null) {
      lists.add(new Listed(place, view));
    } else {
      noteLeft(group); // the daemon knows the client as no member
    }
    return true;
  }

  /** Takes what concerns requests from the events behind the first `from`. `self` is the client's private name. */
  void settle(List<Event> events, int from, Name self) {
    int kept = from;
    int list = 0;
    int count = events.size();
    for (int i = from; i <= count; i++) {
      for (; list < lists.size() && (lists.get(list).place <= i || i == count); list++) {
        noteView(lists.get(list).view);
      }
      if (i == count) {
        break;
      }
      Event event = events.get(i);
      if (event instanceof GroupView view) {
        if (view.myIndex().isPresent()) {
          joined.add(view.group());
        }
        noteView(view);
      } else if (event instanceof ReceivedMessage message && message.hasHeaders() && take(message, self)) {
        continue;
      }
      events.set(kept++, event);
    }
    events.subList(kept, count).clear();
    lists = new ArrayList<>();
  }

  /** Whether there is something to settle beside messages and views. */
  boolean isSettlingDue() {
    return !lists.isEmpty() || !outcomes.isEmpty();
  }

  private void noteView(GroupView view) {
    if (view.form() == ViewForm.FAREWELL) {
      noteLeft(view.group());
      return;
    }
    Membership members = groups.get(view.group());
    if (members == null) {
      return;
    }
    members.apply(view);
    finishThose(
        each -> {
          if (!each.isPlaced || !each.wanted.group.equals(view.group())) {
            return false;
          }
          view.left().forEach(each.missing::remove);
          view.apart().forEach(each.missing::remove);
          view.joined().forEach(each.missing::remove);
          return each.isComplete();
        },
        null);
  }

  private void noteLeft(Name group) {
    joined.remove(group);
    if (groups.remove(group) != null) {
      finishThose(each -> group.equals(each.wanted.group), Code.NOT_A_MEMBER);
    }
  }

  /** Whether the message is for the requests only. */
  private boolean take(ReceivedMessage message, Name self) {
    byte[] answered = message.findHeader(HeaderBlock.ANSWER_KEY);
    if (answered != null) {
      takeAnswer(message, answered);
      return true; // one that comes late is of no use to anybody
    }
    byte[] number = message.requestNumber();
    if (number == null || !message.sender().equals(self)) {
      return false;
    }
    long own = fromHeader(number);
    if (unwanted.remove(own)) {
      return true;
    }
    Request request = requests.get(own);
    if (request == null || !request.isForAll() || request.isPlaced) {
      return false;
    }
    if (!place(request, self)) {
      finish(request, Code.NOT_A_MEMBER);
    } else if (request.isComplete()) {
      finish(request, null);
    }
    return request.wanted.withoutSelf;
  }

  private boolean place(Request request, Name self) {
    Membership group = groups.get(request.wanted.group);
    if (group == null || !group.isCurrent()) {
      return false;
    }
    request.isPlaced = true;
    request.missing.addAll(group.members());
    if (request.wanted.withoutSelf) {
      request.missing.remove(self);
    }
    request.answers.removeIf(answer -> !request.missing.remove(answer.sender()));
    return true;
  }

  private void takeAnswer(ReceivedMessage message, byte[] number) {
    Request request = number.length == HeaderBlock.REQUEST_NUMBER_BYTES ? requests.get(fromHeader(number)) : null;
    if (request == null) {
      return;
    }
    boolean isFirst =
        request.isPlaced ? request.missing.remove(message.sender()) : request.answered.add(message.sender());
    if (!isFirst) {
      return;
    }
    request.answers.add(message);
    if (request.isComplete()) {
      finish(request, null);
    }
  }

  private void finish(Request request, Code error) {
    requests.remove(request.number);
    outcomes.add(outcomeOf(request, error));
  }

  private void finishThose(Predicate<Request> isOver, Code error) {
    for (Iterator<Request> at = requests.values().iterator(); at.hasNext(); ) {
      Request each = at.next();
      if (isOver.test(each)) {
        at.remove();
        outcomes.add(outcomeOf(each, error));
      }
    }
  }

  private Outcome outcomeOf(Request request, Code error) {
    if (request.wanted.withoutSelf && !request.isPlaced) {
      unwanted.add(request.number);
      if (unwanted.size() > UNWANTED_MAX) {
        unwanted.pollFirst();
      }
    }
    return new Outcome(
        request.number, error, new Answers(List.copyOf(request.answers), List.copyOf(request.missing)));
  }

  /** It is not waited for any more. Null where it has ended. */
  public Answers end(long number) {
    Request request = requests.remove(number);
    return request == null ? null : outcomeOf(request, null).answers;
  }

  void endAll(Code error) {
    finishThose(each -> true, error);
  }

  /** A new session: messages beyond the first `written` are sent in it, what became of the others is not known. */
  void startAnew(long written) {
    finishThose(each -> each.wanted.accepted <= written, Code.CONNECTION_LOST);
    joined.clear();
    lists.clear();
    unwanted.clear();
    groups.clear();
    for (Request each : requests.values()) {
      if (each.isForAll()) {
        groups.put(each.wanted.group, new Membership());
      }
    }
  }

  List<Outcome> takeOutcomes() {
    List<Outcome> taken = outcomes;
    outcomes = new ArrayList<>();
    return taken;
  }
}
