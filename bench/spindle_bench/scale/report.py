"""Results as tables."""

from ..marks import verdict
from ..tables import align, align_left
from .points import added_bytes

TITLES = {
    "daemons": "Daemons, each with one sender-receiver",
    "groups": "Groups beside the load's own, each with one member, all at one client of the first daemon",
    "members": "Idle members, over all daemons, of a group that gets every message of the load besides",
    "clients": "Idle clients at each daemon",
}
HEADINGS = ["messages/s", "lowest to highest", "daemons s/M", "p50 us", "p99 us", "at /s", "MB", "B each",
            "B each, least", "kill ms", "rejoin ms", "others"]

ADDED_BYTES_MIN = 2e6


def tables(results):
    parts = []
    for dimension, title in TITLES.items():
        rows = [row_of(result) for result in results if result["dimension"] == dimension]
        if rows:
            parts.append(title + "\n" + align([[dimension] + HEADINGS] + rows))
    return "\n\n".join(parts)


def row_of(result):
    median = result["median"]
    rates = [values["messages_per_second"] for values in result["rounds"]]
    return [
        f"{result['value']:,}",
        f"{median['messages_per_second']:,.0f}", f"{min(rates):,.0f} to {max(rates):,.0f}",
        f"{median['daemon_seconds_per_million']:,.2f}",
        f"{median['p50_us']:,.0f}", f"{median['p99_us']:,.0f}", f"{median['latency_rate']:,.0f}",
        f"{max(result['loaded_bytes']) / 1e6:,.1f}", *each(result),
        f"{median['kill_ms']:,.0f}", f"{median['rejoin_ms']:,.0f}", f"{median['other_processors_busy']:.2f}",
    ]


def each(result):
    """What one more takes of a daemon's memory; nothing is said where that is lost among what pools and heaps do."""
    count = {"daemons": 0, "groups": result["groups"] - 1, "members": result["members"] / result["daemons"],
             "clients": result["clients"]}[result["dimension"]]
    most, least = added_bytes(result, count)
    return [f"{most:,.0f}", f"{least:,.0f}"] if most * count >= ADDED_BYTES_MIN else ["", ""]


def marks_table(marks):
    rows = [["mark", "demanded", "measured", ""]]
    rows += [[mark["what"], mark["demanded"], mark["text"], verdict(mark["good"])] for mark in marks]
    return align_left(rows)
