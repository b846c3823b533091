"""Counts of instructions against those of a recorded baseline.

Counts are numbers of instructions per message, by path and then by the bytes of a message, as text.
"""

from ..tables import align

# What may be added to a count, in percent, before it is a regression.
TOLERANCE_PERCENT = 5
# What a path may take at most, over what another one takes: to pass on a request for a packet of a feed, and the packet
# (LMS, Table II: 3,979 and 3,702 cycles).
RATIOS_MAX = {("feed-nak", "feed-packet"): 1.1}
# Of messages of that many bytes.
RATIO_SIZE = "1000"


class DifferentBuild(Exception):
    """The baseline was recorded with a program that was built otherwise: the counts say nothing about the code."""


def check_build(built, baseline):
    differences = [f"{key} {baseline['built'].get(key, 'unknown')!r} there, {value!r} here"
                   for key, value in built.items() if baseline["built"].get(key) != value]
    if differences:
        raise DifferentBuild("; ".join(differences))


def change_percent(before, now):
    return 100 * (now - before) / before


def regressions(counts, baseline):
    """The pairs of path and size that need too many more than they did, worst first. What the baseline does not have
    cannot be worse."""
    found = []
    for path, sizes in counts.items():
        for size, now in sizes.items():
            before = baseline["instructions"].get(path, {}).get(size)
            if before is not None and change_percent(before, now) > TOLERANCE_PERCENT:
                found.append((change_percent(before, now), path, size))
    return [(path, size) for _, path, size in sorted(found, reverse=True)]


def ratios(counts):
    """Of those that both paths were counted for: which paths, their ratio, and what it may be."""
    found = []
    for (path, other), most in RATIOS_MAX.items():
        if RATIO_SIZE in counts.get(path, {}) and RATIO_SIZE in counts.get(other, {}):
            found.append((path, other, counts[path][RATIO_SIZE] / counts[other][RATIO_SIZE], most))
    return found


def merged(baseline, built, counts):
    """The baseline with these counts in the place of its own. Those of another build go."""
    kept = baseline["instructions"] if baseline is not None and baseline["built"] == built else {}
    paths = list(kept) + [path for path in counts if path not in kept]
    return {"built": built, "instructions": {path: {**kept.get(path, {}), **counts.get(path, {})} for path in paths}}


def table(counts, baseline):
    """A line for each path and size, with what the baseline has where there is one to compare with."""
    rows = [["path", "bytes", "instructions", "baseline", "change"]]
    for path, sizes in counts.items():
        for size, now in sizes.items():
            before = (baseline or {"instructions": {}})["instructions"].get(path, {}).get(size)
            compared = ["", ""] if before is None else [f"{before:,.0f}", f"{change_percent(before, now):+.1f} %"]
            rows.append([path, f"{int(size):,}", f"{now:,.0f}", *compared])
    return align(rows, left=1)
