"""Hosts as network namespaces, joined by links with a rate and a delay, and what was counted on them.

A link is a namespace of its own between two hosts, a router with a queue (`tc tbf`) in front of each of them: what a
host sends passes its own device at once and waits there. With the queue on the host's own device the kernel would count
what waits against the connection that sent it (TCP small queues): a connection may have two pieces of data there and no
more, whatever its window. A piece has two segments where the shortest round trip seen is long, as it is for whoever
connects while the link is full, and up to 64 KiB where it is short: who came first kept 86 % of 10 Mb/s for good, be it
Spindle or iperf3 beside another iperf3.
"""

import json
import os
import pathlib

from ..namespaces import Namespaces, run
from ..processes import MeasurementFailed, end_all, read_line, start

MEGABIT = 1_000_000

# What may wait in front of a link: in time, the longer of this and the link's round trip, so that one flow of TCP whose
# window is halved still fills it; or for slow links in bytes, which are eight full frames. With room for six, two flows
# of TCP alone share 1 Mb/s by 31 to 69: one has its packets dropped again and again.
QUEUE_MS = 50
QUEUE_BYTES_MIN = 12_500
# Two frames of an Ethernet, and what the fastest link here sends between two ticks of the kernel.
BURST_BYTES = 3200
BURST_SECONDS = 0.002
# Frames that wait for the processor on the way to the delay line: it must not be the queue of the link.
DELAY_LINE_FRAMES = 10_000
READY_SECONDS = 10


class Unavailable(Exception):
    """This machine has none of what the measurement needs."""


def check_available(delay_line=None):
    """Raises Unavailable; with the path of `delay_line` where links are to be long, too."""
    if os.geteuid() != 0:
        raise Unavailable("network namespaces take root")
    if delay_line is not None and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        raise Unavailable("there is no /dev/net/tun, which long links take")
    round_trips = {("x", "y"): 2} if delay_line else {}
    try:
        with Network({("x", "y"): MEGABIT}, round_trips=round_trips, delay_line=delay_line) as trial:
            trial.wire_bytes("x", "y")
    except (OSError, ValueError, LookupError, MeasurementFailed) as error:
        raise Unavailable(f"no namespaces with shaped links here: {error}") from error


def default_congestion_control():
    """Linux's own where the kernel has it."""
    return "cubic" if "cubic" in congestion_controls() else "reno"


def congestion_controls():
    return pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


def queue_bytes(rate, round_trip_ms):
    """What may wait in front of a link of `rate` bits a second."""
    return max(QUEUE_BYTES_MIN, int(rate / 8 * max(QUEUE_MS, round_trip_ms) / 1000))


class Network(Namespaces):
    """`links` maps pairs of hosts, named by a letter each, to bits a second, which each direction has for itself;
    `round_trips` those that are long to milliseconds, which takes `delay_line`, the path of the program."""

    def __init__(self, links, congestion_control="reno", round_trips=None, delay_line=None):
        self.links = links
        self.congestion_control = congestion_control
        self.round_trips = round_trips or {}
        self.delay_line = delay_line
        self.hosts = sorted({host for link in links for host in link})
        super().__init__([*self.hosts, *("".join(link) for link in links)])
        self.delay_lines = {}

    def __exit__(self, *_):
        end_all(self.delay_lines.values())
        super().__exit__()

    def join(self):
        for (one, other), rate in self.links.items():
            self._connect(one, other, rate)

    def address(self, host, peer):
        """The IP address of `host` on its link to `peer`."""
        return self._subnet(host, peer) + ".1"

    def wire_bytes(self, host, peer):
        """Bytes that have left for `peer` on its link to `host`, with all headers."""
        return self._queue(host, peer)["bytes"]

    def dropped(self, host, peer):
        """Frames from `host` to `peer` that found no room in the queue."""
        return self._queue(host, peer)["drops"]

    def delay_line_counts(self, host, peer):
        """What the delay line of this link says of its directions; it ends with that."""
        process = self.delay_lines[self._link(host, peer)]
        process.terminate()
        return json.loads(read_line(process, READY_SECONDS))

    def _connect(self, one, other, rate):
        link = (one, other)
        router = one + other
        self._join(one, router, other)
        if self.round_trips.get(link, 0) > 0:
            self._join_by_delay_line(link)
        else:
            self._join(other, router, one)
        run(*self.inside(router), "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
        for host, peer in ((one, other), (other, one)):
            self.ip(router, "addr", "add", self._subnet(host, peer) + ".2/24", "dev", f"to-{host}")
            self.ip(router, "link", "set", f"to-{host}", "up")
            # A host sends single frames, as an Ethernet carries them: what a queue drops is one of these, not 64 KiB.
            self.ip(host, "link", "set", f"to-{peer}", "gso_max_segs", "1")
            self.ip(host, "addr", "add", self.address(host, peer) + "/24", "dev", f"to-{peer}")
            self.ip(host, "link", "set", f"to-{peer}", "up")
            # Whatever the machine prefers: Spindle's links and iperf3 have to be the same TCP. A route may name one
            # that the machine does not let everybody choose.
            self.ip(host, "route", "add", self._subnet(peer, host) + ".0/24",
                    "via", self._subnet(host, peer) + ".2", "congctl", self.congestion_control)
            self._shape(router, host, rate, self.round_trips.get(link, 0))

    def _join(self, host, router, peer):
        self.ip(host, "link", "add", f"to-{peer}", "type", "veth",
                "peer", "name", f"to-{host}", "netns", self.namespace(router))

    def _join_by_delay_line(self, link):
        one, other = link
        router = one + other
        process = start([self.delay_line, "--ends", f"{self.namespace(router)}:to-{other}",
                         f"{self.namespace(other)}:to-{one}", "--delay-ms", self.round_trips[link] / 2])
        self.delay_lines[link] = process
        read_line(process, READY_SECONDS)
        for name, device in ((router, f"to-{other}"), (other, f"to-{one}")):
            self.ip(name, "link", "set", device, "txqueuelen", str(DELAY_LINE_FRAMES))

    def _shape(self, router, host, rate, round_trip_ms):
        burst = max(BURST_BYTES, int(rate / 8 * BURST_SECONDS))
        run("tc", "-n", self.namespace(router), "qdisc", "replace", "dev", f"to-{host}", "root", "tbf", "rate", f"{rate}bit",
            "burst", f"{burst}b", "limit", f"{burst + queue_bytes(rate, round_trip_ms)}b")

    def _link(self, host, peer):
        return (host, peer) if (host, peer) in self.links else (peer, host)

    def _subnet(self, host, peer):
        """Of the device of `host` for the link, and the router's that faces it."""
        link = self._link(host, peer)
        return f"10.97.{2 * list(self.links).index(link) + link.index(host)}"

    def _queue(self, host, peer):
        text = run("tc", "-n", self.namespace("".join(self._link(host, peer))), "-s", "-j", "qdisc", "show",
                   "dev", f"to-{peer}")
        return next(queue for queue in json.loads(text) if queue["kind"] == "tbf")
