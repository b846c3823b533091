"""Spindle as a system to be measured.

A system has `name`, `services`, `start()`, `stop()`, `daemon_pids()` and `client_command(member)`: the command that
runs the load on one member, to which the options of cluster/main.cpp are added.
"""

import pathlib
import re
import signal
import subprocess

from processes import MeasurementFailed, read_line

START_SECONDS = 10


class Spindle:
    """Daemons d0, d1, ... on this machine, joined by links over loopback; member i is a client of daemon i."""

    services = ("reliable", "fifo", "causal", "agreed", "safe")

    def __init__(self, build, folder, daemons, topology, name="spindle", admission=True):
        self.name = name
        self.admission = admission
        self.spindled = pathlib.Path(build, "spindled")
        self.cluster_client = pathlib.Path(build, "bench", "cluster_client")
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.count = daemons
        self.topology = topology
        self.daemons = []

    def start(self):
        link_ports = []
        for index in range(self.count):
            dialled = link_ports if self.topology == "mesh" else link_ports[-1:]
            link_ports.append(self._start_daemon(index, dialled))

    def _start_daemon(self, index, dialled):
        name = f"d{index}"
        config = self.folder / f"{name}.toml"
        lines = [
            f'[daemon]\nname = "{name}"\ncluster = "bench"',
            f'[listen]\nclients = []\nclient_socket = "{self._socket(index)}"',
            f'admin_socket = "{self.folder / name}.admin"\nlinks = ["127.0.0.1:0"]',
            f"[admission]\nenabled = {'true' if self.admission else 'false'}",
            f'[log]\nlevel = "info"\nfile = "{self.folder / name}.log"',
        ]
        lines += [f'[[neighbour]]\naddress = "127.0.0.1:{port}"' for port in dialled]
        config.write_text("\n".join(lines) + "\n")
        daemon = subprocess.Popen([self.spindled, "--config", config], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.daemons.append(daemon)
        ready = read_line(daemon, START_SECONDS)
        port = re.search(r"links at [^;]*:(\d+)", ready)
        if not port:
            raise MeasurementFailed(f"daemon {name} said {ready!r} instead of the address of its links")
        return int(port.group(1))

    def stop(self):
        for daemon in self.daemons:
            daemon.send_signal(signal.SIGTERM)
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []

    def daemon_pids(self):
        return [daemon.pid for daemon in self.daemons]

    def client_command(self, member):
        return [str(self.cluster_client), "--address", f"unix:{self._socket(member)}"]

    def _socket(self, index):
        return self.folder / f"d{index}.sock"
