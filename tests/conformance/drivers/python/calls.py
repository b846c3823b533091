"""What both drivers share: the lines of the runner, and how calls end."""
import dataclasses
import io
import zlib

from events import code_of, describe, raw
from runner import words
from runner.payload import payload

import spindle

# Of both; what is one's own is added there.
FEATURES = ("flows", "timeouts", "confirm", "drain", "headers", "writable", "resumption", "synchrony", "request",
            "bulk", "feeds")

MADE_FIRST = 24 << 20  # bytes


class Call:
    """A line from the runner: the number of the call, its verb, and its values."""

    def __init__(self, line):
        self.number, self.verb, *values = line.split()
        self._values = words.Values(values)

    def has(self, key):
        return bool(self._values.all(key))

    def all(self, key):
        return self._values.all(key)

    def name(self, key):
        return self.all(key)[0]

    def text(self, key):
        return self._values.text(key, " ").strip()

    def integer(self, key, otherwise=0):
        return int(self.text(key)) if self.has(key) else otherwise

    def seconds(self, key):
        """None where the key is not there."""
        return self.integer(key) / 1000 if self.has(key) else None

    def service(self):
        return spindle.Service[self.text("service").upper()]

    def headers(self):
        return list(zip(self.all("header"), self.all("header_value")))

    def payload(self, index=0):
        return payload(self.integer("seed") + index, self.integer("size"))

    def payloads(self):
        """Of all messages. To make one takes Python longer than to send it: a few are made first, so that they are sent
        as fast as by other drivers."""
        made = (self.payload(index) for index in range(self.integer("count")))
        return list(made) if self.integer("count") * self.integer("size") <= MADE_FIRST else made


def failed(error, *pairs):
    return "failed", [("code", code_of(error.code)), ("text", error.text), *pairs]


def lost(not_taken):
    return "ok", [("not_taken", not_taken.messages), ("exact", "yes" if not_taken.exact else "no")]


def connect_options(call):
    """The addresses, and the other arguments of connect()."""
    options = {"name": call.name("name").decode("utf-8", "surrogateescape"),
               "reconnect_timeout": 60 if call.has("reconnect") else 0, "resume": call.has("resume"),
               "independent_flows": call.text("flows") == "independent", "bulk": call.has("bulk")}
    if call.has("policy"):
        options["slow_policy"] = spindle.SlowPolicy[call.text("policy").upper()]
    for key in ("receive_buffer", "send_buffer"):
        if call.has(key):
            options[key] = call.integer(key)
    for key in ("connect_timeout", "disconnect_timeout", "keepalive"):
        if call.has(key + "_ms"):
            options[key] = call.seconds(key + "_ms")
    addresses = [each.decode("utf-8", "surrogateescape") for each in call.all("address")]
    return addresses, options


def feed_options(call):
    options = {"bytes_per_second": call.integer("rate"), "drop_oldest": call.has("drop_oldest")}
    if call.has("repair_ms"):
        options["repair_for"] = call.seconds("repair_ms")
    if call.has("timeout_ms"):
        options["timeout"] = call.seconds("timeout_ms")
    return options


def listen_options(call):
    options = {"ordered": call.text("delivery") != "immediate"}
    if call.has("deadline_ms"):
        options["deadline"] = call.seconds("deadline_ms")
    return options


def source_of(call):
    kind, name = call.text("kind"), call.name("name").decode("utf-8", "surrogateescape") if call.has("name") else ""
    if kind == "file":
        return spindle.BulkSource.file(call.name("path"), name=name)
    if kind == "directory":
        return spindle.BulkSource.directory(call.name("path"), name=name)
    if kind == "bytes":
        return spindle.BulkSource.bytes(call.payload(), name=name)
    return spindle.BulkSource.stream(io.BytesIO(call.payload()).read, name=name,
                                     spool=call.name("spool") if call.has("spool") else "")


def offer_options(call):
    options = {"bytes_per_second": call.integer("rate")}
    if call.has("weight"):
        options["weight"] = call.integer("weight")
    if call.has("linger_ms"):
        options["linger"] = call.seconds("linger_ms")
    if call.has("timeout_ms"):
        options["timeout"] = call.seconds("timeout_ms")
    return options


def join_options(call):
    return {"synchronous": call.has("synchronous"), "auto_flush": call.has("auto_flush")}


def send_options(call):
    return {"type": call.integer("type"), "self_discard": call.has("self_discard"), "headers": call.headers()}


def request_options(call):
    return {"answers": call.integer("answers"), "service": call.service(), "timeout": call.seconds("timeout_ms"),
            **send_options(call)}


def answered(answers, word="ok", pairs=()):
    """How a request ends, with the answers that it had."""
    pairs = [*pairs]
    for each in answers.messages:
        pairs += [("sender", raw(each.sender)), ("size", len(each)), ("digest", zlib.crc32(each))]
    return word, pairs


def not_answered(error):
    return answered(error.answers or spindle.Answers((), ()), *failed(error))


class Program:
    """The verbs that wait for nothing, and so are the same with and without a loop."""

    def __init__(self):
        self.connection = None
        self.feeds = {}
        self.channels = {}  # by the names that the runner knows them by
        self.streams = {}  # what has come of those that were accepted as streams
        self.request_message = None
        self.flush_request = None

    def do_flush_ok(self, call):
        self.connection.flush_ok(self.flush_request)

    def do_listen(self, call):
        self.connection.listen(call.name("group"), **listen_options(call))

    def do_unlisten(self, call):
        self.connection.stop_listening(call.name("group"))

    def opened(self, feed):
        self.feeds[feed.id] = feed
        return "ok", [("feed", feed.id)]

    def do_emit(self, call):
        sent = 0
        try:
            for content in call.payloads():
                if not self.feeds[call.integer("feed")].try_send(content):
                    return "failed", [("code", "would_block"), ("sent", sent)]
                sent += 1
        except spindle.Error as error:
            return failed(error, ("sent", sent))
        return "ok", [("sent", sent)]

    def do_shut(self, call):
        self.feeds.pop(call.integer("feed")).close()

    def offered(self, channel):
        self.channels[str(channel)] = channel
        return "ok", [("channel", str(channel))]

    def sink_of(self, call):
        kind = call.text("sink")
        if kind == "file":
            return spindle.BulkSink.file(call.name("path"))
        if kind == "directory":
            return spindle.BulkSink.directory(call.name("path"))
        if kind == "memory":
            return spindle.BulkSink.memory(call.integer("bytes_max"))
        self.streams[call.text("channel")] = collected = io.BytesIO()
        return spindle.BulkSink.stream(collected.write)

    def channel(self, call):
        return self.channels[call.text("channel")]

    def do_accept(self, call):
        self.connection.bulk.accept(self.channel(call), self.sink_of(call), replace=call.has("replace"),
                                    serve=not call.has("not_serving"))

    def do_refuse(self, call):
        self.connection.bulk.refuse(self.channel(call))

    def do_withdraw(self, call):
        self.connection.bulk.cancel(self.channel(call))

    def do_rate(self, call):
        self.connection.bulk.set_rate(self.channel(call), call.integer("rate"))

    def received(self, event):
        if isinstance(event, spindle.BulkOffered):
            self.channels[str(event.channel)] = event.channel
        if isinstance(event, spindle.BulkReceived) and str(event.channel) in self.streams:
            event = dataclasses.replace(event, content=self.streams[str(event.channel)].getvalue())
        if isinstance(event, spindle.Message) and event.is_request:
            self.request_message = event
        if isinstance(event, spindle.FlushRequest):
            self.flush_request = event
        return describe(event)
