"""How throughput, latency, memory and view changes of a cluster on this machine grow with its daemons, groups, members
of a group, and idle clients. One of the four grows at a time; docs/performance.md says what the figures mean.
"""

import pathlib
import tempfile
import time

from .. import plots
from ..console import integers, leave_nothing_behind, make_parser, say, words
from ..processes import MeasurementFailed
from ..results import describe_machine, machine, write_json
from .marks import Marks
from .points import DIMENSIONS, points, run_point
from .report import marks_table, tables

QUICK = {"daemons": [3, 8], "groups": [1, 10_000], "members": [1, 100], "clients": [1, 100], "rounds": 1,
         "view_rounds": 1, "seconds": 1, "warmup": 0.5, "check_rounds": 3, "load_seconds": 10}


def parse_arguments(name):
    parser = make_parser(name, __doc__, plots=True)
    option = parser.add_argument
    option("--only", type=words, default=list(DIMENSIONS), metavar="DIMENSIONS",
           help=f"some of {','.join(DIMENSIONS)} (default all)")
    option("--daemons", type=integers, default=[3, 8, 16, 32], metavar="N,N...", help="default 3,8,16,32")
    option("--groups", type=integers, default=[1, 1_000, 10_000, 100_000], metavar="N,N...",
           help="groups with one member each, at one client (default 1,1000,10000,100000)")
    option("--members", type=integers, default=[1, 10, 100, 1_000, 10_000], metavar="N,N...",
           help="idle members, over all daemons, of a group that gets every message (default 1,10,100,1000,10000)")
    option("--clients", type=integers, default=[1, 100, 500, 2_000], metavar="N,N...",
           help="idle clients at each daemon (default 1,100,500,2000)")
    option("--base-daemons", type=int, default=3, help="daemons where something else grows (default 3)")
    option("--topology", choices=("mesh", "line"), default="mesh", help="links (default mesh)")
    option("--rounds", type=int, default=3, help="measurements of throughput and latency at each point (default 3)")
    option("--view-rounds", type=int, default=3, help="daemons killed at each point (default 3)")
    option("--seconds", type=float, default=2, help="of each measurement (default 2)")
    option("--warmup", type=float, default=0.5, help="seconds before it (default 0.5)")
    option("--rate", type=float, default=900, help="latency: messages/s of all together (default 900)")
    option("--window-bytes", type=int, default=256 << 10,
           help="throughput: what a client has under way (default 256 KiB)")
    option("--check", action="store_true", help="measure the marks instead; the status is 1 where one is missed")
    option("--check-rounds", type=int, default=11, help="rounds of each comparison (default 11)")
    option("--load-seconds", type=float, default=60, help="of the full load that memory is watched under (default 60)")
    option("--quick", action="store_true", help="fewer points, rounds and seconds: shows that it works")
    option("--output", default="build/scale", metavar="DIR", help="where results.json goes (default %(default)s)")
    quick = parser.parse_known_args()[0].quick
    if quick:
        parser.set_defaults(**QUICK)
    arguments = parser.parse_args()
    check(parser, arguments)
    return arguments


def check(parser, arguments):
    if any(dimension not in DIMENSIONS for dimension in arguments.only):
        parser.error(f"--only: some of {','.join(DIMENSIONS)}")
    if min(arguments.daemons) < 2 or arguments.base_daemons < 2:
        parser.error("--daemons and --base-daemons: at least 2, one of which is killed")
    if min(arguments.groups + arguments.members + arguments.clients) < 1:
        parser.error("--groups, --members and --clients must be positive")
    if max(arguments.groups) > 100_000:
        parser.error("--groups: at most 100000, the most that a client may be in")
    if min(arguments.rounds, arguments.view_rounds, arguments.check_rounds) < 1:
        parser.error("--rounds, --view-rounds and --check-rounds must be positive")
    if min(arguments.seconds, arguments.load_seconds, arguments.rate) <= 0 or arguments.warmup < 0:
        parser.error("--seconds, --load-seconds and --rate must be positive")


def measure_points(arguments, folder):
    results = []
    started = time.monotonic()
    wanted = list(points(arguments))
    for number, point in enumerate(wanted):
        result = {**point, **run_point(arguments, folder / str(number), point)}
        results.append(result)
        median = result["median"]
        say(f"{number + 1}/{len(wanted)} {time.monotonic() - started:.0f} s: {point['value']:,} {point['dimension']}: "
            f"{median['messages_per_second']:,.0f} messages/s, p50 {median['p50_us']:,.0f} us, "
            f"{max(result['loaded_bytes']) / 1e6:.1f} MB, view after {median['kill_ms']:,.0f} ms")
    return results


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    report = {"machine": machine(), "options": vars(arguments)}
    status = 0
    with tempfile.TemporaryDirectory(prefix="spindle-scale.") as folder:
        try:
            if arguments.check:
                marks = Marks(arguments, pathlib.Path(folder))
                report["marks"] = marks.run()
                report["memory"] = marks.series
                status = 0 if all(row["good"] for row in report["marks"]) else 1
                print(marks_table(report["marks"]))
            else:
                report["results"] = measure_points(arguments, pathlib.Path(folder))
                print(tables(report["results"]))
        except (MeasurementFailed, OSError) as error:
            say(f"scale: {error}")
            return 2
    print(f"\n{describe_machine(report['machine'])}")
    write_json(pathlib.Path(arguments.output, "marks.json" if arguments.check else "results.json"), report)
    plots.draw("scale", arguments.output)
    return status
