"""Files that go to many receivers as bulk channels: rates, times, bytes and memory with real daemons on hosts that are
network namespaces of this machine, beside one TCP connection, and with --peers beside other programs that do the same. It
takes root. What has arrived is compared with what was sent in every run. docs/performance.md has figures.

Without --size contents have 1 GB, or what a row says; what is received lies in a folder of its own, with --folder in that
one: of a disk that is slower than the links, the disk is measured.
"""

import os
import pathlib
import tempfile

from .. import plots
from ..console import leave_nothing_behind, make_parser, say, words
from ..field.network import Unavailable, check_available
from ..figures import conclude
from ..results import machine
from .rows import ROWS
from .setting import Setting

SIZE = 1_000_000_000
# Of what 17 hosts have, and some more.
COPIES = 18
MEMORY_FOLDER = "/dev/shm"


def parse_arguments(name):
    parser = make_parser(name, __doc__, plots=True)
    parser.add_argument("--size", type=lambda text: int(float(text)), default=SIZE, help="bytes of the content; 1e8 will do")
    parser.add_argument("--only", type=words, action="extend", metavar="ROW,...", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--rounds", type=int, default=3, help="of what takes less than a minute (default %(default)s)")
    parser.add_argument("--peers", action="store_true", help="other programs, too; tools/bench installs them")
    parser.add_argument("--folder", help="for contents (default: in memory where there is room, else on the disk)")
    parser.add_argument("--json", metavar="FILE", help="writes all figures")
    parser.add_argument("--plot", metavar="FILE", help="draws what comes to receivers in the course of transfers of the row "
                        "mesh, as PNG and as SVG (takes matplotlib: --plots)")
    parser.add_argument("--check", action="store_true", help="status 1 where a mark is missed")
    arguments = parser.parse_args()
    unknown = set(arguments.only or ()) - set(ROWS)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    return arguments


def folder_for(size):
    """None: where temporary files are."""
    return MEMORY_FOLDER if available_memory() > 2 * COPIES * size and os.path.isdir(MEMORY_FOLDER) else None


def available_memory():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


def measure(setting, rows):
    """Figures, by row; a row that cannot be had here has one that says why."""
    figures = []
    for name in rows:
        say(f"bulk: {name}")
        of_row = ROWS[name](setting)
        for figure in of_row:
            say("bulk: " + " ".join(str(cell) for cell in figure.cells()))
        figures += of_row
    return figures


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    try:
        check_available(pathlib.Path(arguments.build, "bench", "delay_line"))
    except Unavailable as why:
        say(f"{name}: {why}")
        return 1
    host = machine()
    rows = [row for row in ROWS if not arguments.only or row in arguments.only]
    with tempfile.TemporaryDirectory(prefix="spindle-bulk-", dir=arguments.folder or folder_for(arguments.size)) as folder:
        setting = Setting(pathlib.Path(arguments.build), pathlib.Path(folder), arguments.size, arguments.rounds,
                          arguments.peers)
        figures = measure(setting, rows)
    if arguments.plot:
        plots.draw("transfers", arguments.plot, report=setting.courses)
    return conclude(name, host, figures, arguments, size=arguments.size, courses=setting.courses)
