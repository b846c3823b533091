"""Daemons with idle clients, groups and watchers around the load that is measured."""

import pathlib
import signal
import time

from ..cluster.hosts import Here
from ..cluster.systems.spindle import Spindle
from ..processes import end_input, read_line, start, tell, wait_until_ready

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

    def stop(self):
        for crowd in self.crowds:
            end(crowd)
        self.crowds = []
        super().stop()

    def client_command(self, host):
        return super().client_command(host) + self.load_options

    def gather(self, daemon, clients, groups=0, prefix=""):
        """Idle clients at one daemon, each in `groups` groups. Comes back at once; `wait` waits for all of them."""
        command = [self.scale_client, "crowd", "--address", self.client_address(daemon), "--clients", clients]
        command += ["--groups", groups, "--prefix", prefix]
        self.crowds.append(start(command))

    def wait(self):
        for crowd in self.crowds:
            if crowd.stdout.closed:  # it was waited for before
                continue
            wait_until_ready(crowd, GATHER_SECONDS, "a crowd")
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
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
        daemon.process.stdout.close()
        return at

    def start_last(self):
        """Starts it anew; the time before."""
        at = time.monotonic()
        self.start_next()
        return at


class Watchers:
    """One client at each daemon, all in one group."""

    def __init__(self, system):
        command = [system.scale_client, "watch", "--group", "watch", "--address"]
        command += [system.client_address(index) for index in range(system.count)]
        self.process = start(command)

    def expect(self, members):
        tell(self.process, f"expect {members}")

    def seen(self):
        """When the last of those expected had its view, in seconds."""
        return int(read_line(self.process, VIEW_SECONDS)) / 1e9

    def close(self):
        end(self.process)


def end(process):
    end_input(process, LEAVE_SECONDS)
    process.stdout.close()
