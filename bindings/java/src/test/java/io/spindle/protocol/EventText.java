package io.spindle.protocol;

import io.spindle.BulkComplete;
import io.spindle.BulkGone;
import io.spindle.ChannelId;
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
import io.spindle.GroupViewId;
import io.spindle.Headers;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.QueueWarning;
import io.spindle.Reconnected;
import io.spindle.RequestFailed;
import io.spindle.Transitional;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Events as text that is the same in each language: tests/conformance/twins/describe.h. */
final class EventText {
  private EventText() {}

  static String words(Object... parts) {
    List<String> texts = new ArrayList<>();
    for (Object part : parts) {
      texts.add(String.valueOf(part));
    }
    return String.join(" ", texts);
  }

  static String hex(byte[] bytes) {
    return bytes.length == 0 ? "-" : HexFormat.of().formatHex(bytes);
  }

  static String hex(Name name) {
    return hex(name.toBytes());
  }

  /** Words for people: bytes that are no ASCII may have been replaced. */
  static String hex(String text) {
    return text.chars().allMatch(c -> c < 0x80) ? hex(text.getBytes()) : "?";
  }

  static String hex(List<Name> names) {
    return names.isEmpty() ? "none" : String.join(",", names.stream().map(EventText::hex).toList());
  }

  private static String text(GroupViewId id) {
    return words(
        Long.toUnsignedString(id.viewNumber()),
        id.coordinator(),
        Long.toUnsignedString(id.incarnation()),
        Long.toUnsignedString(id.position()));
  }

  static String of(Event event) {
    if (event instanceof Message message) {
      return of(message);
    } else if (event instanceof GroupView view) {
      return of(view);
    } else if (event instanceof Transitional signal) {
      return words("transitional", hex(signal.group()));
    } else if (event instanceof RequestFailed failed) {
      return words(
          "failed", failed.request().ordinal(), hex(failed.group()), failed.code().number(), failed.messages());
    } else if (event instanceof FlushRequest request) {
      return words("flush_request", hex(request.group()), request.number());
    } else if (event instanceof FlowReady ready) {
      return words("ready", hex(ready.groups().names()));
    } else if (event instanceof FlowState state) {
      return words(
          "flow",
          hex(state.groups().names()),
          Math.round(state.price() * 1000),
          Math.round(state.budget() * 1000),
          Math.round(state.rate() * 1000),
          state.salaryPeriod().toNanos() / 1000,
          Math.round(state.blockedShare() * 1000),
          hex(state.limitedBy()));
    } else if (event instanceof Gap gap) {
      StringBuilder text = new StringBuilder(words("gap", gap.messages(), gap.bytes(), gap.unlisted()));
      gap.names().forEach(each -> text.append(' ').append(hex(each.name())).append('=').append(each.messages()));
      return text.toString();
    } else if (event instanceof QueueWarning warning) {
      return words("warning", warning.percent(), warning.bytes(), warning.limitBytes());
    } else if (event instanceof Reconnected again) {
      StringBuilder text =
          new StringBuilder(
              words(
                  "reconnected",
                  again.resumed() ? 1 : 0,
                  hex(again.formerName()),
                  hex(again.privateName()),
                  again.fenced() ? 1 : 0));
      again.unknown().forEach(ticket -> text.append(' ').append(ticket));
      return text.toString();
    } else if (event instanceof Disconnected end) {
      return words(
          "disconnected",
          end.code().number(),
          hex(end.text()),
          end.notTaken().messages(),
          end.notTaken().exact() ? 1 : 0);
    }
    return ofFeed(event);
  }

  private static String of(Message message) {
    String place =
        message
            .position()
            .map(at -> words(text(at.change()), Long.toUnsignedString(at.order()), Integer.toUnsignedLong(at.index())))
            .orElse("nowhere");
    StringBuilder text =
        new StringBuilder(
            words(
                "message",
                message.service().ordinal(),
                message.type(),
                hex(message.sender()),
                hex(message.groups()),
                hex(message.payload()),
                place,
                message.isRequest() ? 1 : 0));
    for (Headers.Header header : message.headers()) {
      text.append(' ').append(hex(header.key())).append('=').append(hex(header.value()));
    }
    return text.toString();
  }

  private static String of(GroupView view) {
    return words(
        "view",
        hex(view.group()),
        text(view.id()),
        view.cause().ordinal() + 1,
        view.form().ordinal(),
        view.memberCount(),
        view.synchronous() ? 1 : 0,
        Long.toUnsignedString(view.digest()),
        hex(view.joined()),
        hex(view.left()),
        hex(view.apart()),
        hex(view.members()),
        hex(view.vsSet()),
        view.myIndex().isPresent() ? String.valueOf(view.myIndex().getAsInt()) : "-");
  }

  private static String ofFeed(Event event) {
    if (event instanceof FeedOpened opened) {
      return words(
          "feed_opened",
          opened.feed(),
          hex(opened.group()),
          hex(opened.source()),
          opened.repairFor().toNanos() / 1000);
    } else if (event instanceof FeedPacket packet) {
      return words("feed_packet", packet.feed(), packet.sequence(), packet.packets(), hex(packet.payload()));
    } else if (event instanceof FeedGap gap) {
      return words("feed_gap", gap.feed(), gap.first(), gap.count(), gap.cause().ordinal());
    } else if (event instanceof FeedClosed closed) {
      return words("feed_closed", closed.feed(), closed.why().ordinal(), closed.code().map(io.spindle.Code::number).orElse(0));
    } else if (event instanceof FeedFlow flow) {
      return words(
          "feed_flow",
          flow.feed(),
          flow.bytesPerSecond(),
          flow.roundTrip().toNanos() / 1000,
          Math.round(flow.loss() * 65535),
          flow.limitedBy().ordinal());
    } else if (event instanceof FeedWritable writable) {
      return words("feed_writable", writable.feed());
    }
    return "later";
  }

  private static String text(ChannelId id) {
    return words(id.daemon(), Long.toUnsignedString(id.incarnation()), Long.toUnsignedString(id.number()));
  }

  private static String text(BulkGone gone) {
    return words(
        Long.toUnsignedString(gone.done()),
        Long.toUnsignedString(gone.failed()),
        Long.toUnsignedString(gone.refused()),
        Long.toUnsignedString(gone.missing()));
  }

  static String of(BulkNews news) {
    if (news instanceof BulkNews.Offered offered) {
      ContentTerms terms = offered.terms();
      return words(
          "offered",
          text(offered.channel()),
          Integer.toUnsignedString(offered.request()),
          offered.isLate() ? 1 : 0,
          hex(offered.group()),
          hex(offered.source()),
          hex(terms.name().getBytes(StandardCharsets.UTF_8)),
          terms.layout().blockBytes(),
          terms.layout().symbolBytes(),
          Long.toUnsignedString(terms.layout().size()),
          terms.kind().ordinal(),
          Long.toUnsignedString(terms.bytesPerSecond()),
          terms.weight(),
          Integer.toUnsignedString(terms.lingerSeconds()),
          offered.root() == null ? "-" : hex(offered.root()));
    } else if (news instanceof BulkNews.Sealed sealed) {
      return words("sealed", text(sealed.channel()), Long.toUnsignedString(sealed.size()), hex(sealed.root()));
    } else if (news instanceof BulkNews.Complete complete) {
      BulkComplete event = complete.event();
      StringBuilder text =
          new StringBuilder(
              words(
                  "complete",
                  text(event.channel()),
                  hex(event.done()),
                  hex(event.refused()),
                  text(event.gone())));
      event.failed().forEach(each -> text.append(words("", hex(each.name()), each.code().number())));
      return text.toString();
    } else if (news instanceof BulkNews.Ended ended) {
      return words("ended", text(ended.channel()), ended.why().ordinal() + 1);
    } else if (news instanceof BulkNews.Token token) {
      return words(
          "token",
          Integer.toUnsignedString(token.request()),
          Long.toUnsignedString(token.session()),
          hex(token.token()));
    }
    BulkNews.Returned returned = (BulkNews.Returned) news;
    return words(
        "returned", text(returned.channel()), text(returned.gone()), Long.toUnsignedString(returned.present()));
  }
}
