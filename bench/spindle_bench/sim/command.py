"""Runs a program of bench/sim/scenarios, and draws what it has measured."""

import pathlib
import subprocess

from .. import plots
from ..console import make_parser, say

PROGRAMS = {"scenarios": "scenarios", "grid": "scenario_grid", "changes": "scenario_changes",
            "bulk-scenarios": "scenario_bulk", "feed-scenarios": "scenario_feeds", "lms-scenarios": "scenario_lms",
            "mesh-scenarios": "scenario_mesh"}
RESULTS = {"scenarios": "results.json", "grid": "grid.json", "changes": "changes.json", "bulk-scenarios": "bulk.json",
           "feed-scenarios": "feeds.json", "lms-scenarios": "lms.json", "mesh-scenarios": "mesh.json"}
# What draws them, where it is not what draws those of admission.
PLOTS = {"bulk-scenarios": "bulk", "feed-scenarios": "feeds", "lms-scenarios": "lms", "mesh-scenarios": "mesh"}
DESCRIPTIONS = {
    "scenarios": """Runs networks with bottlenecks in the simulator, with the daemon's own code, and compares what admission
makes of them with the figures of the paper that it follows: a summary of each, and a table (paper, must reach, ours).
Time is virtual: the figures depend on the seed, not on the machine. docs/performance.md says what the scenarios are and
what is measured.

  tools/bench scenarios grid       a bottleneck over a grid of rates and delays, see tools/bench grid --help
  tools/bench scenarios changes    changes of capacity and load, see tools/bench changes --help
  tools/bench scenarios bulk       bulk channels, see tools/bench scenarios bulk --help
  tools/bench scenarios feeds      the rate of feeds, see tools/bench scenarios feeds --help
  tools/bench scenarios lms        the repair of feeds, see tools/bench scenarios lms --help
  tools/bench scenarios mesh       the mesh of bulk channels, see tools/bench scenarios mesh --help
  tools/bench scenarios --real     on real sockets, see tools/bench field --help""",
    "grid": """Runs a bottleneck in the simulator over a grid of rates, delays, senders and sizes: a few cells of it, or
with --whole all, which takes half an hour. grid.json, grid.csv and heat maps go to the folder of --output.""",
    "changes": """How soon all is right again when a bottleneck's capacity halves, doubles, quarters or flaps, and when a
sender begins, at several rates and delays, in the simulator; takes a few minutes. changes.json, changes.csv, a series of
each cell and heat maps go to the folder of --output.""",
    "bulk-scenarios": """Sends contents through bulk channels in the simulator, with the code of daemons and clients, over
the paths of the paper that relays follow, beside plain TCP, and has receivers come late and relays, sources and paths
fail: a table (paper, must reach, ours). Symbols are counted and carry no content. docs/performance.md says what the
experiments are. Takes some minutes. bulk.json, a CSV file of each experiment and plots go to the folder of --output.""",
    "feed-scenarios": """Has the rate control of feeds, the daemon's code, send over simulated paths that carry packets: the
experiments of the paper whose rules it follows, TCP flows beside feeds, many lossy listeners, capacities that change; a
table (paper, must reach, ours). Listeners are a simple model. docs/performance.md says what the experiments are. Takes
some minutes. feeds.json, a CSV file of each experiment and plots go to the folder of --output.""",
    "lms-scenarios": """Loses packets of feeds, one at a time, on the random graphs, binary trees and transit-stub graphs of
the paper that their repair follows, with the code of daemons: a table (paper, must reach, ours) of how long repairs take
and whom they reach needlessly. docs/performance.md says what the experiments are. Takes some minutes. lms.json, a CSV file
of each experiment and plots go to the folder of --output.""",
    "mesh-scenarios": """Has 1,000 receivers fetch a content from each other beside a tree, with the code of daemons for the
mesh, on a network of 20,000 routers, beside the trees and the epidemic ways of the paper that the mesh follows: a table
(paper, must reach, ours). Connections are rates; symbols are counted and carry no content. docs/performance.md says what
the experiments are. Takes some ten minutes. mesh.json, a CSV file of each experiment and plots go to the folder of
--output.""",
}


def parse_arguments(name):
    parser = make_parser(name, DESCRIPTIONS[name], plots=True)
    several = {"nargs": "+", "action": "extend"}
    if name == "scenarios":
        parser.add_argument("--only", **several, metavar="SCENARIO", help="some of 1,2a,2b,3,4 (default all)")
        parser.add_argument("--seconds", metavar="N", help="how long each lasts, instead of as long as it should")
        parser.add_argument("--senders", **several, metavar="N",
                            help="scenario 4: how many, one number after the other")
    else:
        parts = "experiments" if name in PLOTS else "cells"
        parser.add_argument("--only", **several, metavar="NAME",
                            help=f"{parts} whose names have one of these in them")
        parser.add_argument("--list", action="store_true", help=f"name the {parts}, and run none")
    if name == "grid":
        parser.add_argument("--whole", action="store_true", help="all cells instead of a few")
        parser.add_argument("--lossy", action="store_true",
                            help="instead, bottlenecks that lose 0.1 and 1 %% of their packets, with Reno and CUBIC")
    parser.add_argument("--seed", metavar="N", help="another run of each")
    if name in PLOTS:
        parser.add_argument("--share", metavar="X", help="of the sizes and times, or of the graphs, that experiments "
                            "should have, from 0.05 to 1, for a quick look (default 1)")
    else:
        parser.add_argument("--set", **several, metavar="KEY=VALUE",
                            help="another constant of admission, such as queue_time=10ms; a wrong one lists them all")
    parser.add_argument("--jobs", default="2", metavar="N", help="at most N at once (default %(default)s)")
    parser.add_argument("--output", default=f"build/{name}", metavar="DIR",
                        help="where the results (JSON), the series (CSV) and the plots (PNG, SVG) go "
                        "(default %(default)s)")
    parser.add_argument("--check", action="store_true", help="the status is 1 where a figure falls short")
    return parser.parse_args()


def as_options(arguments):
    """As the program takes them."""
    options = []
    for name, value in vars(arguments).items():
        if name in ("build", "plots") or value in (None, False):
            continue
        options.append(f"--{name}")
        if value is not True:
            options += value if isinstance(value, list) else [value]
    return options


def main(name):
    arguments = parse_arguments(name)
    results = pathlib.Path(arguments.output, RESULTS[name])
    results.unlink(missing_ok=True)
    program = pathlib.Path(arguments.build, "bench", PROGRAMS[name])
    status = subprocess.run([program, *as_options(arguments)], check=False).returncode
    if results.exists() and status in (0, 1):
        plots.draw(PLOTS.get(name, "scenarios"), arguments.output)
        say(f"{name}: series in {arguments.output}")
    return status
