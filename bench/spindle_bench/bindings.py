"""What the C library costs beside the C++ library that is in it, and with --peers what clients for Python get beside those of
NATS and ZeroMQ (bindings_python.py), and clients for Java beside JGroups and jnats (bindings_java.py).

A client sends messages to itself through a daemon, 256 of them under way, in C and in C++ in turns. Throughput is told as a
ratio of medians; instructions a message are those of the whole client, its connection's thread included, as callgrind counts
them, each the difference between a short and a long run. docs/performance.md has figures.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

from . import bindings_java, bindings_python, plots
from .console import integers, leave_nothing_behind, make_parser, say, words
from .marks import at_least, at_most
from .spindled import Daemon
from .tables import align

LANGUAGES = ("c", "cpp")
RATIO = at_least(0.95)
INSTRUCTIONS = at_most(150, "{:+g}")
#: What measures the client of a language beside others.
BESIDE_PEERS = {"python": bindings_python.measure, "java": bindings_java.measure}


def parse_arguments(name):
    parser = make_parser(name, __doc__, plots=True)
    parser.add_argument("--sizes", type=integers, default=[100, 1000], help="bytes of a message (default 100,1000)")
    parser.add_argument("--messages", type=int, default=2_000_000, help="of a measurement (default %(default)s)")
    parser.add_argument("--counted", type=int, default=20_000, help="messages that are counted (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of which the medians count (default %(default)s)")
    parser.add_argument("--peers", action="store_true",
                        help="the Python package beside nats-py and pyzmq, and the Java client beside JGroups and jnats, "
                        "too; takes root, PyPI, Maven Central and Go")
    parser.add_argument("--only", choices=["c", *BESIDE_PEERS], help="the part for this language alone")
    parser.add_argument("--measures", type=words, default=list(bindings_java.MEASURES), metavar="NAME,...",
                        help="of Java: agreed, fifo, latency (default: all)")
    parser.add_argument("--python", metavar="FILE", default=bindings_python.default_interpreter(),
                        help="the interpreter of the members in Python, of the version that the package is built for "
                        "(default: the system's, if that is one, and otherwise the one that runs this; here %(default)s)")
    parser.add_argument("--seconds", type=float, default=3, help="of a measurement of --peers (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the rows of --peers there")
    parser.add_argument("--plot", metavar="FILE", help="draw them, as PNG and as SVG (takes matplotlib: --plots)")
    parser.add_argument("--check", action="store_true", help="status 1 where a mark is missed")
    arguments = parser.parse_args()
    if set(arguments.measures) - set(bindings_java.MEASURES):
        parser.error(f"--measures are some of {', '.join(bindings_java.MEASURES)}")
    if (arguments.json or arguments.plot) and not arguments.peers:
        parser.error("--json and --plot are for --peers")
    return arguments


class Loops:
    """The two programs, at one daemon."""

    def __init__(self, build, daemon):
        self.programs = {language: os.path.join(build, "bench", f"loop_{language}") for language in LANGUAGES}
        self.address = f"unix:{daemon.socket}"

    def rate(self, language, size, messages):
        done = subprocess.run([self.programs[language], self.address, str(size), str(messages)], check=True,
                              capture_output=True, text=True)
        return messages / float(done.stdout)

    def instructions(self, language, size, messages):
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", self.programs[language],
                   self.address, str(size)]
        counts = []
        for number in (messages, 2 * messages):
            done = subprocess.run([*command, str(number)], check=True, capture_output=True, text=True)
            counts.append(int(re.search(r"Collected *: *(\d+)", done.stderr)[1]))
        return (counts[1] - counts[0]) / messages


def medians(rounds, measure):
    """By language; the rounds of both alternate."""
    found = {language: [] for language in LANGUAGES}
    for _ in range(rounds):
        for language in LANGUAGES:
            found[language].append(measure(language))
    return {language: statistics.median(values) for language, values in found.items()}


def measure_all(loops, arguments):
    """Rows of name, C, C++, what is judged, mark."""
    for size in arguments.sizes:
        say(f"{size} bytes: throughput")
        rates = medians(arguments.rounds, lambda language: loops.rate(language, size, arguments.messages))
        yield f"messages a second, {size} bytes", rates["c"], rates["cpp"], rates["c"] / rates["cpp"], RATIO
        if shutil.which("valgrind") is None:
            say("no instructions: there is no valgrind; tools/bootstrap --counts installs it")
            continue
        say(f"{size} bytes: instructions")
        counts = medians(arguments.rounds, lambda language: loops.instructions(language, size, arguments.counted))
        yield (f"instructions a message, {size} bytes", counts["c"], counts["cpp"], counts["c"] - counts["cpp"],
               INSTRUCTIONS)


def beside_cpp(arguments):
    """Prints the table of C, and gives what is missed."""
    rows, missed = [("what", "C", "C++", "ratio, more", "must")], []
    with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
        daemon = Daemon(arguments.build, folder, "alpha", "spindle")
        try:
            daemon.start("127.0.0.1:0", [])
            for what, in_c, in_cpp, figure, bound in measure_all(Loops(arguments.build, daemon), arguments):
                rows.append((what, f"{in_c:,.0f}", f"{in_cpp:,.0f}", f"{figure:.3g}", str(bound)))
                if not bound.holds(figure):
                    missed.append(what)
        finally:
            daemon.end()
    print(align(rows, left=1))
    return missed


def beside_peers(arguments, language):
    """Prints the table of a language. Gives its rows, and what is missed."""
    rows, missed, kept = [("what", "figure", "must")], [], []
    with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
        for what, figure, judged, bound in BESIDE_PEERS[language](arguments, pathlib.Path(folder)):
            rows.append((what, f"{figure:,.0f}" if figure >= 100 else f"{figure:.2f}", "" if bound is None else str(bound)))
            kept.append({"language": language, "what": what, "figure": figure, "must": rows[-1][2]})
            if bound is not None and not bound.holds(judged):
                missed.append(what)
    print(align(rows, left=1))
    return kept, missed


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    missed = beside_cpp(arguments) if arguments.only in (None, "c") else []
    report = {"rows": []}
    for language in BESIDE_PEERS if arguments.peers else ():
        if arguments.only in (None, language):
            rows, fallen = beside_peers(arguments, language)
            report["rows"] += rows
            missed += fallen
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if arguments.plot:
        plots.draw("bindings", arguments.plot, report=report)
    for what in missed:
        say(f"{name}: {what}: missed")
    return 1 if arguments.check and missed else 0
