"""Admission against none, in the midst of one load: the daemons are told to switch it off and on again.

Two clusters that are alike, or one that is measured twice, differ by several percent, as their processes lie in other
places each time. Here the processes stay, and what is compared are neighbouring slices of a load's course.
"""

import dataclasses
import math
import statistics
import time

from ..marks import at_least, at_most, verdict
from ..processes import MeasurementFailed
from ..tables import align
from .measurement import collect, members, merge, percentile, sleep_until, tell_start
from .report import UNITS

SLICE_SECONDS = 0.25
# What a member is to tell together, for each measure that can be switched.
SPAN_MS = {"throughput": 5, "latency": 10}
# What admission may cost at most: the quotient of on and off.
MUST = {"throughput": at_least(0.97), "latency": at_most(1.05)}


def measure_switched(system, configuration, options):
    """Pairs of values of neighbouring slices: {"on": [...], "off": [...]}. Values are messages/s at the slowest
    receiver, or the median latency in us."""
    measure = configuration["measure"]
    warmup = max(options.warmup, system.warmup_seconds)
    with members(system, configuration, options, f"{measure}-course", warmup, ["--span-ms", str(SPAN_MS[measure])]) \
            as clients:
        start = tell_start(clients)
        slices = switch(system, start, warmup, options.seconds)
        results = collect(clients)
    value_of = {"throughput": arrived_in, "latency": latency_in}[measure]
    values = {"on": [], "off": []}
    for on, begin, end in slices:
        values["on" if on else "off"].append(value_of(results, begin, end))
    return values


def switch(system, start, warmup, seconds):
    """Slices (on, begin, end), in seconds since the start. Each begins once the daemons are switched. Pairs of slices
    begin with on and with off in turn, so that what changes slowly adds nothing."""
    pairs = max(1, int(seconds / SLICE_SECONDS / 2))
    slices = []
    sleep_until(start + warmup)
    for number in range(2 * pairs):
        on = number % 4 in (0, 3)
        system.set_admission(on)
        begin = time.monotonic() - start
        sleep_until(start + warmup + (number + 1) * SLICE_SECONDS)
        slices.append((on, begin, time.monotonic() - start))
    return slices


def spans_in(results, begin, end):
    """Which spans of all courses lie within a slice, and how many seconds they are."""
    span = results[0]["span_ns"] / 1e9
    first, last = math.ceil(begin / span), math.floor(end / span)
    if first >= last:
        raise MeasurementFailed(f"switching took all of {SLICE_SECONDS} s")
    return slice(first, last), (last - first) * span


def arrived_in(results, begin, end):
    spans, seconds = spans_in(results, begin, end)
    return min(sum(result["arrived"][spans]) for result in results) / seconds


def latency_in(results, begin, end):
    spans, _ = spans_in(results, begin, end)
    return percentile(merge(histogram for result in results for histogram in result["latency_ns"][spans]), 0.5) / 1e3


@dataclasses.dataclass
class Comparison:
    measure: str
    service: str
    size: int
    on: float        # medians of the slices
    off: float
    quotient: float  # geometric mean over the pairs
    error: float     # its standard error
    pairs: int
    must: str
    good: bool


def compare(result):
    """`result`: a kind with its rounds, as measure_switched made them."""
    on = [value for values in result["rounds"] for value in values["on"]]
    off = [value for values in result["rounds"] for value in values["off"]]
    logarithms = [math.log(a / b) for a, b in zip(on, off)]
    quotient = math.exp(statistics.mean(logarithms))
    error = quotient * statistics.stdev(logarithms) / math.sqrt(len(logarithms)) if len(logarithms) > 1 else math.inf
    must = MUST[result["measure"]]
    return Comparison(result["measure"], result["service"], result["size"], statistics.median(on),
                      statistics.median(off), quotient, error, len(logarithms), str(must), must.holds(quotient))


def table(comparisons):
    rows = [["measure", "service", "bytes", "on", "off", "", "quotient", "error", "pairs", "must", ""]]
    for row in comparisons:
        rows.append([row.measure, row.service, f"{row.size:,}", f"{row.on:,.0f}", f"{row.off:,.0f}",
                     UNITS[row.measure], f"{row.quotient:.3f}", f"{row.error:.3f}", f"{row.pairs}", row.must,
                     verdict(row.good)])
    return ("Admission switched on and off in the midst of a load: medians of slices, geometric means of the quotients\n"
            "of neighbouring slices, and their standard errors\n" + align(rows))
