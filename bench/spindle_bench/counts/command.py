"""Counts the instructions that a message takes, path by path, and compares them with a recorded baseline.

Callgrind counts, so that the same code gives the same figures, whatever else the machine does. Status 1 where a path
takes over 5 percent more than recorded; 2 where the baseline is of another build. docs/performance.md says what the
paths are.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess

from ..console import integers, make_parser, say, words
from ..results import write_json
from .comparison import TOLERANCE_PERCENT, DifferentBuild, check_build, merged, ratios, regressions, table

BASELINE = pathlib.Path(__file__).resolve().parents[2] / "micro" / "instructions" / "baseline.json"
# The programs' whole environment: what it holds moves the stack, and with it what alignment costs. With the tunables the
# C library copies and fills in loops, whatever the size, as callgrind counts `rep movsb` as one instruction a byte.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=1073741824:glibc.cpu.x86_rep_stosb_threshold=1073741824",
}


class CountingFailed(Exception):
    pass


def parse_arguments(name):
    parser = make_parser(name, __doc__)
    parser.add_argument("--paths", type=words, help="some of them (default all)")
    parser.add_argument("--sizes", type=integers, default=[100, 1000, 10000],
                        help="bytes of a message (default 100,1000,10000)")
    parser.add_argument("--messages", type=int, default=4096, help="messages that are counted (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="counts at a time (default: the processors)")
    parser.add_argument("--baseline", metavar="FILE", default=str(BASELINE),
                        help="what is compared with (default %(default)s)")
    parser.add_argument("--record", action="store_true", help="write the counts there instead of comparing")
    parser.add_argument("--any-build", action="store_true",
                        help="compare even with the counts of another compiler, build type or C library")
    parser.add_argument("--keep", metavar="FOLDER",
                        help="keep a profile of each path and size there, for callgrind_annotate")
    arguments = parser.parse_args()
    if arguments.messages < 1 or arguments.jobs < 1 or min(arguments.sizes) < 1:
        parser.error("--messages, --jobs and --sizes must be positive")
    return arguments


def count(program, path, size, arguments):
    """Instructions per message."""
    profile = os.path.join(os.path.abspath(arguments.keep), f"{path}-{size}.callgrind") if arguments.keep else os.devnull
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=spindle_toggle_count",
               f"--callgrind-out-file={profile}", str(program), "--path", path, "--bytes", str(size),
               "--messages", str(arguments.messages)]
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    collected = re.search(r"Collected *: *(\d+)", result.stderr)
    if result.returncode != 0 or not collected:
        raise CountingFailed(f"{' '.join(command)} ended with status {result.returncode}:\n{result.stderr}")
    return int(collected.group(1)) / int(result.stdout)


def count_all(program, paths, arguments):
    kinds = [(path, size) for path in paths for size in arguments.sizes]
    counts = {path: {} for path in paths}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda kind: count(program, *kind, arguments), kinds)
        for number, ((path, size), value) in enumerate(zip(kinds, results), 1):
            counts[path][str(size)] = round(value, 1)
            say(f"{number}/{len(kinds)}: {path}, {size} bytes: {value:,.0f}")
    return counts


def judge(counts, baseline, arguments):
    """Prints, and gives the status."""
    if baseline is None:
        print(table(counts, None))
        say(f"check: there is no {arguments.baseline}; --record writes it")
        return 2
    print(table(counts, baseline))
    worse = regressions(counts, baseline)
    for path, size in worse:
        say(f"check: {path}, {size} bytes: over {TOLERANCE_PERCENT} % more instructions than recorded")
    return 1 if worse or not judge_ratios(counts) else 0


def judge_ratios(counts):
    """Prints them; whether all are small enough."""
    is_ok = True
    for path, other, ratio, most in ratios(counts):
        say(f"check: {path} takes {ratio:.2f} times what {other} takes; it may take {most}")
        is_ok = is_ok and ratio <= most
    return is_ok


def main(name):
    arguments = parse_arguments(name)
    if shutil.which("valgrind") is None:
        say("check: there is no valgrind; tools/bootstrap --counts installs it")
        return 2
    program = pathlib.Path(arguments.build, "bench", "instruction_paths")
    about = json.loads(subprocess.run([program, "--about"], check=True, capture_output=True, text=True).stdout)
    names = [path["name"] for path in about["paths"]]
    unknown = [path for path in arguments.paths or [] if path not in names]
    if unknown:
        say(f"check: --paths: some of {','.join(names)}")
        return 2
    file = pathlib.Path(arguments.baseline)
    baseline = json.loads(file.read_text()) if file.exists() else None
    try:
        if baseline and not arguments.record and not arguments.any_build:
            check_build(about["built"], baseline)
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
        counts = count_all(program, arguments.paths or names, arguments)
    except DifferentBuild as difference:
        say(f"check: the baseline is of another build: {difference}. --any-build compares nevertheless")
        return 2
    except CountingFailed as error:
        say(f"check: {error}")
        return 2
    if arguments.record:
        print(table(counts, baseline))
        write_json(file, merged(baseline, about["built"], counts))
        return 0
    return judge(counts, baseline, arguments)
