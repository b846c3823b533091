"""Results as a table, and whether they are what they must be."""

from ..marks import at_most, verdict
from ..tables import align_left

BELOW_TCP = at_most(0.03, "3 %")
TCP_SHARE = (0.40, 0.60)
QUEUE = at_most(150)
HEADINGS = ["scenario", "link", "what", "paper", "must", "ours", ""]


def rows_of(result):
    """Tuples: scenario, link, what, the paper's figure, what it must be, ours, and whether it is (None: no matter)."""
    for each in result["bottlenecks"]:
        alone, together = each["alone"], each["together"]
        below, share = each["below_tcp"], each["tcp_share"]
        longest_queue = max(alone["longest_queue"], together["longest_queue"])
        rows = [
            ("below what TCP gets", "4 %", str(BELOW_TCP),
             f"{below:.1%} ({megabits(alone['wire'])} of {megabits(each['tcp']['wire'])} Mb/s)",
             is_near_tcp(each)),
            ("payload, Spindle and TCP", "", "", f"{megabits(alone['payload'])} and "
             f"{megabits(each['tcp']['payload'])} Mb/s", None),
            ("longest queue, packets", "about 150", str(QUEUE), str(longest_queue), QUEUE.holds(longest_queue)),
            ("share of a competing TCP flow", "", "40 to 60 %",
             f"{share:.0%} (beside {megabits(together['payload'])} Mb/s of payload)",
             is_fair_to_tcp(each)),
        ]
        for name, rates in alone["classes"].items():
            spread = "" if rates["variation"] is None else f", senders' variation {rates['variation']:.1%}"
            rows.append((f"class {name}", "", "", f"{megabits(rates['payload'])} Mb/s of payload{spread}", None))
        for row in rows:
            yield (str(result["scenario"]), each["link"], *row)


def is_near_tcp(bottleneck):
    return BELOW_TCP.holds(bottleneck["below_tcp"])


def is_fair_to_tcp(bottleneck):
    return TCP_SHARE[0] <= bottleneck["tcp_share"] <= TCP_SHARE[1]


def table(results):
    rows = [HEADINGS]
    for result in results:
        for *cells, good in rows_of(result):
            rows.append([*cells, verdict(good)])
    return align_left(rows)


def all_good(results):
    return all(good is not False for result in results for *_, good in rows_of(result))


def megabits(rate):
    return f"{rate / 1e6:.3f}"
