"""Where rows are measured: daemons on hosts of a segment."""

import contextlib

from .segment import Segment
from .transfers import Content, Daemons

MEGABIT = 1_000_000
GIGABIT = 1_000 * MEGABIT
MIB = 1 << 20


def star(receivers):
    return [(0, host) for host in range(1, receivers + 1)]


def line(receivers):
    return [(host, host + 1) for host in range(receivers)]


@contextlib.contextmanager
def running(setting, name, count, edges, rates=None):
    """Daemons on hosts of a segment; `rates`: of the cables of hosts, in bits a second."""
    with hosts_with(count, rates) as hosts:
        with Daemons(setting.build, setting.folder / name, hosts, edges) as daemons:
            yield hosts, daemons


@contextlib.contextmanager
def hosts_with(count, rates=None):
    """Hosts of a segment whose cables have these rates."""
    with Segment(count) as hosts:
        for host, rate in (rates or {}).items():
            hosts.limit(host, rate)
        yield hosts


def content_of(setting, size):
    return Content(setting.folder / "content", size)
