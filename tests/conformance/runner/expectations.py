"""What clients are to get: how each verb is held to what happened."""
import collections
import dataclasses
import itertools

from .client import NEWS, Sent, describe
from .failure import Failure


def check_gets(stage, step, clients):
    of = step.arguments
    orders = stage.each(clients, lambda client: collect(stage, step, client))
    if of["one_order"]:
        for client, order in zip(clients[1:], orders[1:]):
            if order != orders[0]:
                one, other = next(pair for pair in itertools.zip_longest(order, orders[0]) if pair[0] != pair[1])
                raise Failure(f"{client.name} has {one or 'nothing'} where {clients[0].name} has {other or 'nothing'}")


def collect(stage, step, client):
    """The labels of the messages of a step in the order in which they came."""
    of = step.arguments
    groups = of["groups"] and tuple(stage.resolve(of["groups"]))
    waiting = [collections.deque(each) for each in stage.expected(of["sequences"], groups)]
    order = []
    gaps = 0
    while any(waiting):
        event = client.next_event("message", NEWS if of["some"] else None)
        if event.word == "gap" and of["gaps"]:
            skip_gap(client, waiting[0], event.values)
            gaps += 1
        elif event.word == "message":
            order.append(take_message(stage, client, waiting, event))
        elif of["some"]:
            client.keep(event)
            break
        else:
            raise Failure(f"{client.name} gets {describe(event)}, and waits for {heads(waiting)}")
    if of["gaps"] and gaps == 0:
        raise Failure(f"{client.name} gets all messages, and no gap")
    return order


def take_message(stage, client, waiting, event):
    sender = stage.who(event.values.bytes("sender"))
    for each in waiting:
        if each and each[0] == Sent.from_event(event.values, each[0].label, sender):
            return each.popleft().label
    name = stage.label_of(event.values) or describe(event)
    raise Failure(f"{client.name} gets {name}, and waits for {heads(waiting)}")


def heads(waiting):
    return " or ".join(f"{each[0].label} ({each[0].service}, {each[0].size} bytes)" for each in waiting if each)


def skip_gap(client, waiting, gap):
    """Takes out what a gap says is missing, which has to be what is missing."""
    count = gap.number("messages")
    missing = [waiting.popleft() for _ in range(min(count, len(waiting)))]
    size = sum(message.size for message in missing)
    if len(missing) != count or size != gap.number("bytes"):
        raise Failure(f"{client.name}: a gap says {count} messages of {gap.number('bytes')} bytes; it can be "
                      f"{len(missing)} of {size}")
    names = collections.Counter(name for message in missing for name in message.groups)
    told = dict(zip(gap.all("name"), (int(each) for each in gap.all("of_name"))))
    if told != dict(names):
        raise Failure(f"{client.name}: a gap names {told}, and it was {dict(names)}")


def check_view(stage, step, clients):
    views = stage.each(clients, lambda client: wait_for_view(stage, step, client))
    for client, view in zip(clients[1:], views[1:]):
        for key in ("id", "digest", "count"):
            if view.text(key) != views[0].text(key):
                raise Failure(f"{client.name} and {clients[0].name} differ in the {key} of their views")


def wait_for_view(stage, step, client):
    """Views that are not the one described are passed over."""
    seen = []
    try:
        while True:
            event = client.view_reached or client.next_event("view")
            client.view_reached = None
            if event.word != "view":
                raise Failure(f"{client.name} gets {describe(event)}")
            if is_described(stage, step.arguments, client, event.values):
                return event.values
            seen.append(describe(event))
    except Failure as failure:
        raise Failure(f"{failure}\n    views before that: {'; '.join(seen) or 'none'}") from None


def is_described(stage, of, client, view):
    group = view.bytes("group")
    if group != of["group"]:
        return False
    for key in ("joined", "left", "apart", "together"):
        if of[key] is not None and stage.private_names(of[key]) != set(view.all(key)):
            return False
    return ((of["members"] is None or stage.private_names(of["members"]) == set(client.members.of(group)))
            and of["count"] in (None, view.number("count"))
            and of["cause"] in (None, view.text("cause")) and of["form"] in (None, view.text("form")))


@dataclasses.dataclass(frozen=True)
class Simple:
    """An event that has to come with these values; others of its kind are passed over where they are news."""
    kind: str
    values: tuple

    def check(self, client):
        while True:
            event = client.next_event(self.kind)
            if event.word == self.kind and all(event.values.all(key) == value for key, value in self.values):
                return
            if event.word != self.kind or self.kind in ("told", "reconnected"):
                raise Failure(f"{client.name} gets {describe(event)}, and waits for {self.kind}")


def check_signal(stage, step, clients):
    simple(stage, clients, "signal", group=[step.arguments["group"]])


def check_ready(stage, step, clients):
    groups = stage.resolve(step.arguments["groups"])
    stage.each(clients, lambda client: wait_for_news(client, "ready", "group", groups))


def wait_for_news(client, kind, key, values):
    """News may have come already, while something else was awaited."""
    while True:
        for event in client.news:
            if event.word == kind and event.values.all(key) == values:
                client.news.remove(event)
                return
        event = client.next_event(kind)
        if event.word != kind:
            raise Failure(f"{client.name} gets {describe(event)}, and waits for {kind}")


def check_warned(stage, step, clients):
    stage.each(clients, lambda client: wait_for_news(client, "warned", "percent", [b"%d" % step.arguments["percent"]]))


def check_told(stage, step, clients):
    of = step.arguments
    simple(stage, clients, "told", request=[of["request"].encode()], group=[of["group"]], code=[of["code"].encode()])


def check_flush_request(stage, step, clients):
    simple(stage, clients, "flush_request", group=[step.arguments["group"]])


def check_answered(stage, step, clients):
    """The calls of requests have to have ended, with these answers in any order."""
    expected = sorted(message.label for each in stage.expected([step.arguments["sequences"]]) for message in each)

    def one(client):
        client.finish_all()
        answers = sorted(stage.label(sender, int(size), int(digest)) or "what nobody has sent"
                         for sender, size, digest in client.answers)
        if answers != expected:
            raise Failure(f"{client.name} has been answered {' '.join(answers) or 'nothing'}")
    stage.each(clients, one)


def simple(stage, clients, kind, **values):
    expected = Simple(kind, tuple(values.items()))
    stage.each(clients, expected.check)


def check_disconnected(stage, step, clients):
    stage.each(clients, lambda client: client.expect_end(step.arguments["code"], ignore_messages=False))


def check_reconnected(stage, step, clients):
    """The messages that are said to be unknown are named by their numbers."""
    if step.arguments["how"] == "resumed":
        stage.each(clients, lambda client: wait_for_news(client, "resumed", "how", [b"resumed"]))
        return

    def one(client):
        event = client.next_event("reconnected")
        if event.word != "reconnected":
            raise Failure(f"{client.name} gets {describe(event)}, not reconnected {step.arguments['how']}")
        unknown = [message.label for each in stage.expected([step.arguments["unknown"]]) for message in each]
        told = [f"{client.name}:{number.decode()}" for number in event.values.all("unknown")]
        if told != unknown:
            raise Failure(f"{client.name}: unknown are {told}, not {unknown}")
        client.connected_as(event.values.bytes("name"))
    stage.each(clients, one)


def check_nothing(stage, step, clients):
    stage.each(clients, expect_nothing)


def expect_nothing(client):
    """Of all ordered messages that were sent before this, and of whatever has come already."""
    marker = client.send_marker()
    event = client.next_event("message")
    is_marker = (event.word == "message" and event.values.bytes("sender") == client.private_name
                 and Sent.from_event(event.values, marker.label, client.name) == marker)
    if not is_marker:
        raise Failure(f"{client.name} gets {describe(event)}, which the scenario does not say")
    unsaid = client.unsaid_feed_event()
    if unsaid:
        raise Failure(f"{client.name} gets {describe(unsaid)}, which the scenario does not say")


def check_done(stage, step, clients):
    stage.each(clients, lambda client: client.finish_all())


VERBS = {
    "gets": check_gets, "view": check_view, "signal": check_signal, "ready": check_ready, "warned": check_warned,
    "told": check_told, "flush_request": check_flush_request, "answered": check_answered,
    "disconnected": check_disconnected, "reconnected": check_reconnected, "nothing": check_nothing, "done": check_done}
