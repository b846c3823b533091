"""Spindle against its peers, and what it must reach."""

import dataclasses
import operator

from ..marks import at_least, at_most, below
from .report import LEADING

# Least quotient of messages/s, by service and size.
THROUGHPUT = {
    ("agreed", 100): {"jgroups": 8, "corosync": 20, "nats": 2},
    ("agreed", 1000): {"jgroups": 5.5, "corosync": 8, "nats": 1.5},
    ("agreed", 10000): {"jgroups": 3.3, "corosync": 3.3, "nats": 1.4},
    ("fifo", 100): {"nats": 2.2, "jgroups": 1},
    ("fifo", 1000): {"nats": 1.6, "jgroups": 1},
    ("fifo", 10000): {"nats": 1.5, "jgroups": 1},
}
# The same for fanout, by receivers.
FANOUT = {100: {"nats": 2}}
# What the median latency must stay below, by service: so many times that of the peer. Safe messages are to be faster
# than the agreed ones of Spread, which no registry has: measured once beside NATS it took 290 us, and NATS 228.
LATENCY = {"agreed": {"nats": 1}, "safe": {"nats": 290 / 228}}
# A cluster without certificates beside one with, which must reach this share of its messages/s, by size, and whose
# median latency may be this much longer.
PLAIN = "plain"
TLS_THROUGHPUT = {100: 0.75, 1000: 0.6, 10000: 0.5}
TLS_LATENCY_US = 30
# Below whose p99 that of an agreed message must stay at half of the peak, the own one and the peer's.
HALF = ("nats", "jgroups", "corosync")


@dataclasses.dataclass
class Row:
    measure: str
    service: str
    size: int
    detail: str
    peer: str
    ours: float = None     # medians
    theirs: float = None
    ratio: float = None    # of the medians, ours by theirs
    lowest: float = None   # of the quotients round by round
    highest: float = None  # against a plain cluster these three are differences where latency is measured
    must: str = ""
    good: bool = None      # None: nothing is asked

    @property
    def absent(self):
        return self.ratio is None


def bound_of(kind, peer):
    """What ours must be, by theirs; None where nothing is asked."""
    least = most = None
    if peer == PLAIN:
        return tls_bound_of(kind)
    if kind["measure"] == "throughput":
        least = THROUGHPUT.get((kind["service"], kind["size"]), {}).get(peer)
    elif kind["measure"] == "fanout" and kind["service"] == "fifo":
        least = FANOUT.get(kind["receivers"], {}).get(peer)
    elif kind["measure"] == "half":
        most = 1 if peer in HALF else None
    elif kind["measure"] == "latency":
        most = LATENCY.get(kind["service"], {}).get(peer)
    return at_least(least) if least else below(most, "{:.3g}") if most else None


def tls_bound_of(kind):
    least = TLS_THROUGHPUT.get(kind["size"]) if kind["measure"] == "throughput" else None
    return at_least(least) if least else at_most(TLS_LATENCY_US, "{:+g}") if kind["measure"] == "latency" else None


def key_of(kind):
    """The figure that is compared."""
    return "p99_us" if kind["measure"] == "half" else LEADING[kind["measure"]]


def counterpart(results, ours, peer):
    """What the peer did at the same work: with the same service, and for agreed and safe, where it has no such, with the
    strongest that it has; at the same rate."""
    services = {"safe": ["safe", "agreed", "fifo"], "agreed": ["agreed", "fifo"]}.get(ours["service"], [ours["service"]])
    same = lambda theirs, key: theirs.get(key) == ours.get(key)
    for service in services:
        for theirs in results:
            if theirs["system"] == peer and theirs["service"] == service and all(
                    same(theirs, key) for key in ("measure", "size", "receivers", "of")):
                return theirs
    return None


def row_of(ours, theirs, peer):
    key = key_of(ours)
    detail = f"{ours['receivers']} receivers" if "receivers" in ours else ""
    if "of" in ours:
        detail = f"{ours['rate']:,.0f}/s, half of {ours['of']}"
    if theirs and theirs["service"] != ours["service"]:
        detail = ", ".join(part for part in (detail, f"it {theirs['service']}") if part)
    row = Row(ours["measure"], ours["service"], ours["size"], detail, peer, ours["median"][key])
    must = bound_of(ours, peer)
    if must:
        row.must = str(must)
    if not theirs:
        row.good = False if must else None
        return row
    relate = operator.sub if peer == PLAIN and ours["measure"] == "latency" else operator.truediv
    quotients = [relate(a[key], b[key]) for a, b in zip(ours["rounds"], theirs["rounds"]) if b is not None]
    row.theirs = theirs["median"][key]
    row.ratio = relate(row.ours, row.theirs)
    row.lowest, row.highest = min(quotients), max(quotients)
    if must:
        row.good = must.holds(row.ratio)
    return row


def compare(results, spindle, peers, absent):
    """A row for each kind of measurement of Spindle and each peer that does the same, or would if it were here."""
    rows = []
    for ours in results:
        if ours["system"] != spindle:
            continue
        for peer in peers:
            theirs = counterpart(results, ours, peer)
            if theirs:
                rows.append(row_of(ours, theirs, peer))
        rows += [row for peer in absent if (row := row_of(ours, None, peer)).must and ours["measure"] != "half"]
    rows += overtaken(results, spindle, peers)
    return rows


def overtaken(results, spindle, peers):
    """Peers half of whose peak is more than Spindle can carry."""
    return [Row("half", theirs["service"], theirs["size"], f"{theirs['rate']:,.0f}/s, half of {theirs['of']}",
                theirs["of"], theirs=theirs["median"]["p99_us"], must="< 1", good=False)
            for theirs in results
            if theirs["measure"] == "half" and theirs["system"] == theirs["of"] and theirs["of"] in peers
            and not any(ours["system"] == spindle and ours["measure"] == "half" and ours["of"] == theirs["of"]
                        and ours["size"] == theirs["size"] for ours in results)]


def unreached(rows):
    return [row for row in rows if row.good is False]
