"""Daemons with idle clients, groups and watchers around the load that is measured."""

import pathlib
import signal
import subprocess
import time

from hosts import Here
from processes import MeasurementFailed, read_line
from spindle_system import Spindle

# What a crowd of thousands of clients, or one client with a hundred thousand groups, needs to be there.
GATHER_SECONDS = 180
VIEW_SECONDS = 60
LEAVE_SECONDS = 10
# A daemon that comes and goes is let in later each time; here all times are to be alike.
SETTINGS = ["[view]\ngain_hold_down_max_ms = 200"]


class ScaleSystem(Spindle):
    """All on this machine; the load's member i is a client of daemon i."""

    def __init__(self, build, folder, daemons, topology):
        super().__init__(build, folder, Here(), daemons, topology, settings=SETTINGS)
        self.scale_client = pathlib.Path(build, "bench", "scale_client").resolve()
        self.crowds = []
        self.load_options = []
        self.links = []

    def start(self):
        for index in range(self.count):
            self._start_next(index)

    def _start_next(self, index):
        dialled = self.links if self.topology == "mesh" else self.links[-1:]
        self.links.append(self._start_daemon(index, dialled))

    def stop(self):
        for crowd in self.crowds:
            end(crowd)
        self.crowds = []
        super().stop()

    def client_command(self, host):
        return super().client_command(host) + self.load_options

    def address(self, index):
        return f"unix:{self._socket(index)}"

    def gather(self, daemon, clients, groups=0, prefix=""):
        """Idle clients at one daemon, each in `groups` groups. Comes back at once; `wait` waits for all of them."""
        command = [self.scale_client, "crowd", "--address", self.address(daemon), "--clients", str(clients)]
        command += ["--groups", str(groups), "--prefix", prefix]
        self.crowds.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    def wait(self):
        for crowd in self.crowds:
            if crowd.stdout.closed:  # it was waited for before
                continue
            if read_line(crowd, GATHER_SECONDS).strip() != "ready":
                raise MeasurementFailed("a crowd did not gather")
            crowd.stdout.close()

    def gather_everywhere(self, clients, groups=0, prefix=""):
        """So many clients in all, as evenly as it goes over the daemons."""
        for index in range(self.count):
            share = clients // self.count + (index < clients % self.count)
            if share:
                self.gather(index, share, groups, prefix)
        self.wait()

    def kill_last(self):
        """The time at which the last daemon was killed, in seconds."""
        daemon = self.daemons.pop()
        self.links.pop()
        at = time.monotonic()
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        return at

    def start_last(self):
        """Starts it anew; the time before."""
        at = time.monotonic()
        self._start_next(self.count - 1)
        return at


class Watchers:
    """One client at each daemon, all in one group."""

    def __init__(self, system):
        command = [system.scale_client, "watch", "--group", "watch", "--address"]
        command += [system.address(index) for index in range(system.count)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def expect(self, members):
        self.process.stdin.write(f"expect {members}\n".encode())
        self.process.stdin.flush()

    def seen(self):
        """When the last of those expected had its view, in seconds."""
        return int(read_line(self.process, VIEW_SECONDS)) / 1e9

    def close(self):
        end(self.process)


def end(process):
    process.stdin.close()
    try:
        process.wait(LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
