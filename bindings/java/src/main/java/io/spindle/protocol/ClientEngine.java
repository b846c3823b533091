package io.spindle.protocol;

import io.spindle.Code;
import io.spindle.Destinations;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.FlowReady;
import io.spindle.FlowState;
import io.spindle.Headers;
import io.spindle.Name;
import io.spindle.RequestFailed;
import io.spindle.RequestOptions;
import io.spindle.SendOptions;
import io.spindle.Service;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Both halves of a client and what passes between them.
 *
 * <p>Threads: the two halves share nothing. One thread may be inside `reader` while another is inside any function of
 * `writer`; `settle` needs both halves at rest. The other functions are for one thread at a time.
 */
public final class ClientEngine {
  private final RequestWriter writer = new RequestWriter();
  private final EventReader reader = new EventReader();
  private final Requests requests = new Requests();
  private final ClientFeeds feeds = new ClientFeeds(writer);
  private Observer observer;

  void observe(Observer to) {
    observer = to;
  }

  public RequestWriter writer() {
    return writer;
  }

  public EventReader reader() {
    return reader;
  }

  public Requests requests() {
    return requests;
  }

  public ClientFeeds feeds() {
    return feeds;
  }

  /** The number of a request that has been sent, which is no error; otherwise why it has not. */
  public record Asked(long number, Code error) {}

  /** Sends a request, whose answers Observer.answered() is given. */
  public Asked ask(Destinations groups, byte[] payload, RequestOptions options) {
    Name all = null;
    if (options.answers() == RequestOptions.ALL_MEMBERS) {
      if (groups.names().size() != 1) {
        return new Asked(0, Code.BAD_ARGUMENT);
      }
      all = groups.names().get(0);
      if (!Names.isGroup(all)) {
        return new Asked(0, Code.BAD_GROUP_NAME);
      }
      if (!writer.groups().contains(all)) {
        return new Asked(0, Code.NOT_A_MEMBER);
      }
      if (requests.needsList(all)) {
        Code error = writer.requestView(all);
        if (error != null) {
          return new Asked(0, error);
        }
        requests.expectList(all, writer.lastRequest());
      }
    }
    long number = requests.nextNumber();
    // The client itself has to see where a request to all stands.
    boolean discards = options.selfDiscard() && all == null;
    SendOptions send = new SendOptions(options.type(), discards, 0, null, options.headers());
    Headers.Header own = new Headers.Header(HeaderBlock.REQUEST_KEY, Requests.toHeader(number));
    Code error = writer.multicastWith(own, options.service(), groups, payload, send);
    if (error != null) {
      return new Asked(0, error);
    }
    requests.add(number, new Requests.Wanted(options.answers(), all, options.selfDiscard(), writer.accepted()));
    return new Asked(number, null);
  }

  /** Answers a message that is a request. BAD_ARGUMENT where it is none. */
  public Code answer(ReceivedMessage request, byte[] payload, SendOptions options) {
    byte[] number = request.requestNumber();
    if (number == null) {
      return Code.BAD_ARGUMENT;
    }
    Headers.Header own = new Headers.Header(HeaderBlock.ANSWER_KEY, number);
    return writer.multicastWith(own, Service.FIFO, Destinations.of(request.sender()), payload, options);
  }

  /** Why the stream of bytes ends, as far as this side knows. */
  public Code endReason() {
    return writer.saidBye() ? Code.CLOSED_BY_CLIENT : Code.CONNECTION_LOST;
  }

  /**
   * Brings to each half what the other learned. `handleWelcome` is called for a welcome, before what came behind it is
   * settled, and gives how many events it has put in that place.
   */
  void settle(long now, ToIntFunction<EventReader.News.PlacedWelcome> handleWelcome) {
    EventReader.News news = reader.takeNews();
    if (news == null) {
      return;
    }
    int added = news.welcome == null ? 0 : handleWelcome.applyAsInt(news.welcome);
    // Before what is said of joins: these count what is still without a last view.
    news.farewells.forEach(farewell -> writer.settleFarewell(farewell.group()));
    settleReplies(news, added);
    settleFeeds(now, news);
    settleAdmitted(news);
    if (news.taken >= 0 && !writer.settleTaken(news.taken, news.isTakenForGood)) {
      reader.end(Code.UNEXPECTED_FRAME, "the daemon took messages that were not sent");
    }
    for (EventReader.News.FlushNews flush : news.flushes) {
      writer.settleFlush(flush.group(), flush.number(), flush.daemonsNumber());
    }
    for (EventReader.News.Confirmed confirmed : news.confirmed) {
      if (!writer.settleConfirmed(confirmed.request(), confirmed.taken())) {
        reader.end(Code.UNEXPECTED_FRAME, "the daemon confirmed messages that were not sent");
        break;
      }
      observer.confirmed(confirmed.request());
    }
    if (news.hasAnswers || news.hasViews || requests.isSettlingDue()) {
      requests.settle(reader.settlingEvents(), reader.settled(), reader.privateName());
      reader.noteSettled();
      tellAnswers();
    }
    if (news.received >= 0) {
      writer.acknowledge(news.received);
    }
  }

  private void settleReplies(EventReader.News news, int added) {
    int inserted = added;
    int channel = 0;
    int lost = 0;
    for (int i = 0; i < news.replies.size(); i++) {
      EventReader.News.PlacedReply reply = news.replies.get(i);
      boolean isPlain = reply.flow() == null && reply.view() == null;
      for (; channel < news.channels.size() && news.channels.get(channel).before() <= reply.before(); channel++) {
        inserted += tellChannelNews(news.channels.get(channel), inserted);
      }
      lost = loseGroups(news, lost, i);
      if (reply.refusedJoin() != null) {
        writer.settleRefusedJoin(reply.refusedJoin().group());
        if (!observer.joinRefused(reply.refusedJoin())) {
          reader.insertEvent(reply.before() + inserted++, reply.refusedJoin());
        }
        continue;
      }
      if (isPlain && writer.settleChannel(reply.request())) {
        observer.channelAnswered(reply.request(), reply.code() == 0 ? null : Code.of(reply.code()));
        continue;
      }
      if (isPlain && writer.settleFeed(reply.request())) {
        feeds.refused(reply.request(), Code.of(reply.code()));
        continue;
      }
      Event event = null;
      boolean isKnown = true;
      if (reply.flow() != null) {
        Destinations groups = writer.settleFlow(reply.request());
        isKnown = groups != null;
        event = isKnown ? withGroups(reply.flow(), groups) : null;
      } else if (!writer.isPending(reply.request())) {
        isKnown = false;
      } else {
        event = settleReply(reply, reply.before() + inserted);
      }
      if (!isKnown) {
        reader.end(Code.UNEXPECTED_FRAME, "the daemon replied to a request that was not made");
        return;
      }
      if (event != null) {
        reader.insertEvent(reply.before() + inserted++, event);
      }
    }
    for (; channel < news.channels.size(); channel++) {
      inserted += tellChannelNews(news.channels.get(channel), inserted);
    }
    loseGroups(news, lost, news.replies.size());
  }

  /** Those from `from` on that came before the reply of that index. Gives what is left. */
  private int loseGroups(EventReader.News news, int from, int before) {
    int lost = from;
    for (; lost < news.lostGroups.size() && news.lostGroups.get(lost).before() <= before; lost++) {
      writer.loseGroup(news.lostGroups.get(lost).group());
    }
    return lost;
  }

  /** Gives how many events come of it. */
  private int tellChannelNews(EventReader.News.PlacedChannelNews placed, int inserted) {
    int place = placed.before() + inserted;
    if (placed.news() == null) {
      List<Event> ended = observer.channelsLeft(placed.left());
      for (Event each : ended) {
        reader.insertEvent(place++, each);
      }
      return ended.size();
    }
    int request =
        placed.news() instanceof BulkNews.Offered offered
            ? offered.request()
            : placed.news() instanceof BulkNews.Token token ? token.request() : 0;
    if (request != 0 && !writer.settleChannel(request)) {
      reader.end(Code.UNEXPECTED_FRAME, "the daemon answered a request that was not made");
      return 0;
    }
    Event event = observer.channelNews(placed.news(), place);
    if (event == null) {
      return 0;
    }
    reader.insertEvent(place, event);
    return 1;
  }

  private Event settleReply(EventReader.News.PlacedReply reply, int place) {
    RequestFailed failed = writer.settle(reply.request(), reply.code());
    if (failed != null) {
      if (failed.request() == RequestFailed.Request.LISTEN) {
        feeds.forgetGroup(failed.group());
      }
      boolean isTaken = requests.takeList(reply.request(), place, null) || observer.refused(reply.request(), failed);
      return isTaken ? null : failed;
    }
    boolean isEvent = reply.view() != null && !requests.takeList(reply.request(), place, reply.view());
    return isEvent ? reply.view() : null;
  }

  private static FlowState withGroups(FlowState flow, Destinations groups) {
    return new FlowState(
        groups,
        flow.price(),
        flow.budget(),
        flow.rate(),
        flow.salaryPeriod(),
        flow.blockedShare(),
        flow.limitedBy());
  }

  private void settleFeeds(long now, EventReader.News news) {
    int farewell = 0;
    for (int i = 0; i <= news.feeds.size(); i++) {
      for (; farewell < news.farewells.size() && news.farewells.get(farewell).before() <= i; farewell++) {
        feeds.noteLeft(news.farewells.get(farewell).group());
      }
      if (i == news.feeds.size()) {
        return;
      }
      FeedNews each = news.feeds.get(i);
      if (each instanceof FeedNews.Ready ready && !writer.settleFeed(ready.request())) {
        reader.end(Code.UNEXPECTED_FRAME, "the daemon answered a request that was not made");
        return;
      }
      feeds.take(now, each);
    }
  }

  private void settleAdmitted(EventReader.News news) {
    for (EventReader.News.Admitted admitted : news.admitted) {
      if (reader.hasEnded()) {
        return; // Disconnected is the last event
      }
      List<FlowReady> ready = writer.settleAdmitted(admitted.handle(), admitted.bytes());
      if (ready == null) {
        reader.end(Code.UNEXPECTED_FRAME, "the daemon admitted messages that were not sent");
        return;
      }
      ready.forEach(flow -> reader.addEvent(flow, 0));
    }
  }

  private void tellAnswers() {
    for (Requests.Outcome outcome : requests.takeOutcomes()) {
      observer.answered(outcome.number(), outcome.error(), outcome.answers());
    }
  }

  /** Nothing comes any more: Disconnected is the last event. */
  void disconnect() {
    writer.close();
    reader.takeNews();
    requests.endAll(reader.endReason());
    tellAnswers();
    feeds.end(reader.endReason());
    observer.sessionEnded();
    reader.addEvent(new Disconnected(reader.endReason(), reader.endText(), writer.notTaken()), 0);
  }

  /** What was asked in the former session is not answered. */
  void beginAnew() {
    requests.startAnew(writer.former());
    feeds.beginAnew();
    observer.sessionBeganAnew();
  }
}
