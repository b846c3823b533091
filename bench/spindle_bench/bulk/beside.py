"""What a content under way does to ordered messages."""

import os
import subprocess
import sys
import threading
import time
import types

from ..cluster.measurement import collect, members, merge, percentile, sleep_until, tell_start
from ..cluster.measurement import measure as measure_load
from ..figures import Figure
from ..marks import at_least, at_most
from ..processes import end_all
from .places import MEGABIT, content_of, running, star
from .setting import median_of, repeated
from .transfers import transfer

ORDERED_SECONDS = 2
WARMUP_SECONDS = 0.5
ORDERED_RATE = 900  # messages a second, where latency is measured
ORDERED_BYTES = 1000


class Members:
    """Members of a group beside the receivers, as the cluster's load wants a system."""

    name = "bulk"
    warmup_seconds = 0

    def __init__(self, daemons):
        self.daemons = daemons

    def daemon_pids(self):
        return [self.daemons.pid(host) for host in self.daemons.names]

    def client_command(self, host):
        program = (self.daemons.build / "bench" / "cluster_client").resolve()
        return [*self.daemons.hosts.inside(host), program, "--address", f"unix:{self.daemons.daemons[host].socket}"]


def ordered_load(daemons):
    """(messages a second of a closed loop, p99 in ms at a rate)."""
    options = types.SimpleNamespace(warmup=WARMUP_SECONDS, seconds=ORDERED_SECONDS, daemons=len(daemons.names),
                                    rate=ORDERED_RATE, window=None, window_bytes=100_000)
    kind = {"service": "agreed", "size": ORDERED_BYTES}
    system = Members(daemons)
    throughput = measure_load(system, {"measure": "throughput", **kind}, options)
    latency = measure_load(system, {"measure": "latency", **kind}, options)
    return throughput["messages_per_second"], latency["p99_us"] / 1e3


class Load:
    """One transfer after the other, as long as the context lasts."""

    def __init__(self, daemons, content, receivers):
        self.work = lambda: transfer(daemons, content, receivers)
        self.is_over = False
        self.failure = None
        self.thread = threading.Thread(target=self._run)

    def __enter__(self):
        self.thread.start()
        time.sleep(WARMUP_SECONDS)
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        if self.failure:
            raise self.failure

    def _run(self):
        try:
            while not self.is_over:
                self.work()
        except Exception as failure:
            self.failure = failure


class Burners:
    """Processes that want all of every processor, and do nothing else, as long as the context lasts: what it costs alone
    that there is other work."""

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]

    def __exit__(self, *_):
        end_all(self.processes)


def ordered_beside(setting, rate):
    """Rounds of (alone, beside bulk, where there is no rate: beside burners), each as of `ordered_load`."""
    content = content_of(setting, min(setting.size, rate or setting.size))  # of a rate: eight seconds
    with running(setting, "ordered", 3, star(2), {host: rate for host in range(3)} if rate else {}) as (_, daemons):
        def once():
            alone = ordered_load(daemons)
            with Load(daemons, content, (1, 2)):
                beside = ordered_load(daemons)
            if rate:
                return alone, beside
            with Burners():
                return alone, beside, ordered_load(daemons)
        return repeated(setting, "ordered", once)


# --- Ordered messages in bursts ---

BURST_PART = 0.5  # of the rate
BURSTS_MS = (1, 25, 50, 100)
BURST_SECONDS = 4


def received_rate(daemons):
    """Bytes a second that come to the first receiver's host, from now on for a while."""
    begin, before = time.monotonic(), daemons.received_bytes(1)
    time.sleep(BURST_SECONDS)
    return (daemons.received_bytes(1) - before) / (time.monotonic() - begin)


def burst_load(daemons, rate, every_ms):
    """One member's messages of BURST_PART of `rate`, so many at once as are due every `every_ms`: (p99 in ms, bytes a
    second that come to the first receiver's host)."""
    messages = BURST_PART * rate / 8 / ORDERED_BYTES
    options = types.SimpleNamespace(seconds=BURST_SECONDS, daemons=len(daemons.names), rate=messages, window=1)
    kind = {"measure": "latency", "service": "agreed", "size": ORDERED_BYTES, "senders": 1}
    with members(Members(daemons), kind, options, "latency", WARMUP_SECONDS, ["--burst-ms", str(every_ms)]) as clients:
        sleep_until(tell_start(clients) + WARMUP_SECONDS)
        received = received_rate(daemons)
        results = collect(clients)
    p99 = percentile(merge(result["latency_ns"] for result in results), 0.99)
    return p99 / 1e6, received


def beside_bursts(setting, rate):
    """By how long there is between bursts, rounds of (part that content has of what the messages leave, ms that their p99
    is longer)."""
    content = content_of(setting, min(setting.size, rate))  # eight seconds
    with running(setting, "bursts", 2, star(1), {host: rate for host in range(2)}) as (_, daemons):
        with Load(daemons, content, (1,)):
            path = received_rate(daemons)

        def once(every_ms):
            p99_alone, messages = burst_load(daemons, rate, every_ms)
            with Load(daemons, content, (1,)):
                p99, both = burst_load(daemons, rate, every_ms)
            return (both - messages) / (path - messages), p99 - p99_alone

        return {every_ms: repeated(setting, f"bursts every {every_ms} ms", lambda: once(every_ms))
                for every_ms in BURSTS_MS}


def bursts(setting):
    figures = []
    for every_ms, rounds in beside_bursts(setting, 100 * MEGABIT).items():
        what = f"messages of {BURST_PART:.0%} of 100 Mb/s, every {every_ms} ms"
        figures.append(Figure("bursts", f"content's part of what is left by {what}",
                              median_of(rounds, lambda each: each[0]), "{:.3f}", at_least(0.95)))
        figures.append(Figure("bursts", "p99 beside it, ms more", median_of(rounds, lambda each: each[1]), "{:.1f}",
                              at_most(30)))
    return figures


def ordered(setting):
    figures = []
    for rate, where in ((100 * MEGABIT, "100 Mb/s"), (None, "unshaped")):
        rounds = ordered_beside(setting, rate)
        alone, beside = (median_of(rounds, lambda each, i=i: each[i][1]) for i in (0, 1))
        figures.append(Figure("ordered", f"rate beside bulk by alone, {where}",
                              median_of(rounds, lambda each: each[1][0] / each[0][0]), "{:.2f}", at_least(0.9)))
        if rate:
            figures.append(Figure("ordered", f"p99 beside bulk, ms more, {where}", beside - alone, "{:.1f}", at_most(30),
                                  f"{beside:.1f} by {alone:.1f} ms"))
        else:
            figures.append(Figure("ordered", f"p99 beside bulk by alone, {where}", beside / alone, "{:.2f}", at_most(2),
                                  f"{beside:.2f} by {alone:.2f} ms"))
            burning = median_of(rounds, lambda each: each[2][1])
            figures.append(Figure("ordered", "rate beside processes that burn all processors by alone, unshaped",
                                  median_of(rounds, lambda each: each[2][0] / each[0][0]), "{:.2f}"))
            figures.append(Figure("ordered", "p99 beside processes that burn all processors by alone, unshaped",
                                  burning / alone, "{:.2f}", note=f"{burning:.2f} by {alone:.2f} ms"))
    return figures
