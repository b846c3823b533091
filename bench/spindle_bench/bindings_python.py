"""The Python package beside other messaging for Python: three members of a group, each at a host of its own, one of three daemons.

All systems are measured in turns, round by round; what counts are the medians of all rounds, and what is judged beside a
peer are ratios. Spindle orders messages, and delivers them once; NATS and ZeroMQ do not.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import time

from .cluster.hosts import Hosts
from .cluster.measurement import measure_undisturbed
from .cluster.systems import BENCH, Absent, build
from .cluster.systems.nats import CLIENT_PORT, Nats
from .cluster.systems.spindle import Spindle
from .console import say
from .marks import at_least, at_most
from .processes import MeasurementFailed, end_all, read_line, start, tell, wait_until_ready

MEMBERS = 3
RATE = 900  # a second, of all members together
ZMQ_PORT = 5600
SYSTEM_PYTHON = "/usr/bin/python3"
MEMBER = BENCH / "hosts" / "bindings" / "python_member.py"
PATIENCE_SECONDS = 60
SETTLE_SECONDS = 1  # until those of ZeroMQ know who has subscribed

NAMES = {"spindle": "Spindle, asyncio", "spindle_sync": "Spindle, sync", "nats": "nats-py", "zmq": "pyzmq",
         "zmq_asyncio": "pyzmq, asyncio"}
CPP = "Spindle, C++"
#: What the asyncio form, or where the peer is synchronous the synchronous one, has to be beside a peer, by size.
RATIOS = {100: {"nats": 4, "zmq": 1.5, "zmq_asyncio": 4}, 1000: {"nats": 3, "zmq": 1.2, "zmq_asyncio": 3}}
RATES = {100: 500_000, 1000: 250_000}
DECODING = {"by_event": 2_000_000, "by_batch": 3_000_000}
LATENCY = {"nats": at_most(0.8)}
ABOVE_CPP = at_most(80)  # us, at p50


def default_interpreter(system=SYSTEM_PYTHON):
    """The system's is compiled with optimisation, which one that a user has compiled often is not."""
    version = "import sys; print(*sys.version_info[:2])"
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        found = subprocess.run([system, "-c", version], check=True, stdout=subprocess.PIPE, text=True).stdout
        if found.split() == [str(part) for part in sys.version_info[:2]]:
            return system
    return sys.executable


def beside(peer):
    """The form of Spindle that is compared with it."""
    return "spindle_sync" if peer == "zmq" else "spindle"


class Systems:
    """Daemons, and an interpreter that has all clients."""

    def __init__(self, arguments, folder, stack):
        self.hosts = stack.enter_context(Hosts(MEMBERS))
        self.build = pathlib.Path(arguments.build).resolve()
        self.python = self._environment(arguments.python)
        self.spindle = Spindle(arguments.build, folder / "spindle", self.hosts, MEMBERS, "mesh")
        self.spindle.start()
        stack.callback(self.spindle.stop)
        self.clients = ["spindle", "spindle_sync", "zmq", "zmq_asyncio"]
        try:
            self.nats = Nats(self.build, folder / "nats", self.hosts, MEMBERS)
            self.nats.start()
            stack.callback(self.nats.stop)
            self.clients.insert(2, "nats")
        except Absent as error:
            say(f"without NATS: {error}")

    def _environment(self, interpreter):
        """The peers' packages come from PyPI, once for an interpreter."""
        folder = self.build / "bench" / "peers" / "python"
        python = folder / "bin" / "python"
        wanted = BENCH / "peers" / "python" / "requirements.txt"
        installed = folder / "made_of.txt"
        made_of = f"{interpreter}\n{wanted.read_text()}"
        if not installed.exists() or installed.read_text() != made_of:
            build([interpreter, "-m", "venv", "--clear", folder], BENCH, "an environment for nats-py and pyzmq")
            build([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted], BENCH,
                  "nats-py and pyzmq")
            installed.write_text(made_of)
        return python

    def _addresses(self, client):
        if client.startswith("spindle"):
            return [self.spindle.client_address(host) for host in range(MEMBERS)]
        if client == "nats":
            return [f"nats://127.0.0.1:{CLIENT_PORT}"] * MEMBERS
        return [f"tcp://{self.hosts.address(host)}:{ZMQ_PORT}" for host in range(MEMBERS)]

    def run(self, client, seconds, **load):
        """What each of the members has found."""
        options = [text for key, value in load.items() for text in (f"--{key}", str(value))]
        environment = ["env", f"PYTHONPATH={self.build / 'python'}"]
        members = []
        try:
            for host in range(MEMBERS):
                command = [*self.hosts.inside(host), *environment, str(self.python), "-B", str(MEMBER), client,
                           *self._addresses(client), "--me", str(host), "--members", str(MEMBERS), "--seconds",
                           str(seconds), *options]
                members.append(start(command))
            for member in members:
                wait_until_ready(member, PATIENCE_SECONDS, f"a member of {NAMES[client]}")
            time.sleep(SETTLE_SECONDS)
            for member in members:
                tell(member, "start")
            return [json.loads(read_line(member, PATIENCE_SECONDS)) for member in members]
        finally:
            end_all(members, patience=0)

    def cpp_p50_us(self, seconds):
        """Of members by the C++ library at the same daemons, from when a message is sent, as in Python: without what they
        are late to send."""
        options = argparse.Namespace(daemons=MEMBERS, rate=RATE, window=0, window_bytes=0, warmup=1, seconds=seconds)
        figures = measure_undisturbed(self.spindle, {"measure": "latency", "service": "agreed", "size": 100}, options)
        return figures["p50_us"] - figures["send_lag_p50_us"]

    def decode(self):
        """Messages a second, by how they are taken."""
        command = [*self.hosts.inside(0), "env", f"PYTHONPATH={self.build / 'python'}", str(self.python), "-B",
                   str(MEMBER.with_name("python_decode.py")), self.spindle.client_address(0)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                                         timeout=PATIENCE_SECONDS).stdout)


def measure(arguments, folder):
    """Rows of what, figure, what it is judged by or None, mark or None."""
    with contextlib.ExitStack() as stack:
        systems = Systems(arguments, folder, stack)
        say("Python: decoding")
        decoded = systems.decode()
        found = {}
        for index in range(arguments.rounds):
            for client in systems.clients:
                say(f"Python: round {index + 1} of {arguments.rounds}: {NAMES[client]}")
                for key, figure in measure_once(systems, client, arguments.seconds):
                    found.setdefault((client, key), []).append(figure)
            say(f"Python: round {index + 1} of {arguments.rounds}: {CPP}")
            with not_counted(CPP):
                figure = systems.cpp_p50_us(arguments.seconds)
                found.setdefault(("cpp", "p50_us"), []).append(figure)
    absent = [client for client in systems.clients if (client, "p50_us") not in found or any(
        (client, size) not in found for size in RATES)]
    if {"spindle", "spindle_sync"} & set(absent):
        raise MeasurementFailed("there is no figure of Spindle")
    clients = [client for client in systems.clients if client not in absent]
    for key, what in (("by_event", "decoding and async for"), ("by_batch", "decoding and batches()")):
        yield f"{what}: messages a second, 100 bytes", decoded[key], decoded[key], at_least(DECODING[key])
    yield from rows_of(clients, {key: statistics.median(values) for key, values in found.items()})


def measure_once(systems, client, seconds):
    """Keys and figures; without those of a measurement that has failed, as where a server of NATS cuts a client off that
    it finds slow."""
    for size in RATES:
        with not_counted(NAMES[client]):
            slowest = min(each["per_second"] for each in systems.run(client, seconds, size=size))
            if slowest == 0:
                raise MeasurementFailed("a member was given nothing")
            yield size, slowest
    with not_counted(NAMES[client]):
        members = systems.run(client, seconds, size=100, rate=RATE / MEMBERS)
        for key in ("p50_us", "p99_us"):
            yield key, statistics.median(each[key] for each in members)


@contextlib.contextmanager
def not_counted(what):
    try:
        yield
    except (MeasurementFailed, KeyError) as error:
        say(f"{what}: not counted: {error}")


def rows_of(clients, found):
    """What is absent does not count as beaten."""
    for client in NAMES:
        if client not in clients:
            yield f"{NAMES[client]} was measured", 0.0, 0.0, at_least(1)
    for size, rate in RATES.items():
        for client in clients:
            what = f"{NAMES[client]}: messages a second to each member, {size} bytes"
            figure = found[client, size]
            yield (what, figure, figure, at_least(rate)) if client == "spindle" else (what, figure, None, None)
        for peer, ratio in RATIOS[size].items():
            if peer in clients:
                mine = beside(peer)
                figure = found[mine, size] / found[peer, size]
                yield f"{NAMES[mine]} / {NAMES[peer]}, {size} bytes", figure, figure, at_least(ratio)
    for client in clients:
        yield f"{NAMES[client]}: p50 at {RATE} a second, us", found[client, "p50_us"], None, None
        yield f"{NAMES[client]}: p99 at {RATE} a second, us", found[client, "p99_us"], None, None
    for peer, mark in LATENCY.items():
        if peer in clients:
            figure = found["spindle", "p50_us"] / found[peer, "p50_us"]
            yield f"{NAMES['spindle']} / {NAMES[peer]}, p50", figure, figure, mark
    if ("cpp", "p50_us") not in found:
        yield f"{CPP} was measured", 0.0, 0.0, at_least(1)
        return
    yield f"{CPP}: p50 at {RATE} a second, us", found["cpp", "p50_us"], None, None
    for client in ("spindle", "spindle_sync"):
        more = found[client, "p50_us"] - found["cpp", "p50_us"]
        yield f"{NAMES[client]} - {CPP}, p50, us", more, more, ABOVE_CPP
