"""What runs on the hosts: daemons, clients, iperf3."""

import json
import pathlib
import re
import subprocess
import threading
import time

from ..processes import MeasurementFailed, end_all, read_line, start, tell, wait_for, wait_until_ready
from ..spindled import Daemon, is_settled

PORT = 4804
START_SECONDS = 10
VIEW_SECONDS = 20
ANSWER_SECONDS = 10
# How often the queues of a daemon are looked at: a queue of 100 packets takes longer than that to build up.
WATCH_SECONDS = 0.1


class Daemons:
    """One spindled on each host; neighbours are linked over the link that they share."""

    def __init__(self, network, build, folder, admission):
        self.network = network
        self.build = pathlib.Path(build)
        self.admission = admission
        self.daemons = {host: Daemon(build, folder, host, "field") for host in network.hosts}

    def __enter__(self):
        try:
            for host, daemon in self.daemons.items():
                # The second host of a link dials the first.
                neighbours = [f"{self.network.address(one, other)}:{PORT}"
                              for one, other in self.network.links if host == other]
                daemon.start(f"0.0.0.0:{PORT}", neighbours, self.network.inside(host), self.admission)
            wait_for(lambda: all(map(self._is_settled, self.daemons)), VIEW_SECONDS, "the daemons have one view")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end_all(daemon.process for daemon in self.daemons.values() if daemon.process)

    def socket(self, host):
        return self.daemons[host].socket

    def watch_queues(self, host, peer):
        return QueueWatch(self._monitor_command(host, "--watch", str(WATCH_SECONDS), "links"), peer)

    def views(self):
        """The view of each host: another one later means that a link has broken in between."""
        return {host: self._status(host)["view"] for host in self.network.hosts}

    def _status(self, host):
        done = subprocess.run(self._monitor_command(host, "status"), capture_output=True, check=True)
        return json.loads(done.stdout)

    def _is_settled(self, host):
        return is_settled(self._status(host), len(self.network.hosts))

    def _monitor_command(self, host, *question):
        return self.daemons[host].monitor_command("--json", *question)


class QueueWatch:
    """How long the queue of one link is over time: packets, as often looked at as may be."""

    def __init__(self, command, peer):
        self.peer = peer
        self.samples = []  # seconds since `reset`, packets
        self.begin = time.monotonic()
        self.process = start(command)
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def reset(self):
        self.samples = []
        self.begin = time.monotonic()

    def so_far(self):
        return list(self.samples)

    def stop(self):
        self.process.kill()
        self.thread.join()
        end_all([self.process])

    def _read(self):
        for line in self.process.stdout:
            for link in json.loads(line).get("links", []):
                if link["peer"] == self.peer:
                    self.samples.append((round(time.monotonic() - self.begin, 2), link.get("queued_packets", 0)))


class Client:
    """One field_client, see main.cpp; a sender if `size` is given."""

    def __init__(self, daemons, host, name, group, size=None):
        command = [daemons.build / "bench" / "field_client", "--address", f"unix:{daemons.socket(host)}",
                   "--name", name, "--group", group]
        self.process = start(command + (["--send", str(size)] if size else []))

    def wait_until_ready(self):
        wait_until_ready(self.process, START_SECONDS, "a client")

    def start_sending(self):
        tell(self.process, "go")

    def count(self):
        tell(self.process, "count")
        return json.loads(read_line(self.process, ANSWER_SECONDS))

    def stop(self):
        end_all([self.process])

class Iperf:
    """One TCP flow over the link from `host` to `peer`, for `seconds` unless it is stopped before. Each at one time has
    a port of its own."""

    PORT = 5201

    def __init__(self, network, host, peer, seconds, port=PORT):
        self.port = port
        self.inside = network.inside(peer)
        self.server = start(self.inside + ["iperf3", "--server", "--one-off", "--forceflush", "--port", port,
                                            "--interval", "0"])
        while "listening" not in read_line(self.server, START_SECONDS):
            pass
        self.client = start(network.inside(host) + [
            "iperf3", "--client", network.address(peer, host), "--port", port, "--time", seconds,
            "--interval", "0"])

    def begin(self):
        """What comes from now on counts. (iperf3 itself leaves out a minute at most, which is short for a long way.)"""
        self.first = time.monotonic(), self._received()

    def payload_rate(self):
        """What has arrived, in bits a second, since `begin`."""
        now, received = time.monotonic(), self._received()
        return 8 * (received - self.first[1]) / (now - self.first[0])

    def stop(self):
        end_all([self.client, self.server])

    def _received(self):
        done = subprocess.run(
            [str(part) for part in
             self.inside + ["ss", "-H", "-t", "-i", "-n", "state", "established", f"sport = :{self.port}"]],
            capture_output=True, text=True, check=True)
        # iperf3 has another connection, for control.
        received = [int(bytes) for bytes in re.findall(r"\bbytes_received:(\d+)", done.stdout)]
        if len(received) != 2:
            raise MeasurementFailed("iperf3 has ended, or has not begun")
        return max(received)
