package io.spindle.protocol;

import io.spindle.Code;
import io.spindle.Event;
import io.spindle.FlowState;
import io.spindle.FlushRequest;
import io.spindle.Gap;
import io.spindle.GroupView;
import io.spindle.GroupViewId;
import io.spindle.Name;
import io.spindle.QueueWarning;
import io.spindle.RequestFailed;
import io.spindle.Transitional;
import io.spindle.ViewCause;
import io.spindle.ViewForm;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The half of a client that turns the bytes of the daemon into events. What the daemon sends wrongly ends the
 * connection with an event that says so.
 *
 * <p>Order of calls: `read`; then `takeNews`, answer what it asks, and `takeEvents`. Nothing
 * is read from the bytes that follow the end.
 */
public final class EventReader {
  private static final int EVENT_BYTES = 96; // of memory beside what an event holds, about
  private static final int VIEW_BYTES = 256;
  private static final int NAME_BYTES = 48;
  private static final int ENVELOPES = 256; // a power of two
  private static final int ENVELOPE_BYTES_MAX = 1024;

  private static final ViewCause[] CAUSES = ViewCause.values();
  private static final ViewForm[] FORMS = ViewForm.values();

  /** What concerns the requests of the same client. */
  static final class News {
    record PlacedWelcome(Hello.Welcome welcome, int before) {}

    /**
     * `before`: the index of the event that it came before; `flow`: without its groups; `view`: the answer, or null.
     */
    record PlacedReply(
        int request, int code, int before, FlowState flow, GroupView view, RequestFailed refusedJoin) {}

    record Admitted(int handle, long bytes) {}

    record Confirmed(int request, long taken) {}

    /**
     * `before`: the index of the event that it came before. `news`: null where the client is no member of the group
     * `left` any more.
     */
    record PlacedChannelNews(BulkNews news, Name left, int before) {}

    /** `before`: the index of the feed news that it came before. */
    record Farewell(Name group, int before) {}

    /** The daemon has taken the client out of the group. `before`: the index of the reply that it came before. */
    record LostGroup(Name group, int before) {}

    /** Of synchronous groups: a request to flush, or a view, which ends one: `daemonsNumber` is 0. */
    record FlushNews(Name group, long number, long daemonsNumber) {}

    PlacedWelcome welcome;
    final List<PlacedReply> replies = new ArrayList<>();
    final List<Admitted> admitted = new ArrayList<>();
    final List<Confirmed> confirmed = new ArrayList<>();
    final List<PlacedChannelNews> channels = new ArrayList<>();
    final List<FeedNews> feeds = new ArrayList<>();
    final List<Farewell> farewells = new ArrayList<>();
    final List<FlushNews> flushes = new ArrayList<>();
    final List<LostGroup> lostGroups = new ArrayList<>();
    boolean hasViews; // among the events
    boolean hasAnswers; // to requests, or these requests themselves, among the events
    long taken = -1; // messages of this client that have entered the network, of all it sent
    boolean isTakenForGood; // no more will
    long received = -1; // frames of this client that have come
  }

  /** Of a view that came: who is in the group, or, of a change, who has left it. */
  record SeenView(Name group, ViewForm form, List<Name> names) {}

  private final IncomingFrames incoming = new IncomingFrames();
  private final ByteReader reader = incoming.reader;

  /** A message of which chunks are still to come; the payload grows as bytes arrive. */
  private static final class Partial {
    ReceivedMessage.Envelope envelope;
    byte[] headers;
    GroupViewId change;
    long order;
    int index;
    int type;
    int service;
    byte[] payload;
    int size;
    int total; // of the payload, without headers
  }

  private Partial partial;
  private Output viewParts; // of a view whose last bytes are still to come; null: none
  private BulkNews.Complete partialComplete; // names are still to come; null: none
  private GroupView answer; // to a `view_request`, whose reply is still to come
  private GroupViewId change; // as the daemon told last; null: not yet
  private ReceivedMessage.Envelope lastEnvelope;
  private final ReceivedMessage.Envelope[] envelopes = new ReceivedMessage.Envelope[ENVELOPES];

  private List<Event> events = new ArrayList<>();
  private long eventBytes;
  private int settled; // events that were looked at
  private final Set<Name> flushing = new HashSet<>(); // groups with a request that no view has followed
  private long flushRequests; // so many there were, at all daemons
  private News news; // null: none
  private boolean watchesViews;
  private boolean tracksMemberships;
  private final Set<Name> memberships = new HashSet<>(); // of this session
  private List<SeenView> seenViews = new ArrayList<>();
  private boolean isWelcomed;
  private boolean daemonGoes;
  private boolean hasEnded;
  private Code endReason;
  private String endText = "";
  private long frames;
  private boolean hasUntoldFrames;
  private long bytes;
  private Name privateName = Name.of("");

  /** Takes all of these bytes, which came behind those before, from an array or from outside the heap. */
  public void read(ByteBuffer from) {
    bytes += from.remaining();
    if (!hasEnded) {
      incoming.add(from);
      for (int type = incoming.next(); type != IncomingFrames.NONE; type = incoming.next()) {
        if (type == IncomingFrames.TOO_LARGE) {
          end(Code.FRAME_TOO_LARGE, "the daemon sent a frame that is too large");
        } else {
          handleFrame(type);
        }
        if (hasEnded) {
          incoming.clear();
          break;
        }
      }
    }
    from.position(from.limit());
  }

  private News news() {
    if (news == null) {
      news = new News();
    }
    return news;
  }

  private void handleFrame(int type) {
    if (isWelcomed) {
      frames++;
      hasUntoldFrames |= type != Frames.PONG && type != Frames.RECEIVED_BY_DAEMON;
    }
    // Daemons begin with a frame of this type to each other.
    if (!isWelcomed && type == Frames.HELLO) {
      end(Code.BAD_ADDRESS, "this is an address of a daemon for other daemons (listen.links), not for clients");
      return;
    }
    if (isWelcomed ? type == Frames.WELCOME : type != Frames.WELCOME && type != Frames.CLOSE) {
      end(Code.UNEXPECTED_FRAME, "the daemon sent a frame at the wrong time");
      return;
    }
    if (isWelcomed && viewParts != null && !mayFollowViewPart(type)) {
      end(Code.UNEXPECTED_FRAME, "the daemon did not complete a view");
      return;
    }
    boolean isGood =
        switch (type) {
          case Frames.MESSAGE -> handleMessage() || (incoming.readWhole() && handleMessage());
          case Frames.MESSAGE_MORE -> handleMessageMore();
          case Frames.WELCOME -> handleWelcome();
          case Frames.CLOSE -> handleClose();
          case Frames.VIEW_PART -> handleViewPart();
          case Frames.VIEW -> handleView();
          case Frames.ORDER_VIEW -> handleOrderView();
          case Frames.TRANSITIONAL -> handleTransitional();
          case Frames.FLUSH_REQUEST -> handleFlushRequest();
          case Frames.REPLY -> handleReply();
          case Frames.PONG -> handlePong();
          case Frames.ADMITTED -> handleAdmitted();
          case Frames.FLOW -> handleFlow();
          case Frames.TAKEN -> handleTaken();
          case Frames.RECEIVED_BY_DAEMON -> handleReceived();
          case Frames.CONFIRMED -> handleConfirmed();
          case Frames.GAP -> handleGap();
          case Frames.WARNING -> handleWarning();
          case Frames.GOING -> handleGoing();
          case Frames.REFUSED -> handleRefused();
          default -> handleOther(type);
        };
    if (!isGood) {
      end(Code.MALFORMED_FRAME, "");
    }
  }

  /** Some frames overtake, and the connection may end at any time. */
  private static boolean mayFollowViewPart(int type) {
    return type == Frames.VIEW_PART
        || type == Frames.VIEW
        || type == Frames.WARNING
        || type == Frames.GOING
        || type == Frames.CLOSE;
  }

  // Each `handle` function says whether the frame has parsed.

  private boolean handleWelcome() {
    Hello.Welcome welcome = Hello.readWelcome(reader);
    if (welcome == null) {
      return false;
    }
    if (welcome.version() != Frames.VERSION) {
      end(Code.VERSION_MISMATCH, "");
      return true;
    }
    privateName = welcome.privateName();
    isWelcomed = true;
    if (!welcome.isResumed()) {
      partial = null;
      viewParts = null;
      partialComplete = null;
      answer = null;
      memberships.clear();
      flushing.clear();
      frames = 0;
      hasUntoldFrames = false;
    }
    news().welcome = new News.PlacedWelcome(welcome, events.size());
    return true;
  }

  private boolean handleClose() {
    int code = reader.u16();
    String text = reader.text(reader.u16());
    long taken = reader.varint();
    if (!reader.isDone() || code == 0) {
      return false;
    }
    news().taken = taken < 0 ? Long.MAX_VALUE : taken;
    news().isTakenForGood = true;
    end(Code.of(code), text);
    return true;
  }

  private boolean handleMessage() {
    int flags = reader.u8();
    int service = flags & ~(Frames.PLACE_BIT | Frames.HEADERS_BIT);
    int type = reader.u16();
    int total = (int) reader.varintUpTo(Frames.MESSAGE_BYTES_MAX);
    boolean hasPlace = (flags & Frames.PLACE_BIT) != 0;
    long order = 0;
    int index = 0;
    if (hasPlace) {
      order = reader.varint();
      index = reader.varint32();
      if (order == 0) {
        return false;
      }
    }
    ReceivedMessage.Envelope envelope = readEnvelope();
    if (envelope == null || service > Frames.SERVICE_MAX) {
      return false;
    }
    int chunk = incoming.remaining();
    if (chunk > Math.min(total, Frames.CHUNK_BYTES_MAX) || (chunk == 0 && total != 0)) {
      return false;
    }
    byte[] headers = null;
    if ((flags & Frames.HEADERS_BIT) != 0) {
      int size = HeaderBlock.size(reader.bytes, reader.at, reader.end);
      if (size == 0) {
        return false;
      }
      headers = reader.bytes(size);
      total -= size;
      chunk -= size;
    }
    if (partial != null) {
      end(Code.UNEXPECTED_FRAME, "a message began before the last one was complete");
      return true;
    }
    if (hasPlace && change == null) {
      end(Code.UNEXPECTED_FRAME, "a message has a place in an order that was not told");
      return true;
    }
    GroupViewId ofPlace = hasPlace ? change : null;
    if (chunk == total) {
      // This is the path of most events.
      byte[] payload = incoming.rest();
      addMessage(new ReceivedMessage(envelope, payload, headers, ofPlace, order, index, type, service));
      return true;
    }
    Partial begun = new Partial();
    begun.envelope = envelope;
    begun.headers = headers;
    begun.change = ofPlace;
    begun.order = order;
    begun.index = index;
    begun.type = type;
    begun.service = service;
    begun.total = total;
    begun.payload = new byte[Math.min(total, 2 * Frames.CHUNK_BYTES_MAX)];
    begun.size = chunk;
    incoming.rest(begun.payload, 0);
    partial = begun;
    return true;
  }

  private void addMessage(ReceivedMessage message) {
    events.add(message);
    eventBytes += EVENT_BYTES + message.payload().length;
    if (message.hasHeaders()
        && (message.findHeader(HeaderBlock.REQUEST_KEY) != null || message.findHeader(HeaderBlock.ANSWER_KEY) != null)) {
      news().hasAnswers = true;
    }
  }

  /** Sender and groups. Those that came before, which most do, are neither checked nor made again. Null: not valid. */
  private ReceivedMessage.Envelope readEnvelope() {
    int from = reader.at;
    ReceivedMessage.Envelope known = lastEnvelope;
    if (known != null && startsWith(from, reader.end, known.packed)) {
      reader.at += known.packed.length;
      return known;
    }
    int count = (int) reader.varintUpTo(Frames.GROUPS_MAX);
    int senderAt = reader.at + 1;
    int senderEnd = reader.skip(reader.u8()) == senderAt ? reader.at : senderAt;
    for (int i = 0; i < count && reader.isOk(); i++) {
      reader.skip(reader.u8());
    }
    if (!reader.isOk() || count == 0) {
      return null;
    }
    int to = reader.at;
    int hash = to - from;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + reader.bytes[i];
    }
    int slot = (hash ^ hash >>> 16) & (ENVELOPES - 1);
    known = envelopes[slot];
    if (known == null || known.packed.length != to - from || !startsWith(from, to, known.packed)) {
      known = makeEnvelope(from, to, count, senderAt, senderEnd);
      if (known == null) {
        return null;
      }
      if (to - from <= ENVELOPE_BYTES_MAX) {
        envelopes[slot] = known;
      }
    }
    lastEnvelope = known;
    return known;
  }

  private boolean startsWith(int from, int to, byte[] start) {
    return to - from >= start.length && Arrays.equals(reader.bytes, from, from + start.length, start, 0, start.length);
  }

  private ReceivedMessage.Envelope makeEnvelope(int from, int to, int count, int senderAt, int senderEnd) {
    if (!Names.isPrivate(reader.bytes, senderAt, senderEnd)) {
      return null;
    }
    ByteReader names = new ByteReader(reader.bytes, senderEnd, to);
    List<Name> groups = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      groups.add(names.destination());
    }
    if (!names.isDone()) {
      return null;
    }
    Name sender = Name.of(reader.bytes, senderAt, senderEnd);
    return new ReceivedMessage.Envelope(Arrays.copyOfRange(reader.bytes, from, to), sender, List.copyOf(groups));
  }

  private boolean handleMessageMore() {
    Partial begun = partial;
    if (begun == null) {
      end(Code.UNEXPECTED_FRAME, "a part of a message came without its beginning");
      return true;
    }
    int more = incoming.remaining();
    if (more == 0 || more > begun.total - begun.size) {
      return false;
    }
    if (begun.payload.length - begun.size < more) {
      begun.payload = Arrays.copyOf(begun.payload, (int) Math.min(begun.total, 2L * begun.payload.length));
    }
    incoming.rest(begun.payload, begun.size);
    begun.size += more;
    if (begun.size == begun.total) {
      partial = null;
      addMessage(
          new ReceivedMessage(
              begun.envelope,
              begun.payload,
              begun.headers,
              begun.change,
              begun.order,
              begun.index,
              begun.type,
              begun.service));
    }
    return true;
  }

  private boolean handleViewPart() {
    int more = reader.remaining();
    if (more == 0) {
      return false;
    }
    if (viewParts == null) {
      viewParts = new Output();
    }
    if (more > Frames.VIEW_BYTES_MAX - viewParts.size) {
      end(Code.FRAME_TOO_LARGE, "the daemon sent a view that is too large");
      return true;
    }
    viewParts.bytes(reader.bytes, reader.at, more);
    return true;
  }

  private boolean handleView() {
    if (viewParts == null) {
      return addView(reader);
    }
    if (!handleViewPart() || hasEnded) {
      return hasEnded;
    }
    ByteReader whole = new ByteReader(viewParts.bytes, 0, viewParts.size);
    viewParts = null;
    return addView(whole);
  }

  private static GroupViewId readViewId(ByteReader from) {
    long number = from.varint();
    int size = from.u8();
    int at = from.skip(size);
    if (!from.isOk() || !Names.isDaemon(from.bytes, at, at + size)) {
      from.fail();
      return null;
    }
    String coordinator = new String(from.bytes, at, size, StandardCharsets.US_ASCII);
    return new GroupViewId(number, coordinator, from.u64(), from.varint());
  }

  private boolean addView(ByteReader from) {
    final int size = from.remaining();
    Name group = from.group();
    GroupViewId id = readViewId(from);
    int cause = from.u8();
    int bits = from.u8();
    boolean isSynchronous = (bits & Frames.SYNCHRONOUS_FORM_BIT) != 0;
    int form = bits & ~Frames.SYNCHRONOUS_FORM_BIT;
    long digest = from.u64();
    List<Name> joined = from.privateNames(from.varint());
    List<Name> left = from.privateNames(from.varint());
    List<Name> apart = from.privateNames(from.varint());
    long count = from.varintUpTo(0xffffffffL);
    boolean isListed = form == ViewForm.FULL.ordinal() || form == ViewForm.ANSWER.ordinal();
    List<Name> members = isListed ? from.privateNames(count) : List.of();
    if (!from.isDone() || cause < 1 || cause > CAUSES.length || form >= FORMS.length || count > Integer.MAX_VALUE) {
      return false;
    }
    ViewCause why = CAUSES[cause - 1];
    ViewForm what = FORMS[form];
    if (!isConsistent(why, what, joined, left, apart, count, digest)) {
      return false;
    }
    boolean hasSet = why == ViewCause.NETWORK && what == ViewForm.FULL;
    int me = members.indexOf(privateName);
    GroupView view =
        new GroupView(
            group,
            id,
            why,
            what,
            (int) count,
            isSynchronous,
            digest,
            joined,
            left,
            apart,
            members,
            hasSet ? setOf(members, joined, apart) : List.of(),
            me < 0 ? OptionalInt.empty() : OptionalInt.of(me));
    noteView(view);
    if (what == ViewForm.ANSWER) {
      answer = view; // its reply follows
      return true;
    }
    int names = members.size() + joined.size() + left.size() + apart.size() + view.vsSet().size();
    addEvent(view, VIEW_BYTES + size + (long) names * NAME_BYTES);
    if (what == ViewForm.FAREWELL) {
      news().channels.add(new News.PlacedChannelNews(null, group, events.size()));
    }
    news().hasViews = true;
    return true;
  }

  /** Whether a view has only what goes with its form and cause. */
  private static boolean isConsistent(
      ViewCause cause, ViewForm form, List<Name> joined, List<Name> left, List<Name> apart, long count, long digest) {
    if (cause != ViewCause.NETWORK && !apart.isEmpty()) {
      return false;
    }
    return switch (form) {
      case FULL, CHANGE -> true;
      case ANSWER -> joined.isEmpty() && left.isEmpty() && apart.isEmpty();
      case FAREWELL -> cause == ViewCause.LEAVE && joined.isEmpty() && left.size() == 1 && count == 0 && digest == 0;
    };
  }

  /** The receiver is in the vs set also where it is new, or back, and nobody has come along with it. */
  private List<Name> setOf(List<Name> members, List<Name> joined, List<Name> apart) {
    Set<Name> others = new HashSet<>(joined);
    others.addAll(apart);
    others.remove(privateName);
    return MemberList.without(members, others);
  }

  private void noteView(GroupView view) {
    boolean isFarewell = view.form() == ViewForm.FAREWELL;
    if (tracksMemberships && view.myIndex().isPresent()) {
      memberships.add(view.group());
    }
    if (isFarewell) {
      memberships.remove(view.group());
      news().farewells.add(new News.Farewell(view.group(), news().feeds.size()));
    }
    if (watchesViews) {
      seenViews.add(new SeenView(view.group(), view.form(), view.hasMembers() ? view.members() : view.left()));
      news();
    }
    if (view.form() != ViewForm.ANSWER && flushing.remove(view.group())) {
      news().flushes.add(new News.FlushNews(view.group(), 0, 0));
    }
  }

  private boolean handleOrderView() {
    GroupViewId id = readViewId(reader);
    if (!reader.isDone()) {
      return false;
    }
    change = id;
    return true;
  }

  private boolean handleTransitional() {
    Name group = reader.group();
    if (!reader.isDone()) {
      return false;
    }
    addEvent(new Transitional(group), group.size());
    return true;
  }

  private boolean handleFlushRequest() {
    long number = reader.varint();
    Name group = reader.group();
    if (!reader.isDone() || number == 0) {
      return false;
    }
    if (!flushing.add(group)) {
      end(Code.UNEXPECTED_FRAME, "the daemon asked twice to flush a group for one view");
      return true;
    }
    FlushRequest event = new FlushRequest(group, ++flushRequests);
    news().flushes.add(new News.FlushNews(group, event.number(), number));
    addEvent(event, group.size());
    return true;
  }

  private boolean handleReply() {
    int request = reader.varint32();
    int code = reader.u16();
    if (!reader.isDone()) {
      return false;
    }
    news().replies.add(new News.PlacedReply(request, code, events.size(), null, answer, null));
    answer = null;
    return true;
  }

  private boolean handlePong() {
    reader.u64();
    return reader.isDone();
  }

  private boolean handleAdmitted() {
    int handle = (int) reader.varintUpTo(Frames.HANDLES_MAX - 1);
    long admitted = reader.varintUpTo(0xffffffffL);
    if (!reader.isDone() || admitted == 0) {
      return false;
    }
    news().admitted.add(new News.Admitted(handle, admitted));
    return true;
  }

  private boolean handleFlow() {
    int request = reader.varint32();
    double price = unsigned(reader.varint()) / 1000;
    long folded = reader.varint();
    double budget = (double) (folded >>> 1 ^ -(folded & 1)) / 1000;
    long period = reader.varintUpTo(Long.MAX_VALUE / 1000);
    double rate = unsigned(reader.varint()) / 1000;
    int blocked = reader.u16();
    int size = reader.u16();
    String limit = reader.text(size);
    if (!reader.isDone() || blocked > Frames.BLOCKED_MAX || size > Frames.FLOW_TEXT_BYTES_MAX) {
      return false;
    }
    FlowState state =
        new FlowState(
            null, price, budget, rate, Duration.ofNanos(period * 1000), (double) blocked / Frames.BLOCKED_MAX, limit);
    news().replies.add(new News.PlacedReply(request, 0, events.size(), state, null, null));
    return true;
  }

  private static double unsigned(long value) {
    return value >= 0 ? value : (double) (value >>> 1) * 2;
  }

  private boolean handleTaken() {
    news().taken = readCount();
    return reader.isDone();
  }

  private boolean handleReceived() {
    news().received = readCount();
    return reader.isDone();
  }

  /** All of the frame; -1 where it does not parse. What has no sign of its own is more than there can be. */
  private long readCount() {
    long count = reader.varint();
    if (!reader.isDone()) {
      return -1;
    }
    return count < 0 ? Long.MAX_VALUE : count;
  }

  private boolean handleConfirmed() {
    int request = reader.varint32();
    long taken = reader.varint();
    if (!reader.isDone()) {
      return false;
    }
    news().confirmed.add(new News.Confirmed(request, taken));
    return true;
  }

  private boolean handleGap() {
    final int size = reader.remaining();
    long messages = reader.varint();
    long payloads = reader.varint();
    long count = reader.varintUpTo(Frames.GAP_NAMES_MAX);
    List<Gap.OfName> names = new ArrayList<>();
    for (long i = 0; i < count && reader.isOk(); i++) {
      Name name = reader.destination();
      long of = reader.varintUpTo(messages);
      if (of == 0) {
        reader.fail();
      }
      names.add(new Gap.OfName(name, of));
    }
    long unlisted = reader.varintUpTo(messages);
    if (!reader.isDone() || messages == 0) {
      return false;
    }
    addEvent(new Gap(messages, payloads, List.copyOf(names), unlisted), size + (long) names.size() * NAME_BYTES);
    return true;
  }

  private boolean handleWarning() {
    int percent = reader.u8();
    long waiting = reader.varint();
    long limit = reader.varint();
    if (!reader.isDone() || percent == 0 || percent > 100) {
      return false;
    }
    addEvent(new QueueWarning(percent, waiting, limit), 0);
    return true;
  }

  private boolean handleGoing() {
    reader.varint32();
    if (!reader.isDone()) {
      return false;
    }
    daemonGoes = true;
    news();
    return true;
  }

  private boolean handleRefused() {
    int what = reader.u8();
    int code = reader.u16();
    long messages = reader.varint();
    Name name = what == 0 ? reader.destination() : reader.group();
    if (!reader.isDone() || what > 2 || code == 0 || (what == 0) != (messages != 0)) {
      return false;
    }
    RequestFailed.Request request =
        switch (what) {
          case 0 -> RequestFailed.Request.SEND;
          case 1 -> RequestFailed.Request.MEMBERSHIP;
          default -> RequestFailed.Request.JOIN;
        };
    if (request == RequestFailed.Request.MEMBERSHIP) {
      news().lostGroups.add(new News.LostGroup(name, news().replies.size()));
    }
    RequestFailed failed = new RequestFailed(request, name, Code.of(code), messages);
    if (request == RequestFailed.Request.JOIN) {
      // Somebody may wait for it.
      news().replies.add(new News.PlacedReply(0, 0, events.size(), null, null, failed));
    } else {
      addEvent(failed, name.size());
    }
    return true;
  }

  private boolean handleOther(int type) {
    if (BulkNews.is(type)) {
      return handleChannelNews(type);
    }
    if (!FeedNews.is(type)) {
      end(Code.UNEXPECTED_FRAME, "the daemon sent a frame of an unknown type");
      return true;
    }
    FeedNews told = FeedNews.read(type, reader);
    if (told == null) {
      return false;
    }
    news().feeds.add(told);
    return true;
  }

  private boolean handleChannelNews(int type) {
    BulkNews told = BulkNews.read(type, reader);
    if (told == null) {
      return false;
    }
    BulkNews.Complete complete = told instanceof BulkNews.Complete some ? some : null;
    if (partialComplete != null) {
      if (complete == null || !complete.event().channel().equals(partialComplete.event().channel())) {
        end(Code.UNEXPECTED_FRAME, "the daemon did not say to its end who has the content of a channel");
        return true;
      }
      complete = partialComplete.append(complete);
      partialComplete = null;
    }
    if (complete != null && complete.isMore()) {
      partialComplete = complete;
      return true;
    }
    news().channels.add(new News.PlacedChannelNews(complete != null ? complete : told, null, events.size()));
    return true;
  }

  /** The stream of bytes has ended, for this reason unless the daemon gave another before. Nothing is read any more. */
  public void end(Code reason, String text) {
    if (hasEnded) {
      return;
    }
    hasEnded = true;
    endReason = reason;
    endText = text.isEmpty() ? reason.text() : text;
    news();
  }

  /**
   * Another stream of bytes begins, with a welcome. Where that resumes the session, it goes on where the last was cut.
   */
  void restart() {
    incoming.clear();
    hasEnded = false;
    isWelcomed = false;
    daemonGoes = false;
    news = null;
  }

  /** Whether views are news, and kept for `takeSeenViews`. */
  void watchViews(boolean on) {
    watchesViews = on;
  }

  List<SeenView> takeSeenViews() {
    if (seenViews.isEmpty()) {
      return List.of();
    }
    List<SeenView> taken = seenViews;
    seenViews = new ArrayList<>();
    return taken;
  }

  /** Has it remember in which groups a view has shown the client. */
  void trackMemberships() {
    tracksMemberships = true;
  }

  Set<Name> memberships() {
    return memberships;
  }

  public boolean hasNews() {
    return news != null;
  }

  public boolean hasViews() {
    return news != null && news.hasViews;
  }

  News takeNews() {
    News taken = news;
    news = null;
    return taken;
  }

  /** All that has gathered. */
  public List<Event> takeEvents() {
    List<Event> taken = events;
    events = new ArrayList<>(Math.min(taken.size() + taken.size() / 4, 4096)); // as many as before, or some more
    eventBytes = 0;
    settled = 0;
    return taken;
  }

  /** Memory, about, of the events that `takeEvents` would give now. */
  public long eventBytes() {
    return eventBytes;
  }

  void insertEvent(int index, Event event) {
    events.add(index, event);
    eventBytes += EVENT_BYTES + VIEW_BYTES;
  }

  /** The events, for who takes some away. Those before `settled` have been looked at. */
  List<Event> settlingEvents() {
    return events;
  }

  int settled() {
    return settled;
  }

  void noteSettled() {
    settled = events.size();
  }

  /** `size`: memory of the event beside its own. */
  void addEvent(Event event, long size) {
    events.add(event);
    eventBytes += EVENT_BYTES + size;
  }

  boolean isWelcomed() {
    return isWelcomed;
  }

  public boolean hasEnded() {
    return hasEnded;
  }

  /** Once it has: why. */
  Code endReason() {
    return endReason;
  }

  String endText() {
    return endText;
  }

  /** Of this session: whole frames that have come behind the welcome. */
  long frames() {
    return frames;
  }

  /** Whether some of them are more than signs of life since this was last told to the daemon. */
  boolean hasUntoldFrames() {
    return hasUntoldFrames;
  }

  void noteTold() {
    hasUntoldFrames = false;
  }

  /** Whether the daemon has said, on this connection, that it stops and waits for the client to go. */
  boolean daemonGoes() {
    return daemonGoes;
  }

  /** Of all streams. */
  long bytes() {
    return bytes;
  }

  public Name privateName() {
    return privateName;
  }
}
