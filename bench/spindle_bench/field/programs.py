"""What runs on the hosts: daemons, clients, iperf3."""

import json
import pathlib
import re
import subprocess
import threading
import time

from processes import MeasurementFailed, read_line

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
        self.folder = pathlib.Path(folder)
        self.admission = admission  # lines of the section [admission]
        self.processes = {}

    def __enter__(self):
        try:
            for host in self.network.hosts:
                self._start(host)
            self._wait_for_view()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end_all(self.processes.values())

    def socket(self, host):
        return self.folder / f"{host}.sock"

    def watch_queues(self, host, peer):
        return QueueWatch(self._monitor_command(host, "--watch", str(WATCH_SECONDS), "links"), peer)

    def _start(self, host):
        links = [link for link in self.network.links if host in link]
        lines = [
            f'[daemon]\nname = "{host}"\ncluster = "field"',
            f'[listen]\nclients = []\nclient_socket = "{self.socket(host)}"',
            f'admin_socket = "{self.folder / host}.admin"\nlinks = ["0.0.0.0:4804"]',
            f'[log]\nfile = "{self.folder / host}.log"',
            "[admission]", *self.admission,
        ]
        # The second host of a link dials the first.
        lines += [f'[[neighbour]]\naddress = "{self.network.address(one, other)}:4804"'
                  for one, other in links if host == other]
        config = self.folder / f"{host}.toml"
        config.write_text("\n".join(lines) + "\n")
        command = self.network.inside(host) + [self.build / "spindled", "--config", config]
        self.processes[host] = start(command)
        read_line(self.processes[host], START_SECONDS)

    def _wait_for_view(self):
        deadline = time.monotonic() + VIEW_SECONDS
        while not all(self._is_settled(host) for host in self.network.hosts):
            if time.monotonic() > deadline:
                raise MeasurementFailed("the daemons do not come to one view")
            time.sleep(0.05)

    def views(self):
        """The view of each host: another one later means that a link has broken in between."""
        return {host: self._status(host)["view"] for host in self.network.hosts}

    def _status(self, host):
        done = subprocess.run(self._monitor_command(host, "status"), capture_output=True, check=True)
        return json.loads(done.stdout)

    def _is_settled(self, host):
        status = self._status(host)
        return status.get("settled", False) and len(status["view"]["members"]) == len(self.network.hosts)

    def _monitor_command(self, host, *question):
        program = self.build / "tools" / "spmonitor"
        return [program, "--socket", f"{self.folder / host}.admin", "--json", *question]


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
        if read_line(self.process, START_SECONDS).strip() != "ready":
            raise MeasurementFailed("a client did not get ready")

    def start_sending(self):
        self._say("go")

    def count(self):
        self._say("count")
        return json.loads(read_line(self.process, ANSWER_SECONDS))

    def stop(self):
        end_all([self.process])

    def _say(self, word):
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()


class Iperf:
    """One TCP flow over the link from `host` to `peer`, for `seconds` unless it is stopped before."""

    PORT = 5201

    def __init__(self, network, host, peer, seconds):
        self.inside = network.inside(peer)
        self.server = start(self.inside + ["iperf3", "--server", "--one-off", "--forceflush", "--port", self.PORT,
                                            "--interval", "0"])
        while "listening" not in read_line(self.server, START_SECONDS):
            pass
        self.client = start(network.inside(host) + [
            "iperf3", "--client", network.address(peer, host), "--port", self.PORT, "--time", seconds,
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
             self.inside + ["ss", "-H", "-t", "-i", "-n", "state", "established", f"sport = :{self.PORT}"]],
            capture_output=True, text=True, check=True)
        # iperf3 has another connection, for control.
        received = [int(bytes) for bytes in re.findall(r"\bbytes_received:(\d+)", done.stdout)]
        if len(received) != 2:
            raise MeasurementFailed("iperf3 has ended, or has not begun")
        return max(received)


def start(command):
    return subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def end_all(processes):
    processes = list(processes)
    for process in processes:
        if process.poll() is None:
            process.kill()
    for process in processes:
        process.wait()
        process.stdin.close()
        process.stdout.close()
