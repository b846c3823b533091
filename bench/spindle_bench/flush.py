"""How long the views of a synchronous group take: thirty members at three daemons send all the time, and one client joins
and leaves. A change is timed from its request until all members have the view. docs/performance.md has figures.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from .console import leave_nothing_behind, make_parser, say
from .marks import at_most
from .spindled import Daemon
from .tables import align

NAMES = ("alpha", "beta", "gamma")

VIEW_MS = at_most(5, "{:g} ms")


def parse_arguments(name):
    parser = make_parser(name, __doc__)
    parser.add_argument("--members", type=int, default=30, help="in all (default %(default)s)")
    parser.add_argument("--changes", type=int, default=1000, help="joins and leaves (default %(default)s)")
    parser.add_argument("--rate", type=int, default=300, help="messages a second of all (default %(default)s)")
    parser.add_argument("--check", action="store_true", help="status 1 where a mark is missed")
    return parser.parse_args()


def start_all(daemons):
    neighbours = []
    for daemon in daemons:
        daemon.start("127.0.0.1:0", neighbours)
        neighbours = [*neighbours, re.search(r"links at (127\.0\.0\.1:\d+)", daemon.ready)[1]]


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
        daemons = [Daemon(arguments.build, folder, name, "spindle") for name in NAMES]
        try:
            start_all(daemons)
            command = [pathlib.Path(arguments.build, "bench", "flush_client"), "--members", str(arguments.members),
                       "--changes", str(arguments.changes), "--rate", str(arguments.rate)]
            for daemon in daemons:
                command += ["--address", f"unix:{daemon.socket}"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"flush: {done.stderr.strip()}")
            figures = json.loads(done.stdout)
        finally:
            for daemon in daemons:
                daemon.end()
    rows, missed = [("what", "figure", "must")], []
    for what, figure, bound in (("a view, ms, median", figures["median_ms"], VIEW_MS),
                                ("a view, ms, 99 of 100", figures["p99_ms"], None)):
        rows.append((what, f"{figure:.2f}", str(bound) if bound else ""))
        if bound and not bound.holds(figure):
            missed.append(what)
    print(align(rows, left=1))
    for what in missed:
        say(f"flush: {what}: missed")
    return 1 if arguments.check and missed else 0
