"""Events of the package as lines for the runner."""
import zlib

import spindle


def raw(name):
    """The bytes of a name, which the package gives as text."""
    return name.encode("utf-8", "surrogateescape")


def code_of(code):
    return code.name.lower()


def listed(key, names):
    return [(key, raw(name)) for name in names]


def message(event):
    pairs = [("sender", raw(event.sender)), ("service", event.service.name.lower()), ("type", event.type),
             *listed("group", event.groups), ("size", len(event)), ("digest", zlib.crc32(event.payload))]
    for key, value in event.headers:
        pairs += [("header", raw(key)), ("header_value", value)]
    return "message", pairs


def view(event):
    place = f"{event.id.view_number}/{event.id.coordinator}/{event.id.incarnation}/{event.id.position}"
    pairs = [("group", raw(event.group)), ("id", place), ("cause", event.cause.value), ("form", event.form.value),
             ("count", event.member_count), ("digest", event.digest), *listed("joined", event.joined),
             *listed("left", event.left), *listed("apart", event.apart), *listed("member", event.members),
             *listed("together", event.vs_set)]
    if event.my_index is not None:
        pairs.append(("index", event.my_index))
    return "view", pairs


def gap(event):
    pairs = [("messages", event.messages), ("bytes", event.bytes), ("unlisted", event.unlisted)]
    for name, messages in event.names:
        pairs += [("name", raw(name)), ("of_name", messages)]
    return "gap", pairs


def feed_closed(event):
    pairs = [("feed", event.feed), ("why", event.why.value)]
    if event.code is not None:
        pairs.append(("code", code_of(event.code)))
    return "feed_closed", pairs


def bulk_offered(event):
    pairs = [("channel", event.channel), ("group", raw(event.group)), ("source", raw(event.source)),
             ("name", raw(event.name)), ("kind", event.kind.value), ("late", "yes" if event.late else "no")]
    return "bulk_offered", pairs + ([] if event.size is None else [("size", event.size)])


def bulk_received(event):
    pairs = [("channel", event.channel), ("path", raw(event.path)), ("size", len(event.content)),
             ("digest", zlib.crc32(event.content))]
    return "bulk_received", pairs + code_and_text(event)


def code_and_text(event):
    return [] if event.code is None else [("code", code_of(event.code)), ("text", event.text)]


def gone(event):
    return [(f"gone_{key}", getattr(event.gone, key)) for key in ("done", "failed", "refused", "missing")]


def bulk_complete(event):
    pairs = [("channel", event.channel), *listed("done", event.done), *listed("refused", event.refused)]
    for name, code in event.failed:
        pairs += [("failed", raw(name)), ("failed_code", code_of(code))]
    return "bulk_complete", pairs + gone(event)


WRITERS = {
    spindle.Message: message,
    spindle.GroupView: view,
    spindle.Gap: gap,
    spindle.FeedClosed: feed_closed,
    spindle.Transitional: lambda e: ("signal", [("group", raw(e.group))]),
    spindle.RequestFailed: lambda e: ("told", [("request", e.request.value), ("group", raw(e.group)),
                                               ("code", code_of(e.code)), ("messages", e.messages)]),
    spindle.FlowReady: lambda e: ("ready", listed("group", e.groups)),
    spindle.FlowState: lambda e: ("flow", listed("group", e.groups)),
    spindle.QueueWarning: lambda e: ("warned", [("percent", e.percent), ("bytes", e.bytes), ("limit", e.limit_bytes)]),
    spindle.Disconnected: lambda e: ("disconnected", [("code", code_of(e.code)), ("text", e.text)]),
    spindle.FlushRequest: lambda e: ("flush_request", [("group", raw(e.group))]),
    spindle.Reconnected: lambda e: ("reconnected", [("how", "resumed" if e.resumed else "anew"),
                                                    ("name", raw(e.private_name)),
                                                    *[("unknown", ticket) for ticket in e.unknown]]),
    spindle.FeedOpened: lambda e: ("feed_opened", [("feed", e.feed), ("group", raw(e.group)), ("source", raw(e.source)),
                                                   ("repair_ms", int(e.repair_for * 1000))]),
    spindle.FeedPacket: lambda e: ("feed_packet", [("feed", e.feed), ("sequence", e.sequence), ("packets", e.packets),
                                                   ("size", len(e.payload)), ("digest", zlib.crc32(e.payload))]),
    spindle.FeedGap: lambda e: ("feed_gap", [("feed", e.feed), ("sequence", e.first), ("packets", e.count),
                                             ("cause", e.cause.value)]),
    spindle.FeedFlow: lambda e: ("feed_flow", [("feed", e.feed), ("rate", e.bytes_per_second),
                                               ("limited_by", e.limited_by.value)]),
    spindle.FeedWritable: lambda e: ("feed_writable", [("feed", e.feed)]),
    spindle.BulkOffered: bulk_offered,
    spindle.BulkProgress: lambda e: ("bulk_progress", [("channel", e.channel), ("bytes", e.bytes),
                                                       *([] if e.size is None else [("size", e.size)])]),
    spindle.BulkStalled: lambda e: ("bulk_stalled", [("channel", e.channel)]),
    spindle.BulkReceived: bulk_received,
    spindle.BulkComplete: bulk_complete,
    spindle.BulkReturned: lambda e: ("bulk_returned", [("channel", e.channel), ("present", e.present), *gone(e)]),
    spindle.BulkEnded: lambda e: ("bulk_ended", [("channel", e.channel), ("cause", e.cause.value),
                                                 *code_and_text(e)]),
    spindle.OtherEvent: lambda e: ("later", []),
}


def describe(event):
    """A word and its values."""
    return WRITERS[type(event)](event)
