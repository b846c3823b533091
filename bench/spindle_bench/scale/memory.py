"""Resident memory of processes, now and over time."""

import itertools
import pathlib
import statistics
import threading
import time


def resident_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(f"process {pid} has ended")


def settled_bytes(pids, seconds=0.5, attempts=20):
    """By process, once they have not grown or shrunk by more than a hundredth between two looks."""
    before = [resident_bytes(pid) for pid in pids]
    for _ in range(attempts):
        time.sleep(seconds)
        now = [resident_bytes(pid) for pid in pids]
        if all(abs(a - b) <= 0.01 * b for a, b in zip(now, before)):
            return now
        before = now
    return before


class Sampler(threading.Thread):
    """Looks at the resident memory of processes every `interval` seconds until it is stopped."""

    def __init__(self, pids, interval=0.5):
        super().__init__(daemon=True)
        self.pids = list(pids)
        self.interval = interval
        self.samples = []  # (seconds since the start, [bytes by process])
        self.ended = threading.Event()

    def run(self):
        started = time.monotonic()
        while not self.ended.wait(self.interval):
            self.samples.append((time.monotonic() - started, [resident_bytes(pid) for pid in self.pids]))

    def stop(self):
        self.ended.set()
        self.join()


def slope(samples):
    """The growth of (seconds, value) samples in value a second, as Theil and Sen estimate it: the median over all pairs
    of samples. A single step, as of a pool that grows once, is none unless it falls into the middle; a leak is."""
    return statistics.median((b - a) / (later - at) for (at, a), (later, b) in itertools.combinations(samples, 2))
