"""A client of a scenario: its driver, what it has sent, and what it is told."""
import dataclasses

from . import listening, payload
from .failure import PATIENCE_S, Failure
from .members import Members

# What is passed over while something else is awaited. Messages, and what says that some are missing, never are.
NEWS = {"ready", "flow", "warned", "resumed", "bulk_progress", "bulk_stalled", "feed_flow", "feed_writable"}
PASSED_OVER = NEWS | {"view", "signal"}
SEEDS_PER_CLIENT = 1_000_000
FIRST_MARKER = 900_000
FIRST_CONTENT = 800_000
FIRST_OF_FEEDS = 600_000
SEEDS_PER_FEED = 1_000


@dataclasses.dataclass(frozen=True)
class Sent:
    """A message as it has to arrive."""
    label: str  # x:3
    sender: str  # as the scenario calls it; its private name may change
    service: str
    type: int
    groups: tuple
    size: int
    digest: int
    headers: tuple = ()

    @staticmethod
    def from_event(event, label, sender):
        return Sent(label, sender, event.text("service"), event.number("type"),
                    tuple(event.all("group")), event.number("size"), event.number("digest"),
                    tuple(zip(event.all("header"), event.all("header_value"))))


class Client:
    def __init__(self, name, index, driver, proxy):
        self.name = name
        self.driver = driver
        self.proxy = proxy  # None: it talks to its daemon directly
        self.private_name = b""
        self.names = set()  # private names that it has had
        self.is_open = False
        self.sent = []
        self.contents = []  # that it has offered
        self.feeds = []  # that it has opened
        self.heard = {}  # feeds of others that it was told of: what it calls them
        self.last_packets = {}  # of those: of the message that came last its first packet, and how many it has
        self.listening = listening.Listening()
        self.feed_events = []  # that came while something else was awaited: feeds are in no order with it
        self.members = Members(b"")
        self.news = []  # of flows and of the queue, which were passed over
        self.view_reached = None  # with which the last join or leave has ended, as long as nothing came behind it
        self.answers = []  # (sender, size, digest) of those to its last request
        self.passed_over = set(PASSED_OVER)
        self._first_seed = index * SEEDS_PER_CLIENT
        self._markers = 0
        self._aside = []
        self._kept = None  # an event that was looked at only

    def connected_as(self, private_name):
        self.private_name = private_name
        self.names.add(private_name)
        self.members = Members(private_name)
        self.is_open = True

    # Calls.

    def call(self, step, verb, pairs, passing=None):
        """Makes a call that the step may expect to be refused. Its answer, or None if it goes on meanwhile.

        With the code `passing` it may fail as well: the caller tries again.
        """
        if step.arguments["within_ms"] is not None:
            pairs = [*pairs, ("timeout_ms", step.arguments["within_ms"])]
        number = self.driver.begin(verb, pairs, aside=bool(step.arguments["meanwhile"]))
        if step.arguments["meanwhile"]:
            self._aside.append((number, step))
            return None
        return self._finish(number, step, passing)

    def finish_all(self):
        """Waits for the calls that went on meanwhile."""
        waiting, self._aside = self._aside, []
        for number, step in waiting:
            self._finish(number, step)

    def _finish(self, number, step, passing=None):
        answer = self.driver.finish(number)
        code = answer.values.text("code") if answer.word == "failed" else None
        refused = step.arguments["refused"]
        if code is not None and code == passing:
            return answer
        if code != refused and (code is not None or step.verb not in ("join", "leave", "ask", "listen")):
            raise Failure(f"{self.name}: the call has ended with {code or 'no error'}, not with {refused or 'none'}")
        if step.verb in ("send", "try"):
            self._forget_sent(step.arguments["count"] - answer.values.number("sent"))
        elif step.verb == "request":
            keys = ("sender", "size", "digest")
            self.answers = list(zip(*(answer.values.all(key) for key in keys)))
            self._forget_sent(0 if code in (None, "timed_out", "cancelled") else 1)
        return answer

    def cancel(self):
        """Gives up the calls that go on meanwhile."""
        for number, _ in self._aside:
            self.driver.call("cancel", [("call", number)])

    # Messages.

    def next_seed(self):
        return self._first_seed + len(self.sent) + 1

    def content_seed(self, number):
        return self._first_seed + FIRST_CONTENT + number

    def feed_seed(self, number):
        return self._first_seed + FIRST_OF_FEEDS + number * SEEDS_PER_FEED

    def has_sent(self, count, service, kind, groups, size, headers):
        for _ in range(count):
            digest = payload.digest(self.next_seed(), size)
            label = f"{self.name}:{len(self.sent) + 1}"
            self.sent.append(Sent(label, self.name, service, kind, groups, size, digest, headers))

    def _forget_sent(self, count):
        """The last ones were refused."""
        del self.sent[len(self.sent) - count:]

    def send_marker(self):
        """A message to itself, which comes behind all ordered ones that were sent before."""
        self._markers += 1
        seed = self._first_seed + FIRST_MARKER + self._markers
        pairs = [("service", "agreed"), ("group", self.private_name), ("size", 8), ("seed", seed), ("count", 1)]
        answer = self.driver.call("send", pairs)
        if answer.word != "ok":
            raise Failure(f"{self.name} is not connected any more: {answer.values.text('code')}")
        return Sent("its own marker", self.name, "agreed", 0, (self.private_name,), 8, payload.digest(seed, 8))

    # Events.

    def next_event(self, awaited, passed_over=None):
        """The next event that is not passed over, or of the kind that is awaited."""
        while True:
            event = self._take(awaited)
            if event.word in listening.EVENTS:
                self.feed_events.append(event)
            elif event.word == awaited or event.word not in (passed_over or self.passed_over):
                return event

    def next_feed_event(self, awaited, feed):
        """The next event of that feed, or, without one, the next of the kind that is awaited."""
        def is_it(event):
            return event.word == awaited if feed is None else event.values.text("feed") == feed
        while True:
            for event in self.feed_events:
                if is_it(event):
                    self.feed_events.remove(event)
                    return event
            event = self._take(awaited)
            if event.word in listening.EVENTS:
                self.feed_events.append(event)
            elif event.word not in self.passed_over:
                return event

    def unsaid_feed_event(self):
        """One that has come and that no statement has taken; None if there is none.

        Who listens late may have got the last packets of what was sent before, or not: those are passed over of a feed
        of which no statement has taken a message yet.
        """
        def is_passed_over(event):
            return event.word in ("feed_packet", "feed_gap") and event.values.text("feed") not in self.last_packets
        return next((event for event in self.feed_events if not is_passed_over(event)), None)

    def keep(self, event):
        """Has the event come once more."""
        self._kept = event

    def _take(self, awaited):
        if self._kept is not None:
            event, self._kept = self._kept, None
            return event
        self.view_reached = None
        event = self.driver.call("receive", [("timeout_ms", PATIENCE_S * 1000)])
        if event.word == "failed":
            raise Failure(f"{self.name} waits for {awaited}: {event.values.text('code')}")
        if event.word == "reconnected" and event.values.text("how") == "resumed":
            event = event._replace(word="resumed")  # it changes nothing, and comes among messages
        if event.word == "view":
            self.members.apply(event.values)
        elif event.word in NEWS:
            self.news.append(event)
        elif event.word == "told" and event.values.text("request", "none") == "listen":
            self.listening.stops(event.values.bytes("group"))
        elif event.word in listening.EVENTS:
            self._take_of_feed(event)
        return event

    def _take_of_feed(self, event):
        try:
            self.listening.take(event)
        except Failure as failure:
            raise Failure(f"{self.name} {failure}") from None

    def expect_end(self, code, ignore_messages):
        """Up to the end of the connection, which has to be the last event."""
        ignored = {"message", "gap", "told"} if ignore_messages else set()
        event = self.next_event("disconnected", self.passed_over | ignored)
        if event.word != "disconnected" or event.values.text("code") != code:
            raise Failure(f"{self.name} gets {describe(event)}, not the end with {code}")
        self.is_open = False
        after = self.driver.call("receive", [("timeout_ms", 0)])
        if after.word != "failed" or after.values.text("code") != "not_connected":
            raise Failure(f"{self.name} gets {describe(after)} behind the end")


def describe(event):
    """An event in a few words, for who reads a failure."""
    values = event.values
    shown = [f"{key} {'+'.join(each.decode('utf-8', 'backslashreplace') for each in values.all(key)[:6])}"
             for key in ("request", "code", "sender", "group", "size", "service", "type", "cause", "form", "member",
                         "joined", "left", "apart", "messages", "percent", "channel", "done", "failed", "feed", "source",
                         "sequence", "why", "text")
             if values.all(key)]
    return " ".join([event.word, *(f"({', '.join(shown)})" for _ in shown[:1])])
