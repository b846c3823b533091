"""Scenario 2 at several rates, distances and kinds of TCP, as one table."""

from ..marks import verdict
from ..tables import align_left
from . import report
from .network import MEGABIT

HEADINGS = ["Mb/s", "round trip", "TCP", "Spindle alone", "TCP alone", "below TCP", "", "TCP beside it keeps", "",
            "longest queue", "longest pause", "warm-up and length"]


def cells(arguments):
    """The rate, the round trip in milliseconds and the congestion control of each measurement: what takes long last."""
    return [(rate, round_trip, tcp)
            for tcp in arguments.tcps for rate in arguments.rates for round_trip in arguments.round_trips]


def table(results):
    rows = [HEADINGS]
    for result in results:
        for each in result["bottlenecks"]:
            together = result["pace"]["together"]
            rows.append([
                f"{result['rate'] / MEGABIT:g}", f"{result['round_trip_ms']:g} ms", result["congestion_control"],
                report.megabits(each["alone"]["wire"]), report.megabits(each["tcp"]["wire"]),
                f"{each['below_tcp']:.1%}", verdict(report.is_near_tcp(each)),
                f"{each['tcp_share']:.0%}", verdict(report.is_fair_to_tcp(each)),
                f"{longest(each, 'queue')} packets", f"{longest(each, 'pause'):.1f} s",
                f"{together['warmup']} + {together['seconds']} s",
            ])
    return align_left(rows)


def longest(bottleneck, what):
    return max(bottleneck[phase][f"longest_{what}"] for phase in ("alone", "together"))


def all_good(results):
    return all(report.is_near_tcp(each) and report.is_fair_to_tcp(each)
               for result in results for each in result["bottlenecks"])
