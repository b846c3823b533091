"""The scenarios, and what is measured in each: what TCP gets, what Spindle gets, and what both get together."""

import contextlib
import dataclasses
import statistics
import time

from ..processes import Disturbed
from . import pace
from .network import MEGABIT, Network
from .programs import Client, Daemons, Iperf

MESSAGE_BYTES = 1000
SENDERS = 5  # of each class
# For which iperf3 goes on longer than it is measured.
SPARE_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Class:
    """Clients at one host that send to one group."""

    name: str
    sender: str
    receivers: tuple


@dataclasses.dataclass(frozen=True)
class Bottleneck:
    """A link that the classes given fill, and the host behind it that counts them."""

    host: str
    peer: str
    classes: tuple

    @property
    def name(self):
        return f"{self.host}-{self.peer}".upper()


@dataclasses.dataclass(frozen=True)
class Scenario:
    number: int
    links: dict
    classes: tuple
    bottlenecks: tuple


def tree(**narrow):
    links = {pair: 10 * MEGABIT for pair in ("ab", "cb", "bd", "be", "ef", "eg")}
    links.update(narrow)
    return {tuple(pair): rate for pair, rate in links.items()}


CLASSES = (Class("one", "a", ("c", "f", "g")), Class("two", "c", ("d", "g")))
SCENARIOS = {
    1: Scenario(1, tree(bd=MEGABIT, ef=2 * MEGABIT), CLASSES,
                (Bottleneck("e", "f", ("one",)), Bottleneck("b", "d", ("two",)))),
    2: Scenario(2, tree(eg=2 * MEGABIT), CLASSES, (Bottleneck("e", "g", ("one", "two")),)),
}


def scaled(scenario, times):
    """The same with links that are as many times as fast."""
    return dataclasses.replace(scenario, links={pair: int(rate * times) for pair, rate in scenario.links.items()})


def run(scenario, options, folder, say):
    """A dictionary of results, rates in bits a second. Raises Disturbed where a link broke."""
    bottlenecks = [tuple(sorted((each.host, each.peer))) for each in scenario.bottlenecks]
    round_trips = {link: options.round_trip for link in scenario.links if tuple(sorted(link)) in bottlenecks}
    paces = [pace.of(scenario.links[link], options.round_trip, options.tcp, options.seconds) for link in round_trips]
    alone_pace, together_pace = pace.longest(each[0] for each in paces), pace.longest(each[1] for each in paces)
    with Network(scenario.links, options.tcp, round_trips, options.delay_line) as network:
        say("TCP alone")
        before = tcp_alone(network, scenario, alone_pace)
        with Daemons(network, options.build, folder, not options.no_admission) as daemons, contextlib.ExitStack() as stack:
            field = Field(scenario, network, daemons, stack)
            views = daemons.views()
            say("Spindle alone")
            field.start_sending()
            time.sleep(alone_pace.warmup)
            alone = field.measure(alone_pace.seconds)
            say("Spindle beside TCP")
            together = field.measure_beside_tcp(together_pace)
            # Links break where daemons get no processor for a while, and begin anew after that.
            if daemons.views() != views:
                raise Disturbed("the daemons have changed their view meanwhile")
        say("TCP alone, again")
        after = tcp_alone(network, scenario, alone_pace)
        dropped = {each.name: network.dropped(each.host, each.peer) for each in scenario.bottlenecks}
        delay_lines = {"".join(link): network.delay_line_counts(*link) for link in network.delay_lines}
    return {
        "scenario": scenario.number,
        "congestion_control": options.tcp,
        "round_trip_ms": options.round_trip,
        "pace": {"alone": alone_pace._asdict(), "together": together_pace._asdict()},
        "dropped": dropped,
        "delay_lines": delay_lines,
        "bottlenecks": [summary(bottleneck, [before, after], alone, together) for bottleneck in scenario.bottlenecks],
    }


def tcp_alone(network, scenario, times):
    with contextlib.ExitStack() as stack:
        flows = start_iperf(network, scenario, times, stack)
        wire = WireRates(network, scenario)
        time.sleep(times.warmup)
        wire.begin()
        for flow in flows.values():
            flow.begin()
        time.sleep(times.seconds)
        payloads = {name: flow.payload_rate() for name, flow in flows.items()}
        rates = wire.end()
        return {name: {"wire": rates[name], "payload": payloads[name]} for name in flows}


def start_iperf(network, scenario, times, stack):
    flows = {}
    for each in scenario.bottlenecks:
        seconds = times.warmup + times.seconds + SPARE_SECONDS
        flows[each.name] = Iperf(network, each.host, each.peer, seconds)
        stack.callback(flows[each.name].stop)
    return flows


class WireRates:
    """What the bottlenecks carry, headers and repetitions included."""

    def __init__(self, network, scenario):
        self.network = network
        self.scenario = scenario

    def begin(self):
        self.first = self._sample()

    def end(self):
        last = self._sample()
        return {name: 8 * (last[name][1] - count) / (last[name][0] - at) for name, (at, count) in self.first.items()}

    def _sample(self):
        return {each.name: (time.monotonic(), self.network.wire_bytes(each.host, each.peer))
                for each in self.scenario.bottlenecks}


class Field:
    """The clients of a scenario, at work."""

    def __init__(self, scenario, network, daemons, stack):
        self.scenario = scenario
        self.network = network
        self.stack = stack
        self.receivers = {}
        for each in scenario.classes:
            for host in each.receivers:
                self.receivers[each.name, host] = self._client(Client(daemons, host, f"{each.name}-in", each.name))
        self.senders = []
        for each in scenario.classes:
            for number in range(SENDERS):
                client = Client(daemons, each.sender, f"{each.name}-{number}", each.name, MESSAGE_BYTES)
                self.senders.append(self._client(client))
        for client in [*self.receivers.values(), *self.senders]:
            client.wait_until_ready()
        self.watches = {}
        for each in scenario.bottlenecks:
            self.watches[each.name] = daemons.watch_queues(each.host, each.peer)
            stack.callback(self.watches[each.name].stop)

    def start_sending(self):
        for client in self.senders:
            client.start_sending()

    def measure(self, seconds):
        """For each bottleneck: the rates on the wire and in payload, by sender, and the queue."""
        wire = WireRates(self.network, self.scenario)
        for watch in self.watches.values():
            watch.reset()
        first, begin = self._count(), time.monotonic()
        wire.begin()
        time.sleep(seconds)
        wire_rates = wire.end()
        last, end = self._count(), time.monotonic()
        queues = {name: watch.so_far() for name, watch in self.watches.items()}
        results = {}
        for each in self.scenario.bottlenecks:
            payload = {
                name: {sender: 8 * MESSAGE_BYTES * (count - first[name, each.peer].get(sender, 0)) / (end - begin)
                       for sender, count in last[name, each.peer].items()}
                for name in each.classes
            }
            results[each.name] = {"wire": wire_rates[each.name], "payload": payload,
                                  "queue": queues[each.name]}
        return results

    def measure_beside_tcp(self, times):
        with contextlib.ExitStack() as stack:
            flows = start_iperf(self.network, self.scenario, times, stack)
            time.sleep(times.warmup)
            for flow in flows.values():
                flow.begin()
            results = self.measure(times.seconds)
            for name, flow in flows.items():
                results[name]["tcp_payload"] = flow.payload_rate()
            return results

    def _client(self, client):
        self.stack.callback(client.stop)
        return client

    def _count(self):
        return {key: receiver.count()["senders"] for key, receiver in self.receivers.items()}


def summary(bottleneck, tcp, alone, together):
    name = bottleneck.name
    tcp_wire = statistics.mean(each[name]["wire"] for each in tcp)
    tcp_payload = statistics.mean(each[name]["payload"] for each in tcp)
    return {
        "link": name,
        "tcp": {"wire": tcp_wire, "payload": tcp_payload, "wire_runs": [each[name]["wire"] for each in tcp]},
        "alone": phase(alone[name]),
        "below_tcp": 1 - alone[name]["wire"] / tcp_wire,
        "together": phase(together[name]),
        "tcp_together": together[name]["tcp_payload"],
        "tcp_share": together[name]["tcp_payload"] / tcp_payload,
    }


def phase(values):
    classes = {name: class_rates(list(senders.values())) for name, senders in values["payload"].items()}
    looks = [at for at, _ in values["queue"]]
    return {"wire": values["wire"], "payload": sum(each["payload"] for each in classes.values()),
            "classes": classes, "queue": values["queue"],
            "longest_queue": max(packets for _, packets in values["queue"]),
            "longest_pause": max(later - at for at, later in zip([0, *looks], looks))}


def class_rates(rates):
    # A sender of which nothing has arrived is not in the list.
    rates = rates + [0.0] * (SENDERS - len(rates))
    mean = statistics.mean(rates)
    return {"payload": sum(rates), "senders": sorted(rates),
            "variation": statistics.pstdev(rates) / mean if mean else None}
