"""Feeds with real daemons, on hosts that are network namespaces of this machine: how much of a stream of a fixed rate
arrives, and when, where links lose frames and are long; with --peers beside other systems that do the same, in turn. And
what a feed gets of a bottleneck beside TCP, and leaves to ordered messages. It takes root. docs/performance.md has figures.

What UDP sends in one call with GSO, by what it sends with many, is in `tools/bench micro --benchmark_filter=Datagram`.
"""

import contextlib
import pathlib
import tempfile

from ..cluster.peers import SocketBuffers
from ..console import decimals, integers, leave_nothing_behind, make_parser, say, words
from ..field.network import Unavailable, check_available
from ..figures import conclude
from ..results import machine
from .rows import ROWS
from .setting import Setting
from .stream import PEERS


def parse_arguments(name):
    parser = make_parser(name, __doc__)
    parser.add_argument("--only", type=words, action="extend", metavar="ROW,...", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--rounds", type=int, default=3, help="(default %(default)s)")
    parser.add_argument("--seconds", type=float, default=20,
                        help="of each stream; flows beside TCP have three times as many (default %(default)s)")
    parser.add_argument("--receivers", type=integers, default=[1, 3, 8], metavar="N,...", help="default 1,3,8")
    parser.add_argument("--losses", type=decimals, default=[0, 1, 5], metavar="PERCENT,...", help="default 0,1,5")
    parser.add_argument("--peers", action="store_true", help=f"{', '.join(PEERS)}, too; tools/bench installs them")
    parser.add_argument("--json", metavar="FILE", help="writes all figures, and every round of streams")
    parser.add_argument("--check", action="store_true", help="status 1 where a mark is missed")
    arguments = parser.parse_args()
    unknown = set(arguments.only or ()) - set(ROWS)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    if arguments.rounds < 1 or arguments.seconds < 1:
        parser.error("--rounds, --seconds: at least 1")
    if any(not 1 <= count <= 100 for count in arguments.receivers):
        parser.error("--receivers: 1 to 100")
    if any(not 0 <= loss <= 50 for loss in arguments.losses):
        parser.error("--losses: 0 to 50")
    return arguments


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    try:
        check_available(pathlib.Path(arguments.build, "bench", "delay_line"))
    except Unavailable as why:
        say(f"{name}: {why}")
        return 1
    host = machine()
    figures = []
    with tempfile.TemporaryDirectory(prefix="spindle-feeds-") as folder, \
            SocketBuffers() if arguments.peers else contextlib.nullcontext():
        setting = Setting(pathlib.Path(arguments.build), pathlib.Path(folder), arguments.rounds, arguments.seconds,
                          arguments.peers, arguments.receivers, arguments.losses)
        for row, measure in ROWS.items():
            if not arguments.only or row in arguments.only:
                say(f"feeds: {row}")
                figures += measure(setting)
    return conclude(name, host, figures, arguments, versions=setting.versions, seconds=arguments.seconds,
                    rounds=arguments.rounds, streams=setting.rounds_measured)
