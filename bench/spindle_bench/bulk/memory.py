"""What a content takes in memory."""

import pathlib
import time

from ..figures import Figure
from ..marks import at_most
from .places import MEGABIT, MIB, content_of, running, star
from .transfers import Transfer

STEP_SECONDS = 0.05


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
