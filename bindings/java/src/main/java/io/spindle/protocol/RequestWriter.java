package io.spindle.protocol;

import io.spindle.Code;
import io.spindle.Destinations;
import io.spindle.FlowReady;
import io.spindle.FlushRequest;
import io.spindle.Headers;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.RequestFailed;
import io.spindle.SendOptions;
import io.spindle.Service;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The half of a client that turns requests into frames. It remembers which number stands for which set of destinations,
 * and keeps the windows of independent flows. A request that is refused leaves the queue of bytes as it was. Functions
 * that give a Code give null where nothing is wrong.
 *
 * <p>Order of calls: `start`, `open` when the daemon has welcomed the client, requests, and `close` at the end.
 * Requests are refused with NOT_CONNECTED before `open`, after `bye` and after `close`. Of a client that may come back
 * (`expectReturn`, before `start`): `cut` when the connection is gone, `start` when there is another one, and then
 * `resume` or `startAnew`.
 */
public final class RequestWriter {
  private static final long SIGN_OF_LIFE = 0; // the token of pings that ask for nothing else

  private record Pending(RequestFailed.Request request, Name group) {}

  private record Joined(int flags, int request) {}

  private record AskedToFlush(long number, long daemonsNumber) {}

  private record Parting(int request, long accepted) {}

  private final OutgoingFrames out = new OutgoingFrames();
  private boolean isOpen;
  private boolean returns;
  private boolean saidBye;
  private boolean isIndependent;

  private final Map<Destinations, Integer> handles = new HashMap<>();
  private final List<Destinations> sets = new ArrayList<>(); // by number; null where it was given up
  private final ArrayDeque<Integer> unused = new ArrayDeque<>(); // those numbers
  private long definedBytes; // of all sets, as the daemon counts
  private int oldest; // where to look first for a set to give up
  private int last = FlowWindows.NO_HANDLE; // the number that the last message went to
  private final FlowWindows windows = new FlowWindows();

  private final Map<Integer, Pending> pending = new TreeMap<>(); // requests without a reply
  private final Map<Name, Joined> groups = new TreeMap<>(); // with the last join of each
  private final Map<Name, Integer> leaving = new HashMap<>(); // times it was left without a last view since
  private final Map<Integer, Destinations> pendingFlows = new TreeMap<>();
  private final Map<Integer, Long> pendingConfirms = new TreeMap<>(); // what was accepted before
  private final Set<Integer> pendingFeeds = new HashSet<>();
  private final Set<Integer> pendingChannels = new HashSet<>();
  private int nextRequest = 1;

  private final UntakenMessages untaken = new UntakenMessages(); // where the client may come back
  private long former; // messages of former sessions: taken, or not known to be
  private long untoldUnknown;
  private final Map<Integer, Long> endedConfirms = new TreeMap<>(); // with the last session: messages not known
  private final Map<Name, AskedToFlush> asked = new HashMap<>(); // requests to flush groups that are not answered
  private long lastAsked;
  private final Set<Name> flushed = new HashSet<>(); // groups where one is answered, and the view is to come
  private Parting parting; // of this session, or null

  private long accepted; // messages
  private long taken; // of these, as far as the daemon has told
  private boolean isTakenForGood;

  void start(Hello hello) {
    isIndependent = (hello.flags & Frames.INDEPENDENT_FLOWS_BIT) != 0;
    out.begin(hello.write());
  }

  void open() {
    isOpen = !saidBye;
    out.open();
  }

  void close() {
    isOpen = false;
    pending.clear();
    pendingFlows.clear();
    pendingConfirms.clear();
    pendingFeeds.clear();
    pendingChannels.clear();
    asked.clear();
    flushed.clear();
  }

  // --- Messages ---

  private static Code checkCount(Destinations groups) {
    int count = groups.names().size();
    return count == 0 || count > Frames.GROUPS_MAX ? Code.TOO_MANY_GROUPS : null;
  }

  private static Code checkNames(Destinations groups) {
    for (Name name : groups.names()) {
      if (!Names.isDestination(name)) {
        return Code.BAD_GROUP_NAME;
      }
    }
    return null;
  }

  private static Code checkSizes(Destinations groups, long payload, SendOptions options) {
    if (options.type() < 0 || options.type() > 0xffff) {
      return Code.BAD_ARGUMENT;
    }
    return payload > Frames.MESSAGE_BYTES_MAX ? Code.MESSAGE_TOO_LARGE : checkCount(groups);
  }

  /** What `multicast` would answer for the arguments alone. */
  public static Code check(Destinations groups, int length, SendOptions options) {
    Code error = checkSizes(groups, length, options);
    if (error == null && !HeaderBlock.areValid(options.headers())) {
      error = Code.BAD_HEADERS;
    }
    return error == null ? checkNames(groups) : error;
  }

  public Code multicast(Service service, Destinations groups, byte[] payload, SendOptions options) {
    return multicast(service, groups, payload, 0, payload.length, options);
  }

  /** `length` bytes of `bytes` from `from` on. */
  public Code multicast(
      Service service, Destinations groups, byte[] bytes, int from, int length, SendOptions options) {
    return options.headers().isEmpty()
        ? writeSend(service, groups, null, bytes, from, length, options)
        : multicastWith(null, service, groups, bytes, from, length, options);
  }

  /** With a header of the library's, where there is one. */
  Code multicastWith(
      Headers.Header own, Service service, Destinations groups, byte[] payload, SendOptions options) {
    return multicastWith(own, service, groups, payload, 0, payload.length, options);
  }

  private Code multicastWith(
      Headers.Header own,
      Service service,
      Destinations groups,
      byte[] bytes,
      int from,
      int length,
      SendOptions options) {
    if (!HeaderBlock.areValid(options.headers())) {
      return Code.BAD_HEADERS;
    }
    return writeSend(service, groups, HeaderBlock.write(own, options.headers()), bytes, from, length, options);
  }

  private Code writeSend(
      Service service,
      Destinations groups,
      byte[] headers,
      byte[] payload,
      int from,
      int length,
      SendOptions options) {
    if (!isOpen) {
      return Code.NOT_CONNECTED;
    }
    int headerBytes = headers == null ? 0 : headers.length;
    Code error = checkSizes(groups, (long) headerBytes + length, options);
    if (error != null) {
      return error;
    }
    if (!flushed.isEmpty() && isFlushed(groups)) {
      return Code.FLUSHING;
    }
    int handle = last;
    if (handle == FlowWindows.NO_HANDLE || !groups.equals(sets.get(handle))) {
      error = checkHandle(groups);
      if (error != null) {
        return error;
      }
      handle = findHandle(groups);
      last = handle;
    }
    int total = headerBytes + length;
    int flowBytes = Frames.flowBytes(total);
    if (isIndependent) {
      if (!windows.hasRoom(handle)) {
        return Code.WOULD_BLOCK;
      }
      windows.sent(handle, flowBytes);
    }
    accepted++;
    if (returns && isIndependent) {
      untaken.sent(handle, flowBytes, options.ticket());
    } else if (returns) {
      untaken.sent(options.ticket());
    }
    Output to = out.out();
    to.ensure(total + 24 + total / Frames.CHUNK_BYTES_MAX * Output.HEAD_BYTES);
    int head = to.beginFrame(Frames.SEND);
    to.varint(handle);
    to.u8(
        service.ordinal()
            | (options.selfDiscard() ? Frames.SELF_DISCARD_BIT : 0)
            | (headers != null ? Frames.HEADERS_BIT : 0));
    to.u16(options.type());
    to.varint(total);
    if (headers != null) {
      to.bytes(headers); // shorter than a chunk
    }
    int chunk = Math.min(length, Frames.CHUNK_BYTES_MAX - headerBytes);
    to.bytes(payload, from, chunk);
    to.endFrame(head);
    out.noteFrame(Frames.SEND);
    for (int at = chunk; at < length; at += chunk) {
      chunk = Math.min(length - at, Frames.CHUNK_BYTES_MAX);
      head = to.beginFrame(Frames.SEND_MORE);
      to.bytes(payload, from + at, chunk);
      to.endFrame(head);
      out.noteFrame(Frames.SEND_MORE);
    }
    return null;
  }

  // --- Sets of destinations ---

  private static long definedBytesOf(Destinations groups) {
    long bytes = 0;
    for (Name name : groups.names()) {
      bytes += name.size() + Frames.DEFINED_NAME_BYTES;
    }
    return bytes;
  }

  /** Names are checked when a set of them is defined. */
  private Code checkHandle(Destinations groups) {
    return handles.containsKey(groups) ? null : checkNames(groups);
  }

  private int knownHandle(Destinations groups) {
    return handles.getOrDefault(groups, FlowWindows.NO_HANDLE);
  }

  private int findHandle(Destinations groups) {
    Integer known = handles.get(groups);
    return known != null ? known : define(groups);
  }

  private int setToGiveUp() {
    int found = FlowWindows.NO_HANDLE;
    for (int i = 0; i < sets.size(); i++) {
      int handle = (oldest + i) % sets.size();
      if (sets.get(handle) == null) {
        continue;
      }
      // The daemon takes a new meaning only once it holds no message of the old one, and nothing else until then.
      if (!windows.mayBeHeld(handle)) {
        return handle;
      }
      if (found == FlowWindows.NO_HANDLE) {
        found = handle;
      }
    }
    return found;
  }

  private void giveUp(int handle) {
    Destinations groups = sets.set(handle, null);
    definedBytes -= definedBytesOf(groups);
    handles.remove(groups);
    unused.addLast(handle);
    oldest = (handle + 1) % sets.size();
    if (last == handle) {
      last = FlowWindows.NO_HANDLE;
    }
  }

  private int define(Destinations groups) {
    long bytes = definedBytesOf(groups);
    while (definedBytes + bytes > Frames.DEFINED_BYTES_MAX || handles.size() == Frames.HANDLES_MAX) {
      giveUp(setToGiveUp());
      // The last one gets its new meaning below.
      if (definedBytes + bytes > Frames.DEFINED_BYTES_MAX) {
        writeDefinition(unused.getLast(), List.of());
      }
    }
    if (unused.isEmpty()) {
      unused.addLast(sets.size());
      sets.add(null);
    }
    int handle = unused.removeLast();
    sets.set(handle, groups);
    handles.put(groups, handle);
    definedBytes += bytes;
    writeDefinition(handle, groups.names());
    return handle;
  }

  private void writeDefinition(int handle, List<Name> names) {
    Output to = out.out();
    int head = to.beginFrame(Frames.DEFINE);
    to.varint(handle);
    to.varint(names.size());
    names.forEach(to::name);
    to.endFrame(head);
    out.noteFrame(Frames.DEFINE);
  }

  // --- Requests ---

  /** `type` is JOIN, LEAVE or VIEW_REQUEST. */
  private Code request(int type, Name group, int flags) {
    if (!isOpen) {
      return Code.NOT_CONNECTED;
    }
    if (!Names.isGroup(group)) {
      return Code.BAD_GROUP_NAME;
    }
    if (type == Frames.JOIN) {
      groups.put(group, new Joined(flags, nextRequest));
    } else if (type == Frames.LEAVE) {
      groups.remove(group);
      leaving.merge(group, 1, Integer::sum);
    }
    writeRequest(type, nextRequest++, group, flags);
    return null;
  }

  public Code join(Name group, boolean synchronous) {
    return request(Frames.JOIN, group, synchronous ? Frames.SYNCHRONOUS_BIT : 0);
  }

  Code leave(Name group) {
    return request(Frames.LEAVE, group, 0);
  }

  public Code requestView(Name group) {
    return request(Frames.VIEW_REQUEST, group, 0);
  }

  private void writeRequest(int type, int number, Name group, int flags) {
    RequestFailed.Request kind =
        switch (type) {
          case Frames.JOIN -> RequestFailed.Request.JOIN;
          case Frames.LEAVE -> RequestFailed.Request.LEAVE;
          default -> RequestFailed.Request.VIEW;
        };
    pending.put(number, new Pending(kind, group));
    Output to = out.out();
    int head = to.beginFrame(type);
    to.varint32(number);
    to.name(group);
    if (type == Frames.JOIN) {
      to.u8(flags);
    }
    to.endFrame(head);
    out.noteFrame(type);
  }

  /**
   * The daemon has taken the client out of it, or does not let it in. A join that was asked for since stands: replies
   * come in the order of requests, and it has none yet.
   */
  void loseGroup(Name group) {
    groups.computeIfPresent(group, (name, joined) -> pending.containsKey(joined.request) ? joined : null);
  }

  /** Whether the client has asked this session to leave the group and does not know yet what has come of it. */
  boolean isLeaving(Name group) {
    return leaving.containsKey(group);
  }

  /** There was a last view of the group. */
  void settleFarewell(Name group) {
    leaving.computeIfPresent(group, (name, count) -> count == 1 ? null : count - 1);
  }

  /**
   * A join of the group that was on its way is not to be: the next leave finds no member, and has no last view. A leave
   * that has no reply yet gets one that says so. Leaves before the join have had their last view. Where there is one
   * behind it, a join that stands is behind that.
   */
  void settleRefusedJoin(Name group) {
    if (!leaving.containsKey(group)) {
      loseGroup(group);
      return;
    }
    Pending leave = new Pending(RequestFailed.Request.LEAVE, group);
    long unanswered = pending.values().stream().filter(leave::equals).count();
    if (leaving.get(group) > unanswered) {
      settleFarewell(group);
    }
  }

  public Code flushOk(FlushRequest request) {
    if (!isOpen) {
      return Code.NOT_CONNECTED;
    }
    if (request.number() <= 0 || request.number() > lastAsked) {
      return Code.BAD_ARGUMENT;
    }
    AskedToFlush open = asked.get(request.group());
    if (open == null || open.number != request.number()) {
      return null;
    }
    Output to = out.out();
    int head = to.beginFrame(Frames.FLUSH_OK);
    to.varint(open.daemonsNumber);
    to.name(request.group());
    to.endFrame(head);
    out.noteFrame(Frames.FLUSH_OK);
    flushed.add(request.group());
    asked.remove(request.group());
    return null;
  }

  /** Whether nothing may be sent to one of the groups before its next view. */
  public boolean isFlushed(Destinations destinations) {
    if (flushed.isEmpty()) {
      return false;
    }
    for (Name name : destinations.names()) {
      if (flushed.contains(name)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes a request to flush a group, with the number that the daemon gave it; 0: a view of the group, which ends one.
   */
  void settleFlush(Name group, long number, long daemonsNumber) {
    asked.remove(group);
    flushed.remove(group);
    if (daemonsNumber != 0) {
      asked.put(group, new AskedToFlush(number, daemonsNumber));
      lastAsked = number;
    }
  }

  public Code requestFlow(Destinations destinations) {
    if (!isOpen) {
      return Code.NOT_CONNECTED;
    }
    Code error = checkCount(destinations);
    if (error == null) {
      error = checkHandle(destinations);
    }
    if (error != null) {
      return error;
    }
    int handle = findHandle(destinations);
    pendingFlows.put(nextRequest, destinations);
    writeFlowRequest(nextRequest++, handle);
    return null;
  }

  private void writeFlowRequest(int number, int handle) {
    Output to = out.out();
    int head = to.beginFrame(Frames.FLOW_REQUEST);
    to.varint32(number);
    to.varint(handle);
    to.endFrame(head);
    out.noteFrame(Frames.FLOW_REQUEST);
  }

  /** Whether `multicast` would find room in the window of the flow. */
  public boolean hasRoom(Destinations destinations) {
    return !isIndependent || windows.hasRoom(knownHandle(destinations));
  }

  /** Has a later `settle` or `takeReady` give a FlowReady. */
  public void wantReady(Destinations destinations) {
    if (isIndependent) {
      windows.want(knownHandle(destinations), destinations);
    }
  }

  /** FlowReady for all that is wanted and whose window does not stand against it. */
  public List<FlowReady> takeReady() {
    return windows.takeAllReady().stream().map(FlowReady::new).toList();
  }

  /** Asks to be told once all messages that were accepted before have entered the network. */
  public Code confirm() {
    if (!isOpen) {
      return Code.NOT_CONNECTED;
    }
    pendingConfirms.put(nextRequest, accepted);
    writeConfirm(nextRequest++);
    return null;
  }

  private void writeConfirm(int number) {
    Output to = out.out();
    confirmInto(to, number);
    out.noteFrame(Frames.CONFIRM);
  }

  private static void confirmInto(Output to, int number) {
    int head = to.beginFrame(Frames.CONFIRM);
    to.varint32(number);
    to.endFrame(head);
  }

  public void bye() {
    if (!isOpen) {
      return;
    }
    writeBye();
    isOpen = false;
    saidBye = true;
  }

  private void writeBye() {
    Output to = out.out();
    to.endFrame(to.beginFrame(Frames.BYE));
    out.noteFrame(Frames.BYE);
  }

  public boolean saidBye() {
    return saidBye;
  }

  /** The number of the last request. */
  public int lastRequest() {
    return nextRequest - 1;
  }

  // --- Feeds. These frames go ahead of what waits for `release`: a feed waits for nobody ---

  private void appendAhead(Output frame) {
    out.appendAhead(frame.toBytes());
  }

  /** The number of the request, which is taken where the connection is open; 0 otherwise. */
  int openFeed(Name group, long repairForUs, long bytesPerSecondMax) {
    if (!isOpen) {
      return 0;
    }
    int number = nextRequest++;
    pendingFeeds.add(number);
    Output frame = new Output();
    int head = frame.beginFrame(Frames.FEED_OPEN);
    frame.u32(number);
    frame.name(group);
    frame.varint(repairForUs);
    frame.varint(bytesPerSecondMax);
    frame.endFrame(head);
    appendAhead(frame);
    return number;
  }

  /** There is room for it. */
  void sendFeed(int feed, byte[] payload) {
    if (!isOpen) {
      return;
    }
    Output frame = new Output(new byte[payload.length + 16]);
    int head = frame.beginFrame(Frames.FEED_SEND);
    frame.varint32(feed);
    frame.bytes(payload);
    frame.endFrame(head);
    appendAhead(frame);
  }

  void closeFeed(int feed) {
    if (!isOpen) {
      return;
    }
    Output frame = new Output();
    int head = frame.beginFrame(Frames.FEED_CLOSE);
    frame.varint32(feed);
    frame.endFrame(head);
    appendAhead(frame);
  }

  /** `type`: LISTEN or STOP_LISTENING. */
  Code listen(int type, Name group) {
    if (!isOpen) {
      return Code.NOT_CONNECTED;
    }
    int number = nextRequest++;
    pending.put(number, new Pending(RequestFailed.Request.LISTEN, group));
    Output frame = new Output();
    int head = frame.beginFrame(type);
    frame.u32(number);
    frame.name(group);
    frame.endFrame(head);
    appendAhead(frame);
    return null;
  }

  /** Takes the answer to `openFeed`, of whatever form. False where nothing was asked under that number. */
  boolean settleFeed(int request) {
    return pendingFeeds.remove(request);
  }

  // --- Bulk channels ---

  /** `lastRequest` is its number. */
  public Code askChannel(BulkRequest request) {
    if (!isOpen) {
      return Code.NOT_CONNECTED;
    }
    int number = nextRequest++;
    request.write(out.out(), number);
    out.noteFrame(request.type());
    pendingChannels.add(number);
    return null;
  }

  /** Takes the answer to `askChannel`, of whatever form. False where nothing was asked under that number. */
  boolean settleChannel(int request) {
    return pendingChannels.remove(request);
  }

  // --- Answers ---

  /** The number of a join of the group that has no reply; 0: there is none. */
  public int pendingJoin(Name group) {
    for (Map.Entry<Integer, Pending> each : pending.entrySet()) {
      if (each.getValue().request == RequestFailed.Request.JOIN && each.getValue().group.equals(group)) {
        return each.getKey();
      }
    }
    return 0;
  }

  boolean isPending(int request) {
    return pending.containsKey(request);
  }

  /** Takes the reply of the daemon to a request that is pending. Gives an event where it refused, otherwise null. */
  RequestFailed settle(int request, int code) {
    Pending found = pending.remove(request);
    if (code == 0) {
      return null;
    }
    boolean isIn = code == Code.ALREADY_A_MEMBER.number();
    if (found.request == RequestFailed.Request.JOIN && !isIn) {
      loseGroup(found.group);
    }
    if (found.request == RequestFailed.Request.LEAVE) {
      settleFarewell(found.group);
    }
    return new RequestFailed(found.request, found.group, Code.of(code), 0);
  }

  /** What `requestFlow` of that number was about; null where there was none. */
  Destinations settleFlow(int request) {
    return pendingFlows.remove(request);
  }

  /** Takes what the daemon has let in. Null where that was never sent. */
  List<FlowReady> settleAdmitted(int handle, long bytes) {
    if (!windows.admitted(handle, bytes)) {
      return null;
    }
    if (returns) {
      untaken.admitted(handle, bytes);
    }
    return windows.takeReady(handle).stream().map(FlowReady::new).toList();
  }

  /** The answer to `confirm`. False where nothing was asked under that number, or more has entered than was sent. */
  boolean settleConfirmed(int request, long messages) {
    Long before = pendingConfirms.get(request);
    if (before == null || messages < 0 || messages < before - former) {
      return false;
    }
    pendingConfirms.remove(request);
    if (messages >= taken - former && !settleTaken(messages, false)) {
      return false;
    }
    // Only now: counted are those that are still in line.
    if (returns) {
      untaken.entered(before);
    }
    return true;
  }

  /** Takes how many messages have entered the network. False where so many were never sent, or fewer than before. */
  boolean settleTaken(long messages, boolean isForGood) {
    if (messages < 0 || messages > accepted - former || messages < taken - former) {
      return false;
    }
    messages += former;
    if (returns && !isIndependent) {
      untaken.taken(messages - taken);
    }
    taken = messages;
    isTakenForGood = isForGood;
    return true;
  }

  /**
   * Of the messages that were accepted, as far as the daemon has told; exact once no more will be taken. Those of
   * `untoldUnknown` are among them.
   */
  public NotTaken notTaken() {
    return new NotTaken(accepted - taken + untoldUnknown, untoldUnknown == 0 && (isTakenForGood || accepted == taken));
  }

  public long accepted() {
    return accepted;
  }

  /**
   * The same of the first messages, without those of former sessions. With independent flows those may have been
   * overtaken: a bound then.
   */
  public NotTaken notTakenOf(long first) {
    if (isIndependent) {
      return new NotTaken(Math.min(first, accepted - taken), accepted == taken);
    }
    return new NotTaken(first - Math.min(first, taken), isTakenForGood || first <= taken);
  }

  // --- Bytes ---

  /** What is written next: not all in one piece. It stays where it is until it is consumed, whatever is asked. */
  public ByteBuffer output() {
    return out.next();
  }

  public int outputSize() {
    return out.size();
  }

  /** Of that, what `output` gives now, or would give next. */
  public int writableSize() {
    return out.writableSize();
  }

  void consume(int bytes) {
    out.consume(bytes);
  }

  /** Nothing more will be written. */
  public void dropOutput() {
    out.drop();
  }

  // --- A client that may come back ---

  void expectReturn() {
    returns = true;
    out.expectAnew();
  }

  /** Whether the session can be taken up on another connection: what is written is kept. */
  void setResumable(boolean on) {
    out.setKeeping(on);
  }

  boolean isResumable() {
    return out.isKeeping();
  }

  /** The daemon has got so many frames. */
  void acknowledge(long frames) {
    out.acknowledge(frames);
  }

  void tellReceived(long frames) {
    Output frame = new Output();
    int head = frame.beginFrame(Frames.RECEIVED);
    frame.varint(frames);
    frame.endFrame(head);
    appendAhead(frame);
  }

  void showLife() {
    Output frame = new Output();
    int head = frame.beginFrame(Frames.PING);
    frame.u64(SIGN_OF_LIFE);
    frame.endFrame(head);
    appendAhead(frame);
  }

  void cut() {
    out.cut();
  }

  /** The session goes on where the daemon has got so many frames. False where that cannot be. */
  boolean resume(long frames) {
    if (!out.resume(frames)) {
      return false;
    }
    open();
    return true;
  }

  /**
   * A new session begins: its groups are joined again, and, with `hold`, what follows waits for `release`. Gives the
   * tickets of messages that the former session may have let in, or not; what it cannot have got is sent in the new
   * one.
   */
  List<Long> startAnew(boolean hold) {
    Map<Integer, byte[]> definitions = new TreeMap<>(); // frames
    List<byte[]> unsent = new ArrayList<>();
    List<Integer> unsentMessages = new ArrayList<>(); // handles
    OutgoingFrames.Visit written =
        (type, bytes, from, firstEnd, to) -> {
          if (type == Frames.DEFINE) {
            definitions.put(OutgoingFrames.handleOf(bytes, from, firstEnd), Arrays.copyOfRange(bytes, from, to));
          }
        };
    out.startAnew(
        written,
        (type, bytes, from, firstEnd, to) -> {
          if (type == Frames.SEND) {
            unsentMessages.add(isIndependent ? OutgoingFrames.handleOf(bytes, from, firstEnd) : 0);
          }
          if (type == Frames.SEND || type == Frames.DEFINE) {
            unsent.add(Arrays.copyOfRange(bytes, from, to));
          }
        });
    former = accepted - unsentMessages.size();
    taken = former;
    isTakenForGood = false;
    asked.clear();
    flushed.clear();
    leaving.clear();
    pendingFeeds.clear();
    pendingChannels.clear();
    if (parting != null) {
      pendingConfirms.remove(parting.request);
      parting = null;
    }
    joinAgain(hold);
    for (byte[] frame : definitions.values()) {
      if (hasNames(frame)) {
        out.append(frame, 0, frame.length);
      }
    }
    windows.forgetSent();
    for (byte[] frames : unsent) {
      out.append(frames, 0, frames.length);
      if (isIndependent) {
        countInWindow(frames);
      }
    }
    List<Long> unknown = takeUnknown(unsentMessages);
    askAgain();
    return unknown;
  }

  /** What the former session may have let in, or not, is not confirmed by this one. */
  private List<Long> takeUnknown(List<Integer> unsent) {
    endedConfirms.clear();
    pendingConfirms.forEach((number, before) -> endedConfirms.put(number, untaken.waitingAmong(before)));
    List<Long> unknown = untaken.takeAllBut(unsent);
    endedConfirms
        .entrySet()
        .removeIf(confirm -> untaken.waitingAmong(pendingConfirms.get(confirm.getKey())) == confirm.getValue());
    pendingConfirms.keySet().removeAll(endedConfirms.keySet());
    untoldUnknown += unknown.size();
    return unknown;
  }

  /** How many messages `startAnew` has given as unknown that the program has not been told of yet. */
  public long untoldUnknown() {
    return untoldUnknown;
  }

  /** It has been told of so many. */
  public void noteToldUnknown(long messages) {
    untoldUnknown -= Math.min(messages, untoldUnknown);
  }

  /**
   * Of a `confirm` that is asked no more, as `startAnew` has given some of the messages before it as unknown: how many
   * of those messages are not known to have entered. Null where it is asked again.
   */
  public Long endedConfirm(int request) {
    return endedConfirms.get(request);
  }

  /** Whether a `define` gives its handle a meaning. */
  private static boolean hasNames(byte[] frame) {
    ByteReader reader = new ByteReader(frame, Output.HEAD_BYTES, frame.length);
    reader.varint();
    return reader.varint() != 0;
  }

  /** A message that is sent again is the first of its window. */
  private void countInWindow(byte[] frames) {
    if (frames[3] != Frames.SEND) {
      return;
    }
    ByteReader reader = new ByteReader(frames, Output.HEAD_BYTES, frames.length);
    int handle = (int) reader.varint();
    reader.skip(3);
    windows.sent(handle, Frames.flowBytes((int) reader.varint()));
  }

  private void joinAgain(boolean hold) {
    pending.values().removeIf(each -> each.request != RequestFailed.Request.VIEW);
    groups.replaceAll((group, joined) -> new Joined(joined.flags, nextRequest++));
    groups.forEach((group, joined) -> writeRequest(Frames.JOIN, joined.request, group, joined.flags));
    if (hold && !groups.isEmpty()) {
      out.hold();
    }
  }

  /** What the former daemon has not answered. */
  private void askAgain() {
    for (Map.Entry<Integer, Pending> each : List.copyOf(pending.entrySet())) {
      if (each.getValue().request == RequestFailed.Request.VIEW) {
        writeRequest(Frames.VIEW_REQUEST, each.getKey(), each.getValue().group, 0);
      }
    }
    pendingFlows.forEach((number, destinations) -> writeFlowRequest(number, findHandle(destinations)));
    pendingConfirms.keySet().forEach(this::writeConfirm);
    if (saidBye) {
      writeBye();
    }
  }

  void release() {
    out.release();
  }

  /** Messages that former sessions were sent: what became of them is known, or never will be. */
  long former() {
    return former;
  }

  /** The daemon goes: what is accepted from here on waits for the next session. Asks whether all before has entered. */
  void part() {
    // Behind a fence nothing was sent but joins.
    parting = new Parting(nextRequest++, out.isHolding() ? former : accepted);
    pendingConfirms.put(parting.request, parting.accepted);
    Output frame = new Output();
    confirmInto(frame, parting.request);
    appendAhead(frame);
    if (!out.isHolding()) {
      out.hold();
    }
  }

  boolean hasAllEntered() {
    return parting != null && !pendingConfirms.containsKey(parting.request);
  }

  /** Ends the session, and not the client. */
  void endSession() {
    Output frame = new Output();
    frame.endFrame(frame.beginFrame(Frames.BYE));
    appendAhead(frame);
  }

  /** Whether messages wait for the next session. */
  boolean holdsMessages() {
    return parting != null && accepted > parting.accepted;
  }

  /** Groups that the client is in, or has asked to be in. */
  public Set<Name> groups() {
    return groups.keySet();
  }
}
