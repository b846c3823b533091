"""Scenarios 1 and 2 on real sockets: spindled and clients in network namespaces, links shaped by `tc tbf`.

On the bottleneck links it measures what one TCP flow (iperf3) gets, what Spindle gets, and what both get at the same
time. With --matrix scenario 2 at several rates, round trips and kinds of TCP, in one table. Needs root, iproute2 and
iperf3; ends with status 77, and says why, where there are no network namespaces, or no TUN devices for long links.
docs/performance.md says what the figures mean.
"""

import copy
import pathlib
import shutil
import subprocess
import tempfile

from ..console import decimals, integers, leave_nothing_behind, make_parser, say, words
from ..processes import Disturbed, MeasurementFailed, show_logs, undisturbed
from ..results import write_json
from . import matrix, report
from .network import (MEGABIT, QUEUE_BYTES_MIN, QUEUE_MS, Unavailable, check_available, congestion_controls,
                      default_congestion_control)
from .scenarios import SCENARIOS, run, scaled

SKIPPED = 77
MATRIX_SCENARIO = 2
MATRIX_SCENARIO_RATE = 2 * MEGABIT


def parse_arguments(name):
    parser = make_parser(name, __doc__)
    parser.add_argument("--scenarios", type=integers, default=list(SCENARIOS),
                        help="some of 1,2 (default both)")
    parser.add_argument("--seconds", type=int, default=20,
                        help="of each measurement, four a scenario (default 20; beside TCP longer if need be)")
    parser.add_argument("--times", type=float, default=1, metavar="N",
                        help="links N times as fast as in the paper (default 1: 1 and 2 Mb/s)")
    parser.add_argument("--round-trip", type=float, default=0, metavar="MS",
                        help="of the bottlenecks, when their queues are empty (default 0)")
    parser.add_argument("--tcp", metavar="NAME", default=default_congestion_control(),
                        help="congestion control of all hosts (default %(default)s)")
    parser.add_argument("--matrix", action="store_true",
                        help="scenario 2 for all of --rates, --round-trips and --tcps instead")
    parser.add_argument("--rates", type=decimals, default=[2, 10, 100], metavar="N,...",
                        help="of the bottleneck, in Mb/s (default 2,10,100)")
    parser.add_argument("--round-trips", type=decimals, default=[20, 100], metavar="MS,...",
                        help="default 20,100")
    parser.add_argument("--tcps", type=words, default=["cubic", "reno"], metavar="NAME,...",
                        help="default cubic,reno")
    parser.add_argument("--no-admission", action="store_true", help="with admission switched off, to compare")
    parser.add_argument("--check", action="store_true", help="status 1 where a figure falls short")
    parser.add_argument("--json", metavar="FILE", help="write all results there")
    arguments = parser.parse_args()
    if arguments.seconds < 1:
        parser.error("--seconds: at least 1")
    if not 0.1 <= arguments.times <= 100:
        parser.error("--times: 0.1 to 100")
    if any(number not in SCENARIOS for number in arguments.scenarios):
        parser.error("--scenarios: 1, 2 or both")
    if any(not 0.2 <= rate <= 200 for rate in arguments.rates):
        parser.error("--rates: 0.2 to 200")
    if any(not 0 <= round_trip <= 2000 for round_trip in [arguments.round_trip, *arguments.round_trips]):
        parser.error("--round-trip, --round-trips: 0 to 2000")
    for name in arguments.tcps if arguments.matrix else [arguments.tcp]:
        if name not in congestion_controls():
            parser.error(f"this kernel has no congestion control {name}, but {', '.join(congestion_controls())}")
    arguments.delay_line = pathlib.Path(arguments.build) / "bench" / "delay_line"
    return arguments


def measure(number, arguments):
    """None where that failed, which it says."""
    scenario = scaled(SCENARIOS[number], arguments.times)
    try:
        return undisturbed(lambda: measure_once(scenario, arguments))
    except (MeasurementFailed, subprocess.CalledProcessError, OSError) as error:
        say(f"field: {error}")
        return None


def measure_once(scenario, arguments):
    with tempfile.TemporaryDirectory(prefix="spindle-field.") as folder:
        try:
            return run(scenario, arguments, folder, lambda what: say(f"scenario {scenario.number}: {what}"))
        except (Disturbed, MeasurementFailed, subprocess.CalledProcessError, OSError):
            show_logs(folder)
            raise


def run_scenarios(arguments):
    """Yields results; None where a measurement failed."""
    for number in arguments.scenarios:
        yield measure(number, arguments)


def run_matrix(arguments):
    for rate, arguments.round_trip, arguments.tcp in matrix.cells(arguments):
        say(f"{rate:g} Mb/s, round trip {arguments.round_trip:g} ms, {arguments.tcp}")
        arguments.times = rate * MEGABIT / MATRIX_SCENARIO_RATE
        result = measure(MATRIX_SCENARIO, arguments)
        yield result and {"rate": rate * MEGABIT, **result}


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    is_long = any(arguments.round_trips) if arguments.matrix else arguments.round_trip > 0
    if is_long and not arguments.delay_line.exists():
        say(f"field: there is no {arguments.delay_line}; build the target delay_line")
        return 2
    try:
        check_available(arguments.delay_line if is_long else None)
    except Unavailable as why:
        say(f"field: skipped: {why}")
        return SKIPPED
    if shutil.which("iperf3") is None:
        say("field: there is no iperf3; tools/bootstrap installs it")
        return 2
    given = copy.copy(arguments)
    view = matrix if arguments.matrix else report
    results = []
    for result in run_matrix(arguments) if arguments.matrix else run_scenarios(arguments):
        if result is None:
            return 1
        results.append(result)
        if arguments.json:  # what has taken an hour is not lost with the last cell
            write_json(arguments.json, {"options": vars(given), "results": results})
    print(view.table(results))
    if not arguments.matrix:
        print(f"\nMeasurements of {arguments.seconds} s or more; congestion control {arguments.tcp}; round trip "
              f"{arguments.round_trip:g} ms.")
    print(f"Room for {QUEUE_MS} ms, the round trip, or {QUEUE_BYTES_MIN} bytes, whichever is the most, in front of "
          "the links.")
    if arguments.check and not view.all_good(results):
        say("field: a figure falls short")
        return 1
    return 0
