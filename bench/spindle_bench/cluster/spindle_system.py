"""Spindle as a system to be measured, see systems.py."""

import pathlib
import re
import subprocess

from processes import MeasurementFailed, read_line, terminate

START_SECONDS = 10


class Spindle:
    """Daemons d0, d1, ..., one on each of `hosts`, joined by links."""

    services = ("reliable", "fifo", "causal", "agreed", "safe")
    fans_out = True
    warmup_seconds = 0

    def __init__(self, build, folder, hosts, daemons, topology, name="spindle", admission=True, settings=()):
        self.name = name
        self.admission = admission
        self.settings = list(settings)  # further lines of each daemon's configuration
        self.spindled = pathlib.Path(build, "spindled").resolve()
        self.spmonitor = pathlib.Path(build, "tools", "spmonitor").resolve()
        self.cluster_client = pathlib.Path(build, "bench", "cluster_client").resolve()
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.hosts = hosts
        self.count = daemons
        self.topology = topology
        self.daemons = []

    def start(self):
        links = []
        for index in range(self.count):
            dialled = links if self.topology == "mesh" else links[-1:]
            links.append(self._start_daemon(index, dialled))

    def _start_daemon(self, index, dialled):
        name = f"d{index}"
        address = self.hosts.address(index)
        config = self.folder / f"{name}.toml"
        lines = [
            f'[daemon]\nname = "{name}"\ncluster = "bench"',
            f'[listen]\nclients = []\nclient_socket = "{self._socket(index)}"',
            f'admin_socket = "{self._admin_socket(index)}"\nlinks = ["{address}:0"]',
            f"[admission]\nenabled = {'true' if self.admission else 'false'}",
            f'[log]\nlevel = "info"\nfile = "{self.folder / name}.log"',
        ]
        lines += self.settings
        lines += [f'[[neighbour]]\naddress = "{link}"' for link in dialled]
        config.write_text("\n".join(lines) + "\n")
        command = self.hosts.inside(index) + [str(self.spindled), "--config", str(config)]
        daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.daemons.append(daemon)
        ready = read_line(daemon, START_SECONDS)
        port = re.search(r"links at [^;]*:(\d+)", ready)
        if not port:
            raise MeasurementFailed(f"daemon {name} said {ready!r} instead of the address of its links")
        return f"{address}:{port.group(1)}"

    def stop(self):
        terminate(self.daemons)
        self.daemons = []

    def set_admission(self, on):
        """Until they are started anew. Returns when all daemons have done so."""
        askers = [subprocess.Popen([self.spmonitor, "--socket", self._admin_socket(index), "admission",
                                    "on" if on else "off"], stdout=subprocess.DEVNULL)
                  for index in range(self.count)]
        if any([asker.wait() != 0 for asker in askers]):
            raise MeasurementFailed("a daemon did not switch admission")

    def daemon_pids(self):
        return [daemon.pid for daemon in self.daemons]

    def client_command(self, host):
        return self.hosts.inside(host) + [str(self.cluster_client), "--address", f"unix:{self._socket(host)}"]

    def _admin_socket(self, index):
        return self.folder / f"d{index}.admin"

    def _socket(self, index):
        return self.folder / f"d{index}.sock"
