"""Spindle as a system to be measured."""

import pathlib
import re
import subprocess

from ...processes import MeasurementFailed, end_all
from ...spindled import Daemon

STOP_SECONDS = 10


class Spindle:
    """Daemons d0, d1, ..., one on each of `hosts`, joined by links."""

    services = ("reliable", "fifo", "causal", "agreed", "safe")
    fans_out = True
    warmup_seconds = 0

    def __init__(self, build, folder, hosts, daemons, topology, name="spindle", admission=True, settings=()):
        self.name = name
        self.admission = admission
        self.settings = list(settings)  # further lines of each daemon's configuration
        self.build = build
        self.cluster_client = pathlib.Path(build, "bench", "cluster_client").resolve()
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.hosts = hosts
        self.count = daemons
        self.topology = topology
        self.daemons = []
        self.links = []  # their addresses

    def start(self):
        for _ in range(self.count):
            self.start_next()

    def start_next(self):
        index = len(self.daemons)
        daemon = Daemon(self.build, self.folder, f"d{index}", "bench")
        self.daemons.append(daemon)
        address = self.hosts.address(index)
        dialled = self.links if self.topology == "mesh" else self.links[-1:]
        daemon.start(f"{address}:0", dialled, self.hosts.inside(index), self.admission, self.settings)
        port = re.search(r"links at [^;]*:(\d+)", daemon.ready)
        if not port:
            raise MeasurementFailed(f"daemon {daemon.name} said {daemon.ready!r} instead of the address of its links")
        self.links.append(f"{address}:{port.group(1)}")

    def stop(self):
        end_all([daemon.process for daemon in self.daemons if daemon.process], STOP_SECONDS)
        self.daemons = []
        self.links = []

    def set_admission(self, on):
        """Until they are started anew. Returns when all daemons have done so."""
        askers = [subprocess.Popen(daemon.monitor_command("admission", "on" if on else "off"),
                                   stdout=subprocess.DEVNULL) for daemon in self.daemons]
        if any([asker.wait() != 0 for asker in askers]):
            raise MeasurementFailed("a daemon did not switch admission")

    def daemon_pids(self):
        return [daemon.process.pid for daemon in self.daemons]

    def client_address(self, index):
        return f"unix:{self.daemons[index].socket}"

    def client_command(self, host):
        return self.hosts.inside(host) + [str(self.cluster_client), "--address", self.client_address(host)]
