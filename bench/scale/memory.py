"""Resident memory of processes, now and over time."""

import pathlib
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
    """The least-squares line through (seconds, value) samples: its growth in value a second."""
    count = len(samples)
    mean_x = sum(x for x, _ in samples) / count
    mean_y = sum(y for _, y in samples) / count
    spread = sum((x - mean_x) ** 2 for x, _ in samples)
    return sum((x - mean_x) * (y - mean_y) for x, y in samples) / spread if spread else 0.0
