"""What the code of bulk channels does: its speed, or how often symbols do not suffice.

Bytes of content a second are those of processor time of one processor. With --peers the crate raptorq does the same in
alternate rounds, and ratios are medians over the rounds; cargo builds it. Encoders have their plan already, and decoders
get repair symbols only, two more than the block has source symbols; to take them is part of decoding.

With --trials random encoding symbols are drawn for blocks of several sizes, so many times for each; all processors count how
often K' of them, one more and two more do not give the block. docs/performance.md has figures.
"""

import dataclasses
import json
import math
import os
import pathlib
import statistics
import subprocess
import typing

from .cluster.systems import BENCH, Absent, build, need
from .console import integers, leave_nothing_behind, make_parser, say
from .marks import Bound, at_least, verdict
from .tables import align

# Of section 5.8 of RFC 6330: for K' symbols, one more, two more.
LAW = (1e-2, 1e-4, 1e-6)
# A count is too large where chance alone makes one as large as rarely as this.
CHANCE = 1e-3


@dataclasses.dataclass(frozen=True)
class Measurement:
    what: str
    symbols: int
    symbol_bytes: int
    ratio: typing.Optional[Bound] = None  # to the crate
    rate: typing.Optional[Bound] = None  # GB/s

    def __str__(self):
        return f"{self.what}, {self.symbols} x {self.symbol_bytes} bytes"


MEASUREMENTS = (
    Measurement("encode", 1000, 1280, ratio=at_least(1.2)),
    Measurement("decode", 1000, 1280, ratio=at_least(1.5)),
    Measurement("encode", 1024, 8192, rate=at_least(3)),
    Measurement("decode", 1024, 8192, rate=at_least(1.2)),
)


def parse_arguments(name):
    parser = make_parser(name, __doc__)
    parser.add_argument("--peers", action="store_true", help="the crate raptorq, too")
    parser.add_argument("--rounds", type=int, default=9, help="of which the medians count (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.4, help="of a measurement (default %(default)s)")
    parser.add_argument("--trials", type=int, help="for each number of symbols; speed is not measured then")
    parser.add_argument("--symbols", type=integers, default=[10, 26, 101, 1002],
                        help="of a block, for the trials (default 10,26,101,1002)")
    parser.add_argument("--seed", type=int, default=1, help="of the trials (default %(default)s)")
    parser.add_argument("--check", action="store_true", help="status 1 where a mark is missed")
    return parser.parse_args()


# --- Speed ---


def build_crate(tree):
    """The program that measures it."""
    cargo = need("cargo", "cargo", "of Rust 1.85 or newer, which tools/bootstrap does not install")
    target = tree.resolve() / "bench" / "peers" / "raptorq"
    build([cargo, "build", "--release", "--locked", "--target-dir", target], BENCH / "peers" / "raptorq", "raptorq")
    return target / "release" / "raptorq_speed"


def stay_on_one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def gigabytes_per_second(program, measurement, seconds):
    done = subprocess.run([program, measurement.what, str(measurement.symbols), str(measurement.symbol_bytes), str(seconds)],
                          check=True, capture_output=True, text=True, preexec_fn=stay_on_one_processor)
    return float(done.stdout) / 1e9


def judge(measurement, rates):
    """A row of the table, and whether the mark is met: None where there is none. `rates`: by round, of each program."""
    median = [statistics.median(column) for column in zip(*rates)]
    ratio = statistics.median(ours / theirs for ours, theirs in rates) if len(median) == 2 else None
    good, must = None, ""
    if measurement.rate:
        good, must = measurement.rate.holds(median[0]), f"{measurement.rate} GB/s"
    elif ratio is not None:
        good, must = measurement.ratio.holds(ratio), f"ratio {measurement.ratio}"
    peers = [f"{median[1]:.2f}", f"{ratio:.2f}"] if ratio is not None else []
    return [str(measurement), f"{median[0]:.2f}", *peers, must, verdict(good)], good


def measure_speed(arguments):
    tree = pathlib.Path(arguments.build)
    programs = [tree / "bench" / "codes_speed"]
    if arguments.peers:
        programs.append(build_crate(tree))
    rates = {measurement: [] for measurement in MEASUREMENTS}
    for index in range(arguments.rounds):
        say(f"codes: round {index + 1} of {arguments.rounds}")
        for measurement in MEASUREMENTS:
            rates[measurement].append([gigabytes_per_second(program, measurement, arguments.seconds) for program in programs])
    rows = [["GB/s", "Spindle", *(["raptorq", "ratio"] if arguments.peers else []), "must", ""]]
    verdicts = []
    for measurement in MEASUREMENTS:
        row, good = judge(measurement, rates[measurement])
        rows.append(row)
        verdicts.append(good)
    print(align(rows, left=1))
    return False not in verdicts


# --- Trials ---


def chance_of(count, trials, probability):
    """That so many of the trials fail, or more."""
    def term(failures):
        return math.exp(math.lgamma(trials + 1) - math.lgamma(failures + 1) - math.lgamma(trials - failures + 1)
                        + failures * math.log(probability) + (trials - failures) * math.log1p(-probability))

    below = math.fsum(term(failures) for failures in range(min(count, trials + 1)))
    return max(0.0, 1 - below)


def is_lawful(count, trials, probability):
    return count <= trials * probability or chance_of(count, trials, probability) >= CHANCE


def run_trials(arguments):
    program = pathlib.Path(arguments.build) / "bench" / "codes_trials"
    rows = [["K'", "trials", "K'", "K' + 1", "K' + 2", "seconds", ""]]
    good = True
    for symbols in arguments.symbols:
        done = subprocess.run([program, "--symbols", str(symbols), "--trials", str(arguments.trials), "--seed",
                               str(arguments.seed)], check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout)
        lawful = all(is_lawful(count, found["trials"], law) for count, law in zip(found["failures"], LAW))
        good = good and lawful
        rows.append([str(found["symbols"]), f"{found['trials']:,}", *(f"{count:,}" for count in found["failures"]),
                     f"{found['seconds']:.0f}", verdict(lawful)])
        say(f"codes: {' '.join(rows[-1])}")
    print("failures of random symbols\n\n" + align(rows, left=0))
    return good


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    try:
        good = run_trials(arguments) if arguments.trials else measure_speed(arguments)
    except Absent as reason:
        say(f"{name}: {reason}")
        return 1
    if not good:
        say(f"{name}: a mark is missed")
    return 1 if arguments.check and not good else 0
