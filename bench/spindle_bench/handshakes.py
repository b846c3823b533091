"""What strangers and newcomers cost a daemon whose clients come by TLS, and those who are connected already.

A pair of clients exchanges 900 messages a second; the 99th percentile of their round trips is taken while nothing else
goes on, while so many clients connect at once, and while so many strangers begin a handshake and do not go on with it,
or send something else. Python connects them, so that the other processor is busy with that. docs/performance.md has
figures.
"""

import json
import pathlib
import re
import resource
import selectors
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from .console import leave_nothing_behind, make_parser, say
from .marks import at_most
from .processes import MeasurementFailed, processor_seconds
from .spindled import Daemon
from .tables import align

CLUSTER = "spindle"
ALPN = "spindle-client/1"
RATE = 900
LEAD_SECONDS = 0.5
PATIENCE_SECONDS = 30
# A record of 512 bytes is announced, of which so few come.
HALF_A_HELLO = bytes.fromhex("1603010200") + bytes(11)
NO_HELLO = b"GET / HTTP/1.1\r\n\r\n"

HANDSHAKE_MS = at_most(1, "{:g} ms")
STORM_MS = at_most(5, "{:+g} ms")
# Of 256 handshakes, and of a connection for each of 4,096 that wait.
STRANGERS_MIB = at_most(32, "{:+g} MiB")


def parse_arguments(name):
    parser = make_parser(name, __doc__)
    parser.add_argument("--handshakes", type=int, default=1000, help="one after the other (default %(default)s)")
    parser.add_argument("--clients", type=int, default=1000, help="that connect at once (default %(default)s)")
    parser.add_argument("--strangers", type=int, default=10000, help="(default %(default)s)")
    parser.add_argument("--seconds", type=float, default=6, help="of each measurement (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts (default %(default)s)")
    parser.add_argument("--check", action="store_true", help="status 1 where a mark is missed")
    return parser.parse_args()


class Subject:
    """A daemon, and connections to it."""

    def __init__(self, build, folder):
        self.folder = pathlib.Path(folder)
        self.tools = pathlib.Path(build, "tools").resolve()
        pki = lambda *words: subprocess.run([self.tools / "spmonitor", "pki", *words], cwd=folder, check=True,
                                            stdout=subprocess.DEVNULL)
        pki("init", CLUSTER)
        pki("issue", f"{CLUSTER}.ca", "alpha")
        pki("issue", f"{CLUSTER}.ca", "--client", "feed")
        self.daemon = Daemon(build, folder, "alpha", CLUSTER)

    def start(self):
        self.daemon.start("127.0.0.1:0", [], clients="tls:127.0.0.1:0", bundle=self.folder.resolve() / "alpha.pem",
                          settings=["[session]", "sessions_max = 20000"])
        self.port = int(re.search(r"tls:127\.0\.0\.1:(\d+)", self.daemon.ready)[1])
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.context.check_hostname = False  # the daemon's name is not a host's
        self.context.load_verify_locations(self.folder / f"{CLUSTER}.ca")
        self.context.load_cert_chain(self.folder / "feed.pem")
        self.context.set_alpn_protocols([ALPN])

    def processor_seconds(self):
        return processor_seconds([self.daemon.process.pid])

    def mebibytes(self):
        status = pathlib.Path(f"/proc/{self.daemon.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1024

    def connect(self, source=""):
        """Begins to; nothing of TLS yet. Sources make strangers of many hosts."""
        plain = socket.socket()
        if source:
            plain.bind((source, 0))
        plain.setblocking(False)
        plain.connect_ex(("127.0.0.1", self.port))
        return plain

    def shake_hands(self, count):
        """One after the other."""
        for _ in range(count):
            with socket.create_connection(("127.0.0.1", self.port)) as plain:
                self.context.wrap_socket(plain).close()

    def connect_at_once(self, count):
        waiting = selectors.DefaultSelector()
        connections = []
        for _ in range(count):
            connection = self.context.wrap_socket(self.connect(), do_handshake_on_connect=False)
            connections.append(connection)
            waiting.register(connection, selectors.EVENT_WRITE)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while waiting.get_map():
            if time.monotonic() > deadline:
                raise MeasurementFailed(f"{len(waiting.get_map())} of {count} clients were not let in")
            for ready, _ in waiting.select(1):
                try:
                    ready.fileobj.do_handshake()
                    waiting.unregister(ready.fileobj)
                except ssl.SSLWantReadError:
                    waiting.modify(ready.fileobj, selectors.EVENT_READ)
                except ssl.SSLWantWriteError:
                    pass
        for connection in connections:
            connection.close()

    def be_strange(self, count, words):
        """Strangers of some thousand addresses; they stay until the list that is returned is closed."""
        strangers = [self.connect(f"127.0.{1 + i // 250 % 40}.{1 + i % 250}") for i in range(count)]
        time.sleep(LEAD_SECONDS)
        for stranger in strangers:
            try:
                stranger.send(words)
            except OSError:
                pass  # refused already
        return strangers

    def pair(self, seconds, meanwhile=None):
        """Milliseconds that 99 of 100 round trips take at most."""
        command = [self.tools / "spuser", "--connect", f"unix:{self.daemon.socket}", "publish", "pair", "--measure",
                   "--rate", str(RATE)]
        lines = ("x" * 100 + "\n") * int(RATE * seconds)
        said = []
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as publisher:
            talk = threading.Thread(target=lambda: said.append(publisher.communicate(lines)[0]))
            talk.start()
            time.sleep(LEAD_SECONDS)
            if meanwhile:
                meanwhile()
            talk.join()
        if publisher.returncode != 0:
            raise MeasurementFailed(f"spuser ended with status {publisher.returncode}")
        return json.loads(said[0])["latency_p99_us"] / 1000


def measure(subject, arguments):
    """Rows of name, figure, mark."""
    before, resident = subject.processor_seconds(), subject.mebibytes()
    subject.shake_hands(arguments.handshakes)
    handshake = (subject.processor_seconds() - before) / arguments.handshakes * 1000
    yield "processor, ms of a handshake", handshake, HANDSHAKE_MS

    rises = {"clients connect at once": [], "strangers send half a hello": [], "strangers send something else": []}
    memory = dict.fromkeys(list(rises)[1:], 0.0)
    for turn in range(1, arguments.rounds + 1):
        say(f"round {turn} of {arguments.rounds}")
        quiet = subject.pair(arguments.seconds)
        connect = lambda: subject.connect_at_once(arguments.clients)
        rises["clients connect at once"].append(subject.pair(arguments.seconds, connect) - quiet)
        for name, words in zip(memory, (HALF_A_HELLO, NO_HELLO)):
            held = []
            come = lambda: held.extend(subject.be_strange(arguments.strangers, words))
            rises[name].append(subject.pair(arguments.seconds, come) - quiet)
            memory[name] = max(memory[name], subject.mebibytes() - resident)
            for stranger in held:
                stranger.close()
    counts = [arguments.clients, arguments.strangers, arguments.strangers]
    for count, (name, found) in zip(counts, rises.items()):
        yield f"p99 of others, ms more: {count:,} {name}", statistics.median(found), STORM_MS
    for name, found in memory.items():
        yield f"memory, MiB more than at the beginning: {arguments.strangers:,} {name}", found, STRANGERS_MIB


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    rows, missed = [("what", "figure", "must")], []
    with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
        subject = Subject(arguments.build, folder)
        try:
            subject.start()
            for what, figure, bound in measure(subject, arguments):
                rows.append((what, f"{figure:.2f}", str(bound)))
                if not bound.holds(figure):
                    missed.append(what)
        except MeasurementFailed as failure:
            sys.exit(f"handshakes: {failure}")
        finally:
            subject.daemon.end()
    print(align(rows, left=1))
    for what in missed:
        say(f"handshakes: {what}: missed")
    return 1 if arguments.check and missed else 0
