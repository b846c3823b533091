package io.spindle.protocol;

import io.spindle.Code;
import io.spindle.FeedClosed;
import io.spindle.FeedEvent;
import io.spindle.FeedFlow;
import io.spindle.FeedGap;
import io.spindle.FeedOpened;
import io.spindle.FeedPacket;
import io.spindle.FeedWritable;
import io.spindle.Name;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The feeds of a client: its own, and those that it listens to. Feeds outlive sessions: in a new one its own are opened
 * again under the ids that they had, and groups are listened to again, whose feeds are others then.
 */
public final class ClientFeeds {
  /** How a client listens to the feeds of a group; the deadline is nanoseconds. */
  private record Terms(boolean isOrdered, long deadline) {}

  /** `error`: null where the feed is open. */
  public record OpenedOwn(long feed, Code error) {}

  private static final class Own {
    final Name group;
    final long repairForUs;
    final long bytesPerSecondMax;
    final FeedSourceWindow window;
    int number; // 0: it is being opened
    int request; // with that
    boolean isTold; // the program, that it is open
    FeedFlow flow; // null: not known

    Own(Name group, long repairForUs, long bytesPerSecondMax, boolean dropsOldest) {
      this.group = group;
      this.repairForUs = repairForUs;
      this.bytesPerSecondMax = bytesPerSecondMax;
      this.window = new FeedSourceWindow(dropsOldest);
    }
  }

  private record Heard(long id, Name group, FeedReorderer packets) {}

  private final RequestWriter writer;
  private long lastId;
  private final Map<Long, Own> own = new LinkedHashMap<>();
  private final Map<Integer, Long> ownIds = new HashMap<>();
  private final Map<Name, Terms> listens = new TreeMap<>();
  private final Map<Integer, Heard> heard = new TreeMap<>(Integer::compareUnsigned);
  private List<FeedEvent> events = new ArrayList<>();
  private List<OpenedOwn> opened = new ArrayList<>();

  ClientFeeds(RequestWriter writer) {
    this.writer = writer;
  }

  private static Duration microseconds(long count) {
    return Duration.ofNanos(1000 * (count < 0 ? Long.MAX_VALUE / 1000 : Math.min(count, Long.MAX_VALUE / 1000)));
  }

  // --- Its own ---

  private Code ask(Own feed) {
    feed.number = 0;
    feed.request = writer.openFeed(feed.group, feed.repairForUs, feed.bytesPerSecondMax);
    return feed.request == 0 ? Code.NOT_CONNECTED : null;
  }

  /** What comes of it is told with `takeOpened`, for `lastId`. */
  public Code open(Name group, long repairForUs, long bytesPerSecondMax, boolean dropsOldest) {
    if (!Names.isGroup(group)) {
      return Code.BAD_GROUP_NAME;
    }
    if (repairForUs < 0 || repairForUs > Frames.REPAIR_FOR_MAX_US || bytesPerSecondMax < 0) {
      return Code.BAD_ARGUMENT;
    }
    Own feed = new Own(group, repairForUs, bytesPerSecondMax, dropsOldest);
    Code error = ask(feed);
    if (error == null) {
      own.put(++lastId, feed);
    }
    return error;
  }

  public long lastId() {
    return lastId;
  }

  /** WOULD_BLOCK where there is no room, UNKNOWN_FEED where it has ended. */
  public Code send(long id, byte[] message) {
    if (message.length == 0) {
      return Code.BAD_ARGUMENT;
    }
    if (message.length > Frames.FEED_MESSAGE_BYTES_MAX) {
      return Code.MESSAGE_TOO_LARGE;
    }
    Own feed = own.get(id);
    if (feed == null) {
      return Code.UNKNOWN_FEED;
    }
    switch (feed.window.offer(message.length)) {
      case SEND:
        writer.sendFeed(feed.number, message);
        return null;
      case KEEP:
        feed.window.keep(message.clone());
        return null;
      default:
        return Code.WOULD_BLOCK;
    }
  }

  /** Nothing more is told of it. */
  public void close(long id) {
    Own feed = own.remove(id);
    // One that is being opened is closed when it is open.
    if (feed != null && feed.number != 0) {
      writer.closeFeed(feed.number);
      ownIds.remove(feed.number);
    }
  }

  public Optional<FeedFlow> flow(long id) {
    return Optional.ofNullable(own.get(id)).map(feed -> feed.flow);
  }

  public long dropped(long id) {
    Own feed = own.get(id);
    return feed == null ? 0 : feed.window.dropped();
  }

  public boolean isOpen(long id) {
    return own.containsKey(id);
  }

  /** The id of the feed that was asked for under a request's number; 0: none. */
  private long askedUnder(int request) {
    for (Map.Entry<Long, Own> each : own.entrySet()) {
      if (each.getValue().number == 0 && each.getValue().request == request) {
        return each.getKey();
      }
    }
    return 0;
  }

  private void sendKept(long id, Own feed) {
    for (byte[] message = feed.window.next(); message != null; message = feed.window.next()) {
      writer.sendFeed(feed.number, message);
    }
    if (feed.window.takeWritable()) {
      events.add(new FeedWritable(id));
    }
  }

  private void takeReady(FeedNews.Ready ready) {
    long id = askedUnder(ready.request());
    if (id == 0) {
      writer.closeFeed(ready.feed()); // it has been closed since
      return;
    }
    Own feed = own.get(id);
    feed.number = ready.feed();
    ownIds.put(ready.feed(), id);
    feed.window.open(ready.room());
    if (!feed.isTold) {
      feed.isTold = true;
      opened.add(new OpenedOwn(id, null));
    }
    sendKept(id, feed);
  }

  void refused(int request, Code error) {
    long id = askedUnder(request);
    if (id != 0) {
      endOwn(id, error == Code.ACCESS_DENIED ? FeedClosed.Why.DENIED : FeedClosed.Why.LOST, error);
    }
  }

  private void endOwn(long id, FeedClosed.Why why, Code error) {
    Own feed = own.remove(id);
    if (feed.number != 0) {
      ownIds.remove(feed.number);
    }
    if (feed.isTold) {
      events.add(new FeedClosed(id, why, Optional.ofNullable(error)));
    } else {
      opened.add(new OpenedOwn(id, error == null ? Code.UNKNOWN_FEED : error));
    }
  }

  // --- Those that it hears ---

  /** Other terms hold for feeds that are heard from then on. `deadline`: ns. */
  public Code listen(Name group, boolean isOrdered, long deadline) {
    if (!Names.isGroup(group)) {
      return Code.BAD_GROUP_NAME;
    }
    if (!listens.containsKey(group)) {
      Code error = writer.listen(Frames.LISTEN, group);
      if (error != null) {
        return error;
      }
    }
    listens.put(group, new Terms(isOrdered, deadline));
    return null;
  }

  /** Nothing more is told of its feeds. */
  public Code stopListening(Name group) {
    if (!Names.isGroup(group)) {
      return Code.BAD_GROUP_NAME;
    }
    if (!listens.containsKey(group)) {
      return null;
    }
    Code error = writer.listen(Frames.STOP_LISTENING, group);
    if (error == null) {
      forgetGroup(group);
    }
    return error;
  }

  /** To listen was refused. */
  void forgetGroup(Name group) {
    if (listens.remove(group) != null) {
      heard.values().removeIf(each -> each.group.equals(group));
    }
  }

  /** The client is not a member of the group any more. */
  void noteLeft(Name group) {
    for (Iterator<Heard> at = heard.values().iterator(); at.hasNext(); ) {
      Heard each = at.next();
      if (each.group.equals(group)) {
        at.remove();
        endHeard(each, FeedClosed.Why.LEFT);
      }
    }
  }

  /** With `why` the program is told so. */
  private void endHeard(Heard feed, FeedClosed.Why why) {
    feed.packets.end();
    give(feed);
    if (why != null) {
      events.add(new FeedClosed(feed.id, why, Optional.empty()));
    }
  }

  private void takeOpened(FeedNews.Opened told) {
    Terms terms = listens.get(told.group());
    if (terms == null) {
      return;
    }
    // The same number again: the client has left the group meanwhile, and joined it.
    Heard known = heard.remove(told.feed());
    if (known != null) {
      endHeard(known, FeedClosed.Why.LEFT);
    }
    long id = ++lastId;
    FeedReorderer packets = new FeedReorderer(terms.isOrdered, terms.deadline, told.isNew());
    heard.put(told.feed(), new Heard(id, told.group(), packets));
    events.add(new FeedOpened(id, told.group(), told.source(), microseconds(told.repairForUs())));
  }

  private void give(Heard feed) {
    if (!feed.packets.hasOutput()) {
      return;
    }
    for (FeedReorderer.Output output : feed.packets.takeOutput()) {
      if (output.isGap()) {
        events.add(new FeedGap(feed.id, output.first, output.count, FeedGap.Cause.values()[output.gap]));
      } else if (output.isBundle) {
        FeedNews.forEachInBundle(
            output.payload, message -> events.add(new FeedPacket(feed.id, output.first, 1, message)));
      } else {
        events.add(new FeedPacket(feed.id, output.first, output.count, output.payload));
      }
    }
  }

  // --- What happens ---

  void take(long now, FeedNews news) {
    if (news instanceof FeedNews.Packet packet) {
      Heard feed = heard.get(packet.feed());
      if (feed != null) {
        feed.packets.packet(now, packet.sequence(), packet.flags(), packet.payload());
        give(feed);
      }
    } else if (news instanceof FeedNews.Missing missing) {
      Heard feed = heard.get(missing.feed());
      if (feed != null) {
        feed.packets.gap(missing.first(), missing.count(), missing.cause());
        give(feed);
      }
    } else if (news instanceof FeedNews.Ready ready) {
      takeReady(ready);
    } else if (news instanceof FeedNews.Opened told) {
      takeOpened(told);
    } else if (news instanceof FeedNews.Room room) {
      Long id = ownIds.get(room.feed());
      if (id != null) {
        own.get(id).window.addRoom(room.bytes());
        sendKept(id, own.get(id));
      }
    } else if (news instanceof FeedNews.Rate rate) {
      takeRate(rate);
    } else if (news instanceof FeedNews.Ended ended) {
      takeEnded(ended);
    }
  }

  private void takeRate(FeedNews.Rate rate) {
    Long id = ownIds.get(rate.feed());
    if (id == null) {
      return;
    }
    Own feed = own.get(id);
    feed.flow =
        new FeedFlow(
            id,
            rate.bytesPerSecond(),
            microseconds(rate.roundTripUs()),
            (double) rate.loss() / Frames.FEED_LOSS_MAX,
            FeedFlow.Limit.values()[rate.limitedBy()]);
    events.add(feed.flow);
  }

  private void takeEnded(FeedNews.Ended ended) {
    FeedClosed.Why why = FeedClosed.Why.values()[ended.why()];
    Heard feed = heard.remove(ended.feed());
    if (feed != null) {
      endHeard(feed, why);
    }
    Long id = ownIds.get(ended.feed());
    if (id != null && why != FeedClosed.Why.LEFT) { // to its source it goes on
      endOwn(id, why, null);
    }
  }

  /** Another session begins. */
  void beginAnew() {
    heard.values().forEach(each -> endHeard(each, FeedClosed.Why.LOST));
    heard.clear();
    listens.keySet().forEach(group -> writer.listen(Frames.LISTEN, group));
    ownIds.clear();
    for (Map.Entry<Long, Own> each : List.copyOf(own.entrySet())) {
      each.getValue().window.stop();
      Code error = ask(each.getValue());
      if (error != null) {
        endOwn(each.getKey(), FeedClosed.Why.LOST, error);
      }
    }
  }

  /** There is no session any more. */
  void end(Code error) {
    heard.values().forEach(each -> endHeard(each, null));
    heard.clear();
    own.forEach(
        (id, feed) -> {
          if (!feed.isTold) {
            opened.add(new OpenedOwn(id, error));
          }
        });
    own.clear();
    ownIds.clear();
    listens.clear();
  }

  public void handleTime(long now) {
    for (Heard each : heard.values()) {
      if (each.packets.nextDeadline() <= now) {
        each.packets.handleTime(now);
        give(each);
      }
    }
  }

  public long nextDeadline() {
    long next = ClientSession.NEVER;
    for (Heard each : heard.values()) {
      next = Math.min(next, each.packets.nextDeadline());
    }
    return next;
  }

  public boolean hasEvents() {
    return !events.isEmpty();
  }

  public List<FeedEvent> takeEvents() {
    List<FeedEvent> taken = events;
    events = new ArrayList<>();
    return taken;
  }

  public List<OpenedOwn> takeOpened() {
    List<OpenedOwn> taken = opened;
    opened = new ArrayList<>();
    return taken;
  }
}
