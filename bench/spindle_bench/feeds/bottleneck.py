"""A feed over one bottleneck: beside TCP, and beside ordered messages."""

import contextlib
import json
import statistics
import tempfile
import time

from ..console import say
from ..field.network import MEGABIT, Network, congestion_controls
from ..field.programs import Client, Daemons, Iperf
from ..figures import Figure
from ..marks import at_least, at_most, within
from ..processes import end_all, read_line, start, tell, wait_until_ready

RATE = 10 * MEGABIT
ROUND_TRIP_MS = 20
LINK = ("a", "b")
# What fits into a packet of a feed: the same heads for each as TCP has, nearly.
MESSAGE_BYTES = 1_150
# Feeds that share a bottleneck with as many connections of TCP, and what there is for each two.
PAIRS = (5, 10)
PAIR_RATE = 4 * MEGABIT
WARMUP_SECONDS = 10
TCP_SECONDS = 60
ORDERED_SECONDS = 20
ORDERED_BYTES = 10_000
READY_SECONDS = 10
ANSWER_SECONDS = 10
# Until flows end that nobody stops before.
SPARE_SECONDS = 30
# The part of what ordered traffic has on a link that feeds may have beside it, by default.
LINK_SHARE = 0.5
NOT_BUILT = "feed_client was not built"


class FeedFlow:
    """A feed from the first host of the link to the second, as fast as it goes, for so many seconds at most."""

    def __init__(self, daemons, build, seconds, group="feed"):
        program = build / "bench" / "feed_client"
        options = ["--rate", 0, "--bytes", MESSAGE_BYTES, "--seconds", seconds, "--warmup", 0, "--group", group]
        address = lambda host: ["--address", f"unix:{daemons.socket(host)}"]
        self.processes = []
        try:
            self.sink = self._start([program, *address("b"), *options])
            self.source = self._start([program, "--send", *address("a"), *options])
            tell(self.source, f"go {time.monotonic_ns()}")
        except BaseException:
            self.stop()
            raise

    def _start(self, command):
        self.processes.append(start(command))
        wait_until_ready(self.processes[-1], READY_SECONDS, "a client of the feed")
        return self.processes[-1]

    def begin(self):
        self.first = time.monotonic(), self._bytes()

    def payload_rate(self):
        """What has arrived, in bits a second, since `begin`."""
        now, received = time.monotonic(), self._bytes()
        return 8 * (received - self.first[1]) / (now - self.first[0])

    def stop(self):
        end_all(self.processes)

    def _bytes(self):
        tell(self.sink, "count")
        return json.loads(read_line(self.sink, ANSWER_SECONDS))["bytes"]


class OrderedFlow:
    """Ordered messages over the link, as many as the daemon takes."""

    def __init__(self, daemons):
        self.receiver = Client(daemons, "b", "receiver", "ordered")
        self.sender = Client(daemons, "a", "sender", "ordered", ORDERED_BYTES)
        for client in (self.receiver, self.sender):
            client.wait_until_ready()
        self.sender.start_sending()

    def begin(self):
        self.first = time.monotonic(), self._messages()

    def payload_rate(self):
        now, messages = time.monotonic(), self._messages()
        return 8 * ORDERED_BYTES * (messages - self.first[1]) / (now - self.first[0])

    def stop(self):
        self.receiver.stop()
        self.sender.stop()

    def _messages(self):
        return sum(self.receiver.count()["senders"].values())


def rates(flows, seconds):
    """Of each, over `seconds` from when they have settled."""
    time.sleep(WARMUP_SECONDS)
    for flow in flows:
        flow.begin()
    time.sleep(seconds)
    return [flow.payload_rate() for flow in flows]


@contextlib.contextmanager
def place(setting, congestion_control, rate=RATE):
    """(network, daemons on its two hosts)."""
    with Network({LINK: rate}, congestion_control, {LINK: ROUND_TRIP_MS}, setting.delay_line()) as network, \
            tempfile.TemporaryDirectory(dir=setting.folder) as folder, \
            Daemons(network, setting.build, folder, admission=True) as daemons:
        yield network, daemons


def started(stack, flow):
    stack.callback(flow.stop)
    return flow


def beside_tcp(setting, congestion_control, seconds):
    """(the feed alone, the feed beside one connection, that connection), in bits a second of payload."""
    with place(setting, congestion_control) as (network, daemons), contextlib.ExitStack() as stack:
        for_all = 2 * (WARMUP_SECONDS + seconds) + SPARE_SECONDS
        feed = started(stack, FeedFlow(daemons, setting.build, for_all))
        alone, = rates([feed], seconds / 4)
        tcp = started(stack, Iperf(network, *LINK, for_all))
        return alone, *rates([feed, tcp], seconds)


def tcp_row(row, congestion_control, must):
    def measured(setting):
        if congestion_control not in congestion_controls():
            return [Figure(row, f"rate by that of {congestion_control}", None, must=must, note="this kernel has none")]
        if not (setting.build / "bench" / "feed_client").exists():
            return [Figure(row, f"rate by that of {congestion_control}", None, must=must, note=NOT_BUILT)]
        rounds = []
        for index in range(setting.rounds):
            say(f"feeds: {row}: round {index + 1} of {setting.rounds}")
            rounds.append(beside_tcp(setting, congestion_control, min(TCP_SECONDS, 3 * setting.seconds)))
            say(f"  alone {rounds[-1][0] / MEGABIT:.2f}, beside it {rounds[-1][1] / MEGABIT:.2f}, "
                f"TCP {rounds[-1][2] / MEGABIT:.2f} Mb/s")
        mean = lambda index: statistics.mean(each[index] for each in rounds)
        ratios = sorted(each[1] / each[2] for each in rounds)
        note = f"{ratios[0]:.2f} to {ratios[-1]:.2f}; {mean(1) / MEGABIT:.2f} by {mean(2) / MEGABIT:.2f} Mb/s"
        return [Figure(row, f"rate by that of iperf3 -C {congestion_control}, 10 Mb/s, 20 ms", mean(1) / mean(2), "{:.2f}",
                       must, note),
                Figure(row, "alone, Mb/s", mean(0) / MEGABIT, "{:.2f}")]
    return measured


def beside_many(setting, count, seconds):
    """The rates of so many feeds, and of as many connections beside them, in bits a second of payload."""
    with place(setting, "reno", count * PAIR_RATE) as (network, daemons), contextlib.ExitStack() as stack:
        for_all = 2 * WARMUP_SECONDS + seconds + SPARE_SECONDS
        feeds, tcps = [], []
        for index in range(count):
            feeds.append(started(stack, FeedFlow(daemons, setting.build, for_all, f"feed{index}")))
            tcps.append(started(stack, Iperf(network, *LINK, for_all, Iperf.PORT + index)))
        time.sleep(WARMUP_SECONDS)
        of_all = rates([*feeds, *tcps], seconds)
        return of_all[:count], of_all[count:]


def pairs(setting):
    """Several feeds beside as many connections of TCP."""
    row = "pairs"
    name = "mean rate of {} feeds by that of as many iperf3 -C reno, {:g} Mb/s, 20 ms".format
    must = within(0.9, 1.1)
    why_not = "" if "reno" in congestion_controls() else "this kernel has no reno"
    if not (setting.build / "bench" / "feed_client").exists():
        why_not = NOT_BUILT
    figures = []
    for count in PAIRS:
        what = name(count, count * PAIR_RATE / MEGABIT)
        if why_not:
            figures.append(Figure(row, what, None, must=must, note=why_not))
            continue
        rounds = []
        for index in range(setting.rounds):
            say(f"feeds: {row}: {count}: round {index + 1} of {setting.rounds}")
            rounds.append(beside_many(setting, count, min(TCP_SECONDS, 3 * setting.seconds)))
            say("  " + " by ".join(" ".join(f"{rate / MEGABIT:.2f}" for rate in each) for each in rounds[-1]) + " Mb/s")
        feed, tcp = (statistics.mean(statistics.mean(each[side]) for each in rounds) for side in (0, 1))
        lowest, highest = (limit(rate for each in rounds for rate in each[0]) for limit in (min, max))
        figures.append(Figure(row, what, feed / tcp, "{:.2f}", must,
                              f"{feed / MEGABIT:.2f} by {tcp / MEGABIT:.2f} Mb/s; feeds {lowest / MEGABIT:.2f} to "
                              f"{highest / MEGABIT:.2f}"))
    return figures


def ordered(setting):
    """What ordered messages keep where a feed takes what it can get on the same link."""
    row = "ordered"
    what = ("rate of ordered messages beside a feed by alone", "the feed's by theirs")
    # Both together fill the link, and the feed has LINK_SHARE of what they have.
    must = (at_least(0.95 / (1 + LINK_SHARE), "{:.2f}"), at_most(1.1 * LINK_SHARE, "{:.2f}"))
    if not (setting.build / "bench" / "feed_client").exists():
        return [Figure(row, name, None, must=mark, note=NOT_BUILT) for name, mark in zip(what, must)]
    rounds = []
    for index in range(setting.rounds):
        say(f"feeds: {row}: round {index + 1} of {setting.rounds}")
        seconds = min(ORDERED_SECONDS, setting.seconds)
        with place(setting, "reno") as (_, daemons), contextlib.ExitStack() as stack:
            messages = started(stack, OrderedFlow(daemons))
            alone, = rates([messages], seconds)
            feed = started(stack, FeedFlow(daemons, setting.build, WARMUP_SECONDS + seconds + SPARE_SECONDS))
            rounds.append((alone, *rates([messages, feed], seconds)))
    median = lambda key: statistics.median(key(each) for each in rounds)
    note = " by ".join(f"{median(lambda each, i=i: each[i]) / MEGABIT:.2f}" for i in (1, 0)) + " Mb/s"
    return [Figure(row, what[0], median(lambda each: each[1] / each[0]), "{:.2f}", must[0], note),
            Figure(row, what[1], median(lambda each: each[2] / each[1]), "{:.2f}", must[1])]


RENO = tcp_row("reno", "reno", within(0.9, 1.1))
CUBIC = tcp_row("cubic", "cubic", None)
