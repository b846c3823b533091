"""Daemons on hosts, and files that go from a client of one to clients of others."""

import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time

from ..processes import MeasurementFailed, end_all, processor_seconds, wait_for
from ..spindled import Daemon, is_settled
from .segment import device_bytes

PORT = 4804
VIEW_SECONDS = 30
SAMPLE_SECONDS = 0.5
READY_SECONDS = 20
# A transfer that takes longer than at this rate hangs.
BYTES_PER_SECOND_LEAST = 200_000
PATIENCE_SECONDS = 60
NAME = "content"


class Content:
    """A file of random bytes, which nothing can make shorter."""

    def __init__(self, path, size):
        self.path = pathlib.Path(path)
        self.size = size
        digest = hashlib.sha256()
        with open(self.path, "wb") as file:
            while size > 0:
                piece = os.urandom(min(size, 1 << 20))
                file.write(piece)
                digest.update(piece)
                size -= len(piece)
        self.digest = digest.digest()

    def check(self, path):
        if digest_of(path) != self.digest:
            raise MeasurementFailed(f"{path} is not what was sent")


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.digest()


class Daemons:
    """One on each host; of each of `edges` the second host dials the first. `settings` of a host are further lines of its
    configuration."""

    def __init__(self, build, folder, hosts, edges, address=None, settings=lambda host: ()):
        self.build = pathlib.Path(build)
        self.folder = pathlib.Path(folder)
        self.hosts = hosts
        self.edges = edges
        self.address = address or (lambda host, _: hosts.address(host))
        self.settings = settings
        self.names = sorted({host for edge in edges for host in edge})
        self.daemons = {}
        self.transfers = 0

    def __enter__(self):
        self.folder.mkdir(parents=True)
        try:
            for host in self.names:
                self.start(host)
            self.wait_for_view(len(self.names))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end_all(daemon.process for daemon in self.daemons.values() if daemon.process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, host):
        daemon = self.daemons[host] = Daemon(self.build, self.folder, f"d{host}", "bulk")
        dialled = [f"{self.address(one, other)}:{PORT}" for one, other in self.edges if other == host]
        daemon.start(f"0.0.0.0:{PORT}", dialled, self.hosts.inside(host),
                     settings=self.settings(host))

    def wait_for_view(self, members, hosts=None):
        wait_for(lambda: all(self._is_settled(host, members) for host in hosts or self.names), VIEW_SECONDS,
                 "the daemons have one view")

    def pid(self, host):
        return self.daemons[host].process.pid

    def processor_seconds(self):
        return processor_seconds(self.pid(host) for host in self.names if self.is_running(host))

    def is_running(self, host):
        return self.daemons[host].process.poll() is None

    def kill(self, host):
        end_all([self.daemons[host].process])

    def received_bytes(self, host):
        return device_bytes(self.pid(host))[0]

    def _is_settled(self, host, members):
        done = subprocess.run(self.daemons[host].monitor_command("--json", "status"), capture_output=True)
        return done.returncode == 0 and is_settled(json.loads(done.stdout), members)


class Client:
    """spuser on a host; `lines`: what it has printed, each with its time."""

    def __init__(self, daemons, host, *words):
        program = (daemons.build / "tools" / "spuser").resolve()
        self.host = host
        self.log = daemons.folder / f"client-{host}-{time.monotonic_ns()}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*daemons.hosts.inside(host), program, "--connect", daemons.daemons[host].socket, *map(str, words)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.lines = []
        self.seconds = 0  # of processors, once it has ended
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.decode().strip()))

    def is_over(self):
        """Without taking its status, which has its processor time."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def kill(self):
        end_all([self.process])
        self.thread.join()

    def wait(self, seconds):
        """Its processor time counts with all threads."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() > deadline:
                raise MeasurementFailed(f"the client at {self.host} has not ended after {seconds:.0f} s: {self.said()}")
            time.sleep(0.005)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.thread.join()
        self.seconds = usage.ru_utime + usage.ru_stime
        if self.process.returncode != 0:
            raise MeasurementFailed(f"the client at {self.host} ended with {self.process.returncode}: {self.said()}")

    def said(self):
        return self.log.read_text().strip().splitlines()[-3:]


@dataclasses.dataclass
class Outcome:
    """Seconds from the start of the program that sends until each receiver had the file under its name."""

    done: dict
    seconds: float            # until the last of them had it
    processor_seconds: float  # of all daemons and clients


class Transfer:
    """One file to a client at each of `receivers`, who are there when the context begins: then `start`, and `finish`.
    `stays`: the source, until all clients have it, whoever of them was away meanwhile; `serves`: every receiver, so
    that it gives others what it has."""

    def __init__(self, daemons, content, receivers, source=0, rate=None, stays=False, folder=None, serves=False):
        self.daemons = daemons
        self.content = content
        self.source = source
        daemons.transfers += 1
        self.group = f"files{daemons.transfers}"
        self.folder = folder or daemons.folder / self.group
        self.folder.mkdir()
        self.options = ["--rate", str(rate)] if rate else []
        self.stays = stays
        self.serves = serves
        self.clients = {}
        self.sender = None
        self.receivers = list(receivers)
        self.before = 0

    def __enter__(self):
        try:
            for host in self.receivers:
                self.receive(host)
            self.wait_for_receivers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for client in [*self.clients.values(), self.sender]:
            if client:
                client.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait_for_receivers(self):
        for host in self.clients:
            wait_for((self.folder / f"ready-{host}").exists, READY_SECONDS, "the receivers are there")

    def start(self):
        self.before = self.daemons.processor_seconds()
        self.started = time.monotonic()
        if self.stays:
            self.options.append("--wait")
        self.sender = Client(self.daemons, self.source, "send-file", self.group, self.content.path,
                             "--wait-members", str(len(self.clients)), *self.options)

    def receive(self, host):
        count = [] if self.serves else ["--count", 1]
        self.clients[host] = Client(self.daemons, host, "receive-file", self.group, self.place_of(host), *count,
                                    "--ready-file", self.folder / f"ready-{host}")

    def place_of(self, host):
        """Where what a host receives goes."""
        place = self.folder / str(host)
        place.mkdir(exist_ok=True)
        return place

    def wait_until_received(self, host, share, seconds=PATIENCE_SECONDS):
        """By what has come to its host since the transfer was made ready."""
        begun = self.daemons.received_bytes(host)
        wait_for(lambda: self.daemons.received_bytes(host) - begun >= share * self.content.size, seconds,
                 "a part of the content has come")

    def finish(self):
        patience = PATIENCE_SECONDS + self.content.size / BYTES_PER_SECOND_LEAST
        if self.serves:
            wait_for(lambda: all(client.lines for client in self.clients.values()), patience, "all have the file")
        receivers = [] if self.serves else self.clients.values()
        for client in [*receivers, *([] if self.stays else [self.sender])]:
            client.wait(patience)
        used = self.daemons_seconds() + sum(client.seconds for client in [self.sender, *self.clients.values()])
        done = {host: client.lines[0][0] - self.started for host, client in self.clients.items()}
        for host in self.clients:
            self.content.check(self.folder / str(host) / self.content.path.name)
        return Outcome(done, max(done.values()), used)

    def daemons_seconds(self):
        return self.daemons.processor_seconds() - self.before


def transfer(daemons, content, receivers, source=0, rate=None, serves=False):
    with Transfer(daemons, content, receivers, source, rate, serves=serves) as moving:
        moving.start()
        return moving.finish()


class Course:
    """While this is entered: what comes to the hosts, every SAMPLE_SECONDS."""

    def __init__(self, daemons, hosts):
        self.daemons = daemons
        self.hosts = list(hosts)
        self.samples = []  # times, and bytes by host
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._sample)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def _sample(self):
        while not self.is_over.is_set():
            self.samples.append((time.monotonic(), [self.daemons.received_bytes(host) for host in self.hosts]))
            self.is_over.wait(SAMPLE_SECONDS)

    def rates(self):
        """Seconds since the beginning, and the Mb/s that came to each host until then from the sample before."""
        begin = self.samples[0][0]
        return [(at - begin, [(new - old) * 8 / 1e6 / (at - former) for old, new in zip(before, now)])
                for (former, before), (at, now) in zip(self.samples, self.samples[1:])]
