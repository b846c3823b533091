package io.spindle.net;

import io.spindle.Answers;
import io.spindle.Code;
import io.spindle.Destinations;
import io.spindle.GroupView;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.NotTakenException;
import io.spindle.RequestException;
import io.spindle.SpindleException;
import io.spindle.protocol.ClientEngine;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.RequestWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Calls that wait for something that the daemon does. Each ends once: with what it waits for, at its deadline, or with the
 * connection. What ends futures is kept until somebody who holds no lock runs it, as futures run what depends on them. The
 * owner guards all functions.
 */
final class PendingCalls {
  private static final int SEND_BYTES = 256; // of memory beside the payload of a send that waits, about

  /** One that waits. */
  abstract static class Call {
    final long deadline;
    final CompletableFuture<?> future;

    Call(long deadline, CompletableFuture<?> future) {
      this.deadline = deadline;
      this.future = future;
    }

    /** What ends it without what it waits for. */
    Runnable end(Code code) {
      return () -> future.completeExceptionally(new SpindleException(code));
    }
  }

  private final class Join extends Call {
    int request;
    final Name group;
    final CompletableFuture<GroupView> view;

    Join(int request, Name group, long deadline, CompletableFuture<GroupView> view) {
      super(deadline, view);
      this.request = request;
      this.group = group;
      this.view = view;
    }
  }

  private final class Confirm extends Call {
    final int request;
    final long accepted;
    final long unknown; // messages of former sessions
    final CompletableFuture<Void> done;

    Confirm(int request, long accepted, long unknown, long deadline, CompletableFuture<Void> done) {
      super(deadline, done);
      this.request = request;
      this.accepted = accepted;
      this.unknown = unknown;
      this.done = done;
    }

    /** Says what it knows, whatever ends it. */
    @Override
    Runnable end(Code code) {
      return end(code, engine.writer().notTakenOf(accepted));
    }

    Runnable end(Code code, NotTaken ofThisSession) {
      NotTaken lost = new NotTaken(ofThisSession.messages() + unknown, ofThisSession.exact() && unknown == 0);
      return lost.isNothing()
          ? () -> done.complete(null)
          : () -> done.completeExceptionally(new NotTakenException(code, lost));
    }
  }

  private final class Request extends Call {
    final long number;
    final CompletableFuture<Answers> answers;

    Request(long number, long deadline, CompletableFuture<Answers> answers) {
      super(deadline, answers);
      this.number = number;
      this.answers = answers;
    }

    @Override
    Runnable end(Code code) {
      Answers found = engine.requests().end(number);
      return () -> answers.completeExceptionally(new RequestException(code, found == null ? Answers.NONE : found));
    }
  }

  /** Waits until there is room, and sends then, where `attempt` is there. WOULD_BLOCK from that: it goes on waiting. */
  final class Room extends Call {
    final Destinations groups;
    final Supplier<Code> attempt;
    final long bytes; // that are kept for it
    final boolean endsWithIt;

    Room(
        Destinations groups,
        Supplier<Code> attempt,
        long bytes,
        long deadline,
        CompletableFuture<?> sent,
        boolean endsWithIt) {
      super(deadline, sent);
      this.groups = groups;
      this.attempt = attempt;
      this.bytes = bytes;
      this.endsWithIt = endsWithIt;
    }
  }

  private final ClientEngine engine;
  private final List<Join> joins = new ArrayList<>();
  private final List<Confirm> confirms = new ArrayList<>();
  private final List<Request> requests = new ArrayList<>();
  private final ArrayDeque<Room> rooms = new ArrayDeque<>();
  private int sends; // of `rooms`, those that send
  private long sendBytes; // that are kept for these
  private List<Runnable> done = new ArrayList<>();

  /** The engine tells what is not confirmed, and which answers a request has got that ends at its deadline. */
  PendingCalls(ClientEngine engine) {
    this.engine = engine;
  }

  /** Waits for the view with which the client has joined the group, by the request of that number. */
  Call addJoin(int request, Name group, long deadline, CompletableFuture<GroupView> future) {
    Join call = new Join(request, group, deadline, future);
    joins.add(call);
    return call;
  }

  /**
   * Waits until the messages that were accepted so far have entered. What has become unknown, and the program has not
   * been told of so far, counts as not taken.
   */
  Call addConfirm(int request, long deadline, CompletableFuture<Void> future) {
    RequestWriter writer = engine.writer();
    Confirm call = new Confirm(request, writer.accepted(), writer.untoldUnknown(), deadline, future);
    confirms.add(call);
    return call;
  }

  /** Waits for the answers to the request. */
  Call addRequest(long number, long deadline, CompletableFuture<Answers> future) {
    Request call = new Request(number, deadline, future);
    requests.add(call);
    return call;
  }

  /** Waits until a message to the groups may be sent. */
  Call addWritable(Destinations groups, long deadline, CompletableFuture<Void> future) {
    Room call = new Room(groups, null, 0, deadline, future, true);
    rooms.addLast(call);
    return call;
  }

  /** Sends when there is room; `bytes` are kept until then; `endsWithIt`: the future ends when that is done. */
  Call addSend(
      Destinations groups,
      Supplier<Code> attempt,
      long bytes,
      long deadline,
      CompletableFuture<?> future,
      boolean endsWithIt) {
    Room call = new Room(groups, attempt, SEND_BYTES + bytes, deadline, future, endsWithIt);
    rooms.addLast(call);
    sends++;
    sendBytes += call.bytes;
    return call;
  }

  /** Memory, about, of what waits to be sent. */
  long sendBytes() {
    return sendBytes;
  }

  private void noteGone(Room room) {
    if (room.attempt != null) {
      sends--;
      sendBytes -= room.bytes;
    }
  }

  /** Whether a message to the groups has to wait for others that were to be sent before. */
  boolean hasSendsBefore(Destinations groups, boolean isIndependent) {
    if (sends == 0 || !isIndependent) {
      return sends != 0;
    }
    return rooms.stream().anyMatch(each -> each.attempt != null && each.groups.equals(groups));
  }

  /** The call is not waited for any more. Whether those that wait for room behind it may go. */
  boolean forget(Call call) {
    joins.remove(call);
    confirms.remove(call);
    if (requests.remove(call)) {
      engine.requests().end(((Request) call).number);
    }
    boolean hasWaited = rooms.remove(call);
    if (hasWaited) {
      noteGone((Room) call);
    }
    return hasWaited;
  }

  // What happens.

  void noteView(GroupView view, Name member) {
    if (joins.isEmpty() || !view.joined().contains(member)) {
      return;
    }
    int request = firstJoin(view.group());
    joins.removeIf(
        join -> {
          boolean isIt = join.request == request;
          if (isIt) {
            done.add(() -> join.view.complete(view));
          }
          return isIt;
        });
  }

  /** Of several requests for one group the first is it, and others are refused. 0: there is none. */
  private int firstJoin(Name group) {
    return joins.stream().filter(join -> join.group.equals(group)).mapToInt(join -> join.request).findFirst().orElse(0);
  }

  /** Whether somebody waits for the request. */
  boolean noteRefused(int request, Code code) {
    return endThose(joins, join -> join.request == request, code);
  }

  /** The same of a join that there was a good reply for. */
  boolean noteJoinRefused(Name group, Code code) {
    return noteRefused(firstJoin(group), code);
  }

  /** There is a new session, which has asked anew for each group that the client is to be in, and once. */
  void beginAnew() {
    joins.forEach(join -> join.request = engine.writer().pendingJoin(join.group));
    endThose(joins, join -> join.request == 0, Code.CONNECTION_LOST); // they were left, and nobody has asked anew
    confirms.removeIf(
        confirm -> {
          Long messages = engine.writer().endedConfirm(confirm.request);
          if (messages != null) {
            done.add(confirm.end(Code.CONNECTION_LOST, new NotTaken(messages, false)));
          }
          return messages != null;
        });
  }

  void noteConfirmed(int request) {
    confirms.removeIf(
        confirm -> {
          boolean isIt = confirm.request == request;
          if (isIt) {
            done.add(confirm.end(Code.CONNECTION_LOST, new NotTaken(0, true)));
          }
          return isIt;
        });
  }

  /** `code`: null where all answers are there. */
  void noteAnswered(long number, Code code, Answers answers) {
    requests.removeIf(
        request -> {
          boolean isIt = request.number == number;
          if (isIt && code == null) {
            done.add(() -> request.answers.complete(answers));
          } else if (isIt) {
            done.add(() -> request.answers.completeExceptionally(new RequestException(code, answers)));
          }
          return isIt;
        });
  }

  /** There may be room: sends what waits, in order, but that a flow without room holds up nothing but itself. */
  void noteRoom(Predicate<Destinations> hasRoom, boolean isIndependent) {
    List<Destinations> full = new ArrayList<>();
    for (Iterator<Room> at = rooms.iterator(); at.hasNext(); ) {
      Room room = at.next();
      if (room.future.isDone()) {
        // The program has cancelled it, and is about to say so.
        at.remove();
        noteGone(room);
        continue;
      }
      boolean isBlocked = isIndependent ? full.contains(room.groups) : !full.isEmpty();
      if (isBlocked || !hasRoom.test(room.groups)) {
        full.add(room.groups);
        continue;
      }
      Code code = room.attempt == null ? null : room.attempt.get();
      if (code == Code.WOULD_BLOCK || code == Code.FLUSHING) {
        full.add(room.groups);
        continue;
      }
      at.remove();
      noteGone(room);
      if (code != null) {
        done.add(room.end(code));
      } else if (room.endsWithIt) {
        done.add(() -> room.future.complete(null));
      }
    }
  }

  private <T extends Call> boolean endThose(Iterable<T> calls, Predicate<T> isOver, Code code) {
    boolean hasFound = false;
    for (Iterator<T> at = calls.iterator(); at.hasNext(); ) {
      T call = at.next();
      if (isOver.test(call)) {
        at.remove();
        if (call instanceof Room room) {
          noteGone(room);
        }
        done.add(call.end(code));
        hasFound = true;
      }
    }
    return hasFound;
  }

  /** Time has passed. Whether those that wait for room behind one that has ended may go. */
  boolean expire(long now) {
    endThose(joins, call -> call.deadline <= now, Code.TIMED_OUT);
    endThose(confirms, call -> call.deadline <= now, Code.TIMED_OUT);
    endThose(requests, call -> call.deadline <= now, Code.TIMED_OUT);
    return endThose(rooms, call -> call.deadline <= now, Code.TIMED_OUT);
  }

  /** The connection has ended. Requests have been told by the engine. */
  void end(Code code) {
    endThose(joins, call -> true, code);
    endThose(confirms, call -> true, code);
    endThose(rooms, call -> true, Code.NOT_CONNECTED);
  }

  /** The same of requests, where the engine will tell of none any more. */
  void endRequests(Code code) {
    endThose(requests, call -> true, code);
  }

  boolean isEmpty() {
    return joins.isEmpty() && confirms.isEmpty() && requests.isEmpty() && rooms.isEmpty();
  }

  boolean wantsRoom() {
    return !rooms.isEmpty();
  }

  /** The first of all deadlines. */
  long nextDeadline() {
    long first = ClientSession.NEVER;
    if (isEmpty()) {
      return first;
    }
    for (Iterable<? extends Call> calls : List.of(joins, confirms, requests, rooms)) {
      for (Call call : calls) {
        first = Math.min(first, call.deadline);
      }
    }
    return first;
  }

  /** Runs `end` when nobody holds the lock. */
  void addDone(Runnable end) {
    done.add(end);
  }

  boolean hasDone() {
    return !done.isEmpty();
  }

  /** Null: there is none. It takes no memory. */
  Runnable takeFirstDone() {
    return done.isEmpty() ? null : done.remove(0);
  }

  List<Runnable> takeDone() {
    List<Runnable> taken = done;
    done = new ArrayList<>();
    return taken;
  }
}
