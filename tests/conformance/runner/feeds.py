"""Feeds: what clients send and hear, and what they are to be told. How each verb is performed."""
import dataclasses
import time

from . import payload
from .client import describe
from .failure import PATIENCE_S, Failure

ROOM_PERIOD_S = 0.01


@dataclasses.dataclass
class Feed:
    """Of a client that sends it."""
    number: int  # the client's first is 1
    id: str  # at the client
    group: bytes
    sent: list = dataclasses.field(default_factory=list)  # (size, digest)


def perform_listen(stage, step, clients):
    def one(client):
        pairs = [("group", step.arguments["group"])]
        if step.verb == "listen":
            pairs.append(("delivery", step.arguments["delivery"]))
            if step.arguments["deadline_ms"] is not None:
                pairs.append(("deadline_ms", step.arguments["deadline_ms"]))
        answer = client.call(step, step.verb, pairs)
        if answer is None or answer.word == "ok":
            change = client.listening.listens if step.verb == "listen" else client.listening.stops
            change(step.arguments["group"])
        expect_refusal(client, step, answer)
    stage.each(clients, one)


def expect_refusal(client, step, answer):
    """By the call itself, or by an event that follows."""
    code = step.arguments["refused"]
    if code is None or answer is None or answer.word == "failed":
        return
    event = client.next_event("told")
    got = (event.values.text("request", "none"), event.values.all("group"), event.values.text("code", "none"))
    if event.word != "told" or got != ("listen", [step.arguments["group"]], code):
        raise Failure(f"{client.name} is not refused with {code}, but gets {event.word} {got}")


def perform_feed(stage, step, clients):
    def one(client):
        pairs = [("group", step.arguments["group"]), *step.arguments["options"]]
        answer = client.call(step, "feed", pairs)
        if answer is not None and answer.word == "ok":
            client.feeds.append(Feed(len(client.feeds) + 1, answer.values.text("feed"), step.arguments["group"]))
            client.listening.opens(answer.values.text("feed"))
    stage.each(clients, one)


def perform_emit(stage, step, clients):
    def one(client):
        of = step.arguments
        feed = stage.feed(of["feed"])
        left = of["count"]
        until = time.monotonic() + PATIENCE_S
        while left > 0:
            seed = client.feed_seed(feed.number) + len(feed.sent)
            pairs = [("feed", feed.id), ("seed", seed), ("size", of["size"]), ("count", left)]
            # One that was just opened anew has no room before its daemon has said so.
            answer = client.call(step, "emit", pairs, passing="would_block" if time.monotonic() < until else None)
            sent = answer.values.number("sent")
            feed.sent += [(of["size"], payload.digest(seed + i, of["size"])) for i in range(sent)]
            left -= sent
            if step.arguments["refused"]:
                return
            if left > 0:
                time.sleep(ROOM_PERIOD_S)
    stage.each(clients, one)


def perform_shut(stage, step, clients):
    stage.each(clients, lambda client: client.call(step, "shut", [("feed", stage.feed(step.arguments["feed"]).id)]))


def next_of_feed(client, kind, feed_id):
    """The next event of that feed, or of any where it is not known yet by what it is called at this client."""
    event = client.next_feed_event(kind, feed_id)
    if event.word != kind:
        raise Failure(f"{client.name} gets {describe(event)}, and waits for {kind} of feed {feed_id or 'any'}")
    return event.values


def known_id(client, named):
    """What a client calls the feed, of its own or of another one."""
    if named.source == client.name and named not in client.heard:
        return client.feeds[named.number - 1].id
    if named not in client.heard:
        raise Failure(f"{client.name} has not been told of the feed {named.source}/{named.number}")
    return client.heard[named]


def check_told_feed(stage, step, clients):
    named = step.arguments["feed"]
    feed = stage.feed(named)
    source = stage.clients([named.source])[0].private_name

    def one(client):
        values = next_of_feed(client, "feed_opened", None)
        if (values.bytes("group"), values.bytes("source")) != (feed.group, source):
            raise Failure(f"{client.name} is told of a feed of {values.bytes('source')!r} to {values.bytes('group')!r}")
        client.heard[named] = values.text("feed")
        client.last_packets.pop(values.text("feed"), None)
    stage.each(clients, one)


def check_hears(stage, step, clients):
    named = step.arguments["feed"]
    feed = stage.feed(named)

    def one(client):
        feed_id = known_id(client, named)
        for number in step.arguments["numbers"]:
            values = next_of_feed(client, "feed_packet", feed_id)
            got = (values.number("size"), values.number("digest"))
            if got != feed.sent[number - 1]:
                raise Failure(f"{client.name} hears {got[0]} bytes that are not message {number} of "
                              f"{named.source}/{named.number}")
            first, packets = values.number("sequence"), values.number("packets")
            before = client.last_packets.get(feed_id)
            # Short messages may share a packet.
            is_shared = before == (first, 1) and packets == 1
            if before and first != sum(before) and not is_shared:
                raise Failure(f"{client.name} hears packet {first}, and {sum(before)} is next")
            client.last_packets[feed_id] = (first, packets)
    stage.each(clients, one)


def check_over(stage, step, clients):
    of = step.arguments

    def one(client):
        values = next_of_feed(client, "feed_closed", known_id(client, of["feed"]))
        got = (values.text("why"), values.text("code", "none"))
        if got != (of["why"], of["code"] or "none"):
            raise Failure(f"{client.name} is told that {of['feed'].source}/{of['feed'].number} is over: {got}")
    stage.each(clients, one)


VERBS = {"listen": perform_listen, "unlisten": perform_listen, "feed": perform_feed, "emit": perform_emit,
         "shut": perform_shut, "told_feed": check_told_feed, "hears": check_hears, "over": check_over}
