"""Hosts as network namespaces, joined by links with a rate, and what was counted on them."""

import itertools
import json
import os
import pathlib
import subprocess

# What may wait in front of a link, in time, or for slow links in bytes, which are eight full frames. With room for six,
# two flows of TCP alone share 1 Mb/s by 31 to 69: one has its packets dropped again and again.
QUEUE_MS = 50
QUEUE_BYTES_MIN = 12_500
# Two frames of an Ethernet, and what the fastest link here sends between two ticks of the kernel.
BURST_BYTES = 3200
BURST_SECONDS = 0.002

numbers = itertools.count(1)


class Unavailable(Exception):
    """This machine has none of what the measurement needs."""


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def check_available():
    if os.geteuid() != 0:
        raise Unavailable("network namespaces take root")
    try:
        with Network({("x", "y"): 1_000_000}) as trial:
            trial.wire_bytes("x", "y")
    except (OSError, ValueError, LookupError) as error:
        raise Unavailable(f"no namespaces with shaped links here: {error}") from error


def default_congestion_control():
    """Linux's own where namespaces may use it, which is the machine's choice; otherwise the one that all may."""
    allowed = pathlib.Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    return "cubic" if "cubic" in allowed else "reno"


class Network:
    """`links` maps pairs of hosts to bits a second, which each direction has for itself."""

    def __init__(self, links, congestion_control="reno"):
        self.links = links
        self.congestion_control = congestion_control
        self.hosts = sorted({host for link in links for host in link})
        self.prefix = f"spindle-{os.getpid()}-{next(numbers)}-"

    def __enter__(self):
        try:
            for host in self.hosts:
                run("ip", "netns", "add", self.namespace(host))
                run("ip", "-n", self.namespace(host), "link", "set", "lo", "up")
                # Whatever the machine prefers: Spindle's links and iperf3 have to be the same TCP.
                run(*self.inside(host), "sh", "-c",
                    f"echo {self.congestion_control} >/proc/sys/net/ipv4/tcp_congestion_control")
            for (one, other), rate in self.links.items():
                self._connect(one, other, rate)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            subprocess.run(["ip", "netns", "del", self.namespace(host)], stderr=subprocess.DEVNULL, check=False)

    def namespace(self, host):
        return self.prefix + host

    def inside(self, host):
        """What goes before a command that is to run on `host`."""
        return ["ip", "netns", "exec", self.namespace(host)]

    def address(self, host, peer):
        """The IP address of `host` on its link to `peer`."""
        number = list(self.links).index(self._link(host, peer))
        return f"10.97.{number}.{1 + self._link(host, peer).index(host)}"

    def wire_bytes(self, host, peer):
        """Bytes that have left `host` on its link to `peer`, with all headers."""
        return self._queue(host, peer)["bytes"]

    def set_rate(self, host, peer, rate):
        """Of one direction."""
        burst = max(BURST_BYTES, int(rate / 8 * BURST_SECONDS))
        queue = max(QUEUE_BYTES_MIN, int(rate / 8 * QUEUE_MS / 1000))
        run("tc", "-n", self.namespace(host), "qdisc", "replace", "dev", f"to-{peer}", "root", "tbf",
            "rate", f"{rate}bit", "burst", f"{burst}b", "limit", f"{burst + queue}b")

    def _connect(self, one, other, rate):
        run("ip", "-n", self.namespace(one), "link", "add", f"to-{other}", "type", "veth",
            "peer", "name", f"to-{one}", "netns", self.namespace(other))
        for host, peer in ((one, other), (other, one)):
            run("ip", "-n", self.namespace(host), "addr", "add", f"{self.address(host, peer)}/24",
                "dev", f"to-{peer}")
            run("ip", "-n", self.namespace(host), "link", "set", f"to-{peer}", "up")
            self.set_rate(host, peer, rate)

    def _link(self, host, peer):
        return (host, peer) if (host, peer) in self.links else (peer, host)

    def _queue(self, host, peer):
        text = run("tc", "-n", self.namespace(host), "-s", "-j", "qdisc", "show", "dev", f"to-{peer}")
        return next(queue for queue in json.loads(text) if queue["kind"] == "tbf")
