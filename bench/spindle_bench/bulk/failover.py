"""What becomes of a content when a relay goes."""

import os
import signal
import time

from ..figures import Figure
from ..marks import at_least
from .places import MEGABIT, content_of, running
from .setting import median_of, repeated
from .transfers import Transfer

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
