import io.spindle.BulkComplete;
import io.spindle.BulkEnded;
import io.spindle.BulkEvent;
import io.spindle.BulkGone;
import io.spindle.BulkOffered;
import io.spindle.BulkProgress;
import io.spindle.BulkReceived;
import io.spindle.BulkReturned;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.FeedClosed;
import io.spindle.FeedFlow;
import io.spindle.FeedGap;
import io.spindle.FeedOpened;
import io.spindle.FeedPacket;
import io.spindle.FeedWritable;
import io.spindle.FlowReady;
import io.spindle.FlowState;
import io.spindle.FlushRequest;
import io.spindle.Gap;
import io.spindle.GroupView;
import io.spindle.Headers;
import io.spindle.Message;
import io.spindle.QueueWarning;
import io.spindle.Reconnected;
import io.spindle.RequestFailed;
import io.spindle.Transitional;
import java.nio.file.Path;
import java.util.Locale;

/** Events of the client as lines for the runner. */
final class Events {
  private Events() {}

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  static Answer describe(Event event) {
    if (event instanceof Message message) {
      return describe(message);
    } else if (event instanceof GroupView view) {
      return describe(view);
    } else if (event instanceof Transitional signal) {
      return new Answer("signal").add("group", signal.group());
    } else if (event instanceof RequestFailed failed) {
      return new Answer("told")
          .add("request", lower(failed.request()))
          .add("group", failed.group())
          .add("code", failed.code().identifier())
          .add("messages", failed.messages());
    } else if (event instanceof FlowReady ready) {
      return new Answer("ready").addAll("group", ready.groups().names());
    } else if (event instanceof FlowState state) {
      return new Answer("flow").addAll("group", state.groups().names());
    } else if (event instanceof Gap gap) {
      return describe(gap);
    } else if (event instanceof QueueWarning warning) {
      return new Answer("warned")
          .add("percent", warning.percent())
          .add("bytes", warning.bytes())
          .add("limit", warning.limitBytes());
    } else if (event instanceof Disconnected end) {
      return new Answer("disconnected").add("code", end.code().identifier()).add("text", end.text());
    } else if (event instanceof FlushRequest request) {
      return new Answer("flush_request").add("group", request.group());
    } else if (event instanceof Reconnected again) {
      Answer answer = new Answer("reconnected").add("how", again.resumed() ? "resumed" : "anew");
      answer.add("name", again.privateName());
      again.unknown().forEach(ticket -> answer.add("unknown", ticket));
      return answer;
    }
    return event instanceof BulkEvent ofChannel ? describeBulk(ofChannel) : describeFeed(event);
  }

  private static Answer describe(Message message) {
    Answer answer =
        new Answer("message")
            .add("sender", message.sender())
            .add("service", lower(message.service()))
            .add("type", message.type())
            .addAll("group", message.groups())
            .addContent(message.payload());
    for (Headers.Header header : message.headers()) {
      answer.add("header", header.key()).add("header_value", header.value());
    }
    return answer;
  }

  private static Answer describe(GroupView view) {
    String id =
        String.join(
            "/",
            Long.toUnsignedString(view.id().viewNumber()),
            view.id().coordinator(),
            Long.toUnsignedString(view.id().incarnation()),
            Long.toUnsignedString(view.id().position()));
    Answer answer =
        new Answer("view")
            .add("group", view.group())
            .add("id", id)
            .add("cause", lower(view.cause()))
            .add("form", lower(view.form()))
            .add("count", view.memberCount())
            .add("digest", view.digest())
            .addAll("joined", view.joined())
            .addAll("left", view.left())
            .addAll("apart", view.apart())
            .addAll("member", view.members())
            .addAll("together", view.vsSet());
    view.myIndex().ifPresent(index -> answer.add("index", index));
    return answer;
  }

  private static Answer describe(Gap gap) {
    Answer answer = new Answer("gap").add("messages", gap.messages());
    answer.add("bytes", gap.bytes()).add("unlisted", gap.unlisted());
    gap.names().forEach(each -> answer.add("name", each.name()).add("of_name", each.messages()));
    return answer;
  }

  /** `content`: that of memory, or of a stream. */
  static Answer describe(BulkReceived received, byte[] content) {
    Answer answer = new Answer("bulk_received").add("channel", received.channel().toString());
    answer.add("path", received.path().map(Path::toString).orElse("")).addContent(content);
    received.code().ifPresent(code -> answer.add("code", code.identifier()).add("text", received.text()));
    return answer;
  }

  private static Answer describeBulk(BulkEvent event) {
    String channel = event.channel().toString();
    if (event instanceof BulkOffered offered) {
      Answer answer =
          new Answer("bulk_offered")
              .add("channel", channel)
              .add("group", offered.group())
              .add("source", offered.source())
              .add("name", offered.name())
              .add("kind", lower(offered.kind()))
              .add("late", offered.late() ? "yes" : "no");
      offered.size().ifPresent(size -> answer.add("size", size));
      return answer;
    } else if (event instanceof BulkProgress progress) {
      Answer answer = new Answer("bulk_progress").add("channel", channel).add("bytes", progress.bytes());
      progress.size().ifPresent(size -> answer.add("size", size));
      return answer;
    } else if (event instanceof BulkComplete complete) {
      Answer answer =
          new Answer("bulk_complete")
              .add("channel", channel)
              .addAll("done", complete.done())
              .addAll("refused", complete.refused());
      for (BulkComplete.Failed each : complete.failed()) {
        answer.add("failed", each.name()).add("failed_code", each.code().identifier());
      }
      return addGone(answer, complete.gone());
    } else if (event instanceof BulkReturned returned) {
      Answer answer = new Answer("bulk_returned").add("channel", channel).add("present", returned.present());
      return addGone(answer, returned.gone());
    } else if (event instanceof BulkEnded ended) {
      Answer answer = new Answer("bulk_ended").add("channel", channel).add("cause", lower(ended.cause()));
      ended.code().ifPresent(code -> answer.add("code", code.identifier()).add("text", ended.text()));
      return answer;
    }
    return new Answer("bulk_stalled").add("channel", channel);
  }

  private static Answer addGone(Answer answer, BulkGone gone) {
    return answer
        .add("gone_done", gone.done())
        .add("gone_failed", gone.failed())
        .add("gone_refused", gone.refused())
        .add("gone_missing", gone.missing());
  }

  private static Answer describeFeed(Event event) {
    if (event instanceof FeedOpened opened) {
      return new Answer("feed_opened")
          .add("feed", opened.feed())
          .add("group", opened.group())
          .add("source", opened.source())
          .add("repair_ms", opened.repairFor().toMillis());
    } else if (event instanceof FeedPacket packet) {
      return new Answer("feed_packet")
          .add("feed", packet.feed())
          .add("sequence", packet.sequence())
          .add("packets", packet.packets())
          .addContent(packet.payload());
    } else if (event instanceof FeedGap gap) {
      return new Answer("feed_gap")
          .add("feed", gap.feed())
          .add("sequence", gap.first())
          .add("packets", gap.count())
          .add("cause", lower(gap.cause()));
    } else if (event instanceof FeedClosed closed) {
      Answer answer = new Answer("feed_closed").add("feed", closed.feed()).add("why", lower(closed.why()));
      closed.code().ifPresent(code -> answer.add("code", code.identifier()));
      return answer;
    } else if (event instanceof FeedFlow flow) {
      return new Answer("feed_flow")
          .add("feed", flow.feed())
          .add("rate", flow.bytesPerSecond())
          .add("limited_by", lower(flow.limitedBy()));
    } else if (event instanceof FeedWritable writable) {
      return new Answer("feed_writable").add("feed", writable.feed());
    }
    return new Answer("later");
  }
}
