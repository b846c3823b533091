"""What a content under way does to others and to memory, and what becomes of it when a relay goes."""

import os
import pathlib
import signal
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
from .places import MEGABIT, MIB, content_of, running, star
from .setting import median_of, repeated
from .transfers import Transfer, transfer

# --- Ordered messages ---

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


def burst_load(daemons, rate, every_ms):
    """One member's messages of BURST_PART of `rate`, so many at once as are due every `every_ms`: (p99 in ms, bytes a
    second that come to the first receiver's host)."""
    messages = BURST_PART * rate / 8 / ORDERED_BYTES
    options = types.SimpleNamespace(seconds=BURST_SECONDS, daemons=len(daemons.names), rate=messages, window=1)
    kind = {"measure": "latency", "service": "agreed", "size": ORDERED_BYTES, "senders": 1}
    with members(Members(daemons), kind, options, "latency", WARMUP_SECONDS, ["--burst-ms", str(every_ms)]) as clients:
        began = tell_start(clients) + WARMUP_SECONDS
        counts = []
        for at in (began, began + BURST_SECONDS):
            sleep_until(at)
            counts.append((time.monotonic(), daemons.received_bytes(1)))
        (begin, before), (end, after) = counts
        results = collect(clients)
    p99 = percentile(merge(result["latency_ns"] for result in results), 0.99)
    return p99 / 1e6, (after - before) / (end - begin)


def beside_bursts(setting, rate):
    """By how long there is between bursts, rounds of (part that content has of what the messages leave, ms that their p99
    is longer)."""
    content = content_of(setting, min(setting.size, rate))  # eight seconds
    with running(setting, "bursts", 2, star(1), {host: rate for host in range(2)}) as (_, daemons):
        def content_alone():
            with Load(daemons, content, (1,)):
                before = time.monotonic(), daemons.received_bytes(1)
                time.sleep(BURST_SECONDS)
                return (daemons.received_bytes(1) - before[1]) / (time.monotonic() - before[0])

        def once(path, every_ms):
            p99_alone, messages = burst_load(daemons, rate, every_ms)
            with Load(daemons, content, (1,)):
                p99, both = burst_load(daemons, rate, every_ms)
            return (both - messages) / (path - messages), p99 - p99_alone

        path = content_alone()
        return {every_ms: repeated(setting, f"bursts every {every_ms} ms", lambda: once(path, every_ms))
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


# --- A relay that goes ---

ORPHAN, OTHER, RELAY = 3, 4, 1
FAILOVER_RATE = 100 * MEGABIT
WATCH_SECONDS = 4
STEP_SECONDS = 0.05


def rates_around(daemons, strike):
    """Bytes that have come to the orphan and to the other, before and after `strike`: (seconds since, bytes, bytes)."""
    samples = []
    begin = time.monotonic()
    struck = None
    while struck is None or time.monotonic() - struck < WATCH_SECONDS:
        now = time.monotonic()
        if struck is None and now - begin >= 1.5:
            strike()
            struck = now
        samples.append((now, daemons.received_bytes(ORPHAN), daemons.received_bytes(OTHER)))
        time.sleep(STEP_SECONDS)
    return [(at - struck, *counts) for at, *counts in samples]


def rate_between(samples, column, begin, end):
    inside = [sample for sample in samples if begin <= sample[0] <= end]
    return (inside[-1][column] - inside[0][column]) / (inside[-1][0] - inside[0][0])


def failover_by(setting, what, how, patience):
    edges = [(0, 1), (0, 2), (1, ORPHAN), (2, ORPHAN), (2, OTHER)]
    content = content_of(setting, int(FAILOVER_RATE / 8 * (WATCH_SECONDS + 4)))
    rates = {ORPHAN: FAILOVER_RATE, OTHER: FAILOVER_RATE}

    def once():
        with running(setting, "failover", 5, edges, rates) as (_, daemons):
            with Transfer(daemons, content, (ORPHAN, OTHER)) as moving:
                moving.start()
                moving.wait_until_received(ORPHAN, 0.05)
                samples = rates_around(daemons, lambda: how(daemons.pid(RELAY)))
                moving.finish()
        before = [rate_between(samples, column, -1.2, 0) for column in (1, 2)]
        return (rate_between(samples, 1, patience, WATCH_SECONDS) / before[0],
                rate_between(samples, 2, 0, WATCH_SECONDS) / before[1])
    rounds = repeated(setting, f"failover, {what}", once)
    return [Figure("failover", f"orphan's rate {patience} s after its relay was {what}, by before",
                   median_of(rounds, lambda each: each[0]), "{:.3f}", at_least(0.9)),
            Figure("failover", "the other's, from the first moment on", median_of(rounds, lambda each: each[1]), "{:.3f}",
                   at_least(0.95))]


def failover(setting):
    """A relay goes; the one that it served has another one as backup, which serves somebody else."""
    return [*failover_by(setting, "killed", lambda pid: os.kill(pid, signal.SIGKILL), 1.5),
            *failover_by(setting, "stopped", lambda pid: os.kill(pid, signal.SIGSTOP), 3)]


# --- Memory ---


def status_bytes(pid, key):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) << 10
    return 0  # it is ending


class Peak:
    """The most memory that a process has from now on, beyond what it has now."""

    def __init__(self, pid):
        self.pid = pid
        pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
        self.before = status_bytes(pid, "VmRSS")
        self.most = self.before

    def look(self):
        try:
            self.most = max(self.most, status_bytes(self.pid, "VmHWM"))
        except OSError:
            pass

    def mebibytes(self):
        return (self.most - self.before) / MIB


def memory(setting):
    """Three receivers, of which one has a tenth of the rate."""
    name, rate = "memory", 400 * MEGABIT
    content = content_of(setting, setting.share(0.25))
    with running(setting, name, 4, star(3), {1: rate, 2: rate, 3: rate // 10}) as (_, daemons):
        with Transfer(daemons, content, (1, 2, 3)) as moving:
            of_daemons = [Peak(daemons.pid(host)) for host in daemons.names]
            of_receivers = [Peak(client.process.pid) for client in moving.clients.values()]
            moving.start()
            of_source = Peak(moving.sender.process.pid)
            # What any client has before there is a content.
            of_source.before = of_receivers[0].before
            while not moving.sender.is_over():
                for peak in [*of_receivers, of_source]:
                    peak.look()
                time.sleep(STEP_SECONDS)
            moving.finish()
            for peak in of_daemons:
                peak.look()
    most = lambda peaks: max(peak.mebibytes() for peak in peaks)
    return [Figure(name, "a daemon's, MiB beyond what it has idle, most of all", most(of_daemons), "{:.0f}", at_most(16)),
            Figure(name, "the source's", most([of_source]), "{:.0f}", at_most(96)),
            Figure(name, "a receiver's", most(of_receivers), "{:.0f}", at_most(96))]
