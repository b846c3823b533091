"""Spindle as a system to be measured."""

import dataclasses
import pathlib
import re
import subprocess

from ...processes import MeasurementFailed, end_all
from ...spindled import Daemon

STOP_SECONDS = 10
CLUSTER = "bench"
CLIENT = "member"


@dataclasses.dataclass(frozen=True)
class Clients:
    """How clients come to their daemon."""

    by_tcp: bool = False  # over loopback, where otherwise at its unix socket
    tls: bool = False     # then: with certificates, and so are links
    resume: bool = False  # they ask for sessions that can be resumed


class Spindle:
    """Daemons d0, d1, ..., one on each of `hosts`, joined by links."""

    services = ("reliable", "fifo", "causal", "agreed", "safe")
    fans_out = True
    warmup_seconds = 0

    def __init__(self, build, folder, hosts, daemons, topology, name="spindle", admission=True,
                 clients=Clients(), settings=()):
        self.name = name
        self.admission = admission
        self.clients = clients
        self.settings = list(settings)  # further lines of each daemon's configuration
        self.build = build
        self.cluster_client = pathlib.Path(build, "bench", "cluster_client").resolve()
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.hosts = hosts
        self.count = daemons
        self.topology = topology
        self.daemons = []
        self.links = []      # their addresses
        self.addresses = []  # for clients
        self.bundles = self._make_bundles() if clients.tls else {}

    def start(self):
        for _ in range(self.count):
            self.start_next()

    def start_next(self):
        index = len(self.daemons)
        daemon = Daemon(self.build, self.folder, f"d{index}", CLUSTER)
        self.daemons.append(daemon)
        address = self.hosts.address(index)
        dialled = self.links if self.topology == "mesh" else self.links[-1:]
        local = ("tls:" if self.clients.tls else "") + "127.0.0.1"
        daemon.start(f"{address}:0", dialled, self.hosts.inside(index), self.admission,
                     f"{local}:0" if self.clients.by_tcp else "", self.bundles.get(daemon.name), self.settings)
        self.links.append(f"{address}:{self._port(daemon, 'links')}")
        self.addresses.append(f"{local}:{self._port(daemon, 'clients')}" if self.clients.by_tcp
                              else f"unix:{daemon.socket}")

    def stop(self):
        end_all([daemon.process for daemon in self.daemons if daemon.process], STOP_SECONDS)
        self.daemons = []
        self.links = []
        self.addresses = []

    def set_admission(self, on):
        """Until they are started anew. Returns when all daemons have done so."""
        askers = [subprocess.Popen(daemon.monitor_command("admission", "on" if on else "off"),
                                   stdout=subprocess.DEVNULL) for daemon in self.daemons]
        if any([asker.wait() != 0 for asker in askers]):
            raise MeasurementFailed("a daemon did not switch admission")

    def daemon_pids(self):
        return [daemon.process.pid for daemon in self.daemons]

    def client_address(self, index):
        return self.addresses[index]

    def client_command(self, host):
        identity = ["env", f"SPINDLE_TLS_BUNDLE={self.bundles[CLIENT]}"] if self.clients.tls else []
        resume = ["--resume"] if self.clients.resume else []
        return self.hosts.inside(host) + identity + [str(self.cluster_client), "--address", self.client_address(host),
                                                     *resume]

    def _make_bundles(self):
        """Certificates of the daemons and of one client, by name."""
        monitor = pathlib.Path(self.build, "tools", "spmonitor").resolve()
        pki = lambda *words: subprocess.run([monitor, "pki", *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                            check=True)
        daemons = [f"d{index}" for index in range(self.count)]
        pki("init", CLUSTER)
        for name in daemons:
            pki("issue", f"{CLUSTER}.ca", name)
        pki("issue", f"{CLUSTER}.ca", "--client", CLIENT)
        return {name: self.folder.resolve() / f"{name}.pem" for name in [*daemons, CLIENT]}

    def _port(self, daemon, whose):
        """Where it listens, as it has said itself: the last address of a list."""
        port = re.search(rf"{whose} at [^;]*:(\d+)(;|$)", daemon.ready)
        if not port:
            raise MeasurementFailed(f"daemon {daemon.name} said {daemon.ready!r} instead of the address of its {whose}")
        return port.group(1)
