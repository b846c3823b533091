"""How long requests with their answers take, beside agreed messages and, with --peers, beside requests of NATS: two clients
at different ones of three daemons, on three hosts that are network namespaces. Rounds are interleaved; figures are medians of
all rounds. docs/performance.md has some.
"""

import contextlib
import json
import pathlib
import statistics
import subprocess
import tempfile

from .cluster.hosts import Here, Hosts
from .cluster.systems.nats import Nats
from .cluster.systems.spindle import Spindle
from .console import leave_nothing_behind, make_parser, say
from .marks import at_most
from .processes import MeasurementFailed, end_all
from .tables import align

DAEMONS = 3
RATIO = at_most(2.2)
PATIENCE_SECONDS = 60


def parse_arguments(name):
    parser = make_parser(name, __doc__)
    parser.add_argument("--rate", type=float, default=900, help="a second (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=3, help="of a round of each (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(default %(default)s)")
    parser.add_argument("--bytes", type=int, default=100, help="of a message, and of an answer (default %(default)s)")
    parser.add_argument("--peers", action="store_true", help="NATS, too; takes root, and tools/bootstrap --peers before")
    parser.add_argument("--check", action="store_true", help="status 1 where a mark is missed")
    return parser.parse_args()


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    if done.returncode != 0:
        raise MeasurementFailed(done.stderr.strip())
    return json.loads(done.stdout)


def measure_spindle(system, arguments, what):
    client = pathlib.Path(arguments.build, "bench", "requests_client").resolve()
    return run([client, "--asks-at", system.client_address(0), "--answers-at", system.client_address(1), "--what", what,
                "--rate", str(arguments.rate), "--seconds", str(arguments.seconds), "--bytes", str(arguments.bytes)])


def measure_nats(system, arguments):
    load = ["--size", str(arguments.bytes), "--rate", str(arguments.rate), "--seconds", str(arguments.seconds)]
    answering = subprocess.Popen(system.client_command(1) + ["--measure", "answers"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
    try:
        if answering.stdout.readline().strip() != "ready":
            raise MeasurementFailed("the client of NATS that answers does not")
        return run(system.client_command(0) + ["--measure", "requests", *load])
    finally:
        end_all([answering], patience=5)


def measure(arguments, folder, stack):
    new_hosts = lambda: stack.enter_context(Hosts(DAEMONS) if arguments.peers else Here())
    spindle = Spindle(arguments.build, folder / "spindle", new_hosts(), DAEMONS, "mesh")
    nats = Nats(pathlib.Path(arguments.build).resolve(), folder / "nats", new_hosts(), DAEMONS) if arguments.peers else None
    for system in filter(None, (spindle, nats)):
        system.start()
        stack.callback(system.stop)
    rounds = []
    for index in range(arguments.rounds):
        say(f"requests: round {index + 1} of {arguments.rounds}")
        figures = {what: measure_spindle(spindle, arguments, what) for what in ("message", "request")}
        if nats:
            figures["nats"] = measure_nats(nats, arguments)
        rounds.append(figures)
    return rounds


NAMES = {"message": "an agreed message", "request": "a request and its answer", "nats": "the same with NATS"}


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder, contextlib.ExitStack() as stack:
        rounds = measure(arguments, pathlib.Path(folder), stack)
    median = lambda what, key: statistics.median(figures[what][key] for figures in rounds)
    rows = [("what", "p50 us", "p99 us")]
    rows += [(NAMES[what], f"{median(what, 'p50_us'):.0f}", f"{median(what, 'p99_us'):.0f}") for what in rounds[0]]
    print(align(rows, left=1))
    ratio = statistics.median(figures["request"]["p50_us"] / figures["message"]["p50_us"] for figures in rounds)
    print(f"\na request takes {ratio:.2f} times as long as a message ({RATIO})")
    if arguments.peers:
        beside = statistics.median(figures["request"]["p50_us"] / figures["nats"]["p50_us"] for figures in rounds)
        print(f"and {beside:.2f} times as long as one of NATS")
    return 1 if arguments.check and not RATIO.holds(ratio) else 0
