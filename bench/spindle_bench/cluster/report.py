"""Results as tables."""

import statistics

from ..marks import verdict
from ..tables import align

# Key, heading, format.
THROUGHPUT = (
    ("messages_per_second", "messages/s", "{:,.0f}"),
    ("range", "lowest to highest", "{}"),
    ("megabytes_per_second", "MB/s", "{:,.1f}"),
    ("daemon_seconds_per_million", "daemons s/M", "{:.2f}"),
    ("client_seconds_per_million", "clients s/M", "{:.2f}"),
    ("other_processors_busy", "others", "{:.2f}"),
)
LATENCY = (
    ("p50_us", "p50 us", "{:,.0f}"),
    ("range", "lowest to highest", "{}"),
    ("p99_us", "p99 us", "{:,.0f}"),
    ("p999_us", "p99.9 us", "{:,.0f}"),
    ("send_lag_p50_us", "late us", "{:,.0f}"),
    ("other_processors_busy", "others", "{:.2f}"),
)
START = (
    ("full_rate_ms", "full rate after ms", "{:,.0f}"),
    ("range", "lowest to highest", "{}"),
    ("lost_ms", "lost ms", "{:,.1f}"),
    ("messages_per_second", "messages/s", "{:,.0f}"),
)
COLUMNS = {"throughput": THROUGHPUT, "latency": LATENCY, "start": START, "fanout": THROUGHPUT, "half": LATENCY}
LEADING = {"throughput": "messages_per_second", "latency": "p50_us", "start": "full_rate_ms",
           "fanout": "messages_per_second", "half": "p99_us"}
UNITS = {"throughput": "messages/s", "latency": "us (p50)", "start": "ms to the full rate", "fanout": "messages/s",
         "half": "us (p99)"}
# What else tells the kinds of a measure apart: key, heading, format.
DETAILS = {"fanout": (("receivers", "receivers", "{:,}"),),
           "half": (("rate", "rate/s", "{:,.0f}"), ("of", "half of", "{}"))}


def succeeded(result):
    """None stands for a round in which a peer failed."""
    return [values for values in result["rounds"] if values is not None]


def add_medians(results):
    for result in results:
        rounds = succeeded(result)
        result["median"] = {key: statistics.median(values[key] for values in rounds) for key in rounds[0]}


def tables(results, members):
    parts = []
    titles = {
        "throughput": f"Throughput: messages delivered to each of {members} receivers, closed loop",
        "latency": f"Latency: from the intended sending to each of {members} receivers, open loop",
        "start": "Start: one new sender, closed loop; until it has its full rate at all receivers",
        "fanout": "Fan-out: one sender and so many receivers at one daemon, closed loop; messages delivered to each",
        "half": f"Half of the peak: latency to each of {members} receivers, open loop; range of p99",
    }
    for measure, columns in COLUMNS.items():
        details = DETAILS.get(measure, ())
        rows = [row_of(result, details, columns) for result in results if result["measure"] == measure]
        if rows:
            headings = ["system", "service", "bytes"] + [heading for _, heading, _ in details + columns]
            parts.append(titles[measure] + "\n" + align([headings] + rows))
    return "\n\n".join(parts)


def comparison(results, names):
    """The first system against the second: medians over the rounds of the quotient of the two in each."""
    first, second = names
    rows = [["measure", "service", "bytes", first, second, "quotient", "lowest to highest"]]
    by_kind = {(result["system"], result["measure"], result["service"], result["size"], result.get("receivers"),
                result.get("of")): result for result in results}
    for (system, measure, service, size, *details), result in by_kind.items():
        other = by_kind.get((second, measure, service, size, *details))
        if system != first or not other:
            continue
        key = LEADING[measure]
        # Of times to the full rate the difference counts: some are nothing.
        if measure == "start":
            quotients, form = [a[key] - b[key] for a, b in zip(result["rounds"], other["rounds"])], "{:+,.0f} ms"
        else:
            quotients, form = [a[key] / b[key] for a, b in zip(result["rounds"], other["rounds"])], "{:.3f}"
        rows.append([measure, service, f"{size:,}", f"{result['median'][key]:,.0f}", f"{other['median'][key]:,.0f}",
                     form.format(statistics.median(quotients)),
                     f"{form.format(min(quotients))} to {form.format(max(quotients))}"])
    return f"{first.capitalize()} against {second}, round by round\n" + align(rows)


def peers_table(rows):
    """Spindle against its peers, with --tls also against itself without: `rows` are those of marks.py."""
    cells = [["measure", "service", "bytes", "", "against", "spindle", "peer", "ratio", "lowest to highest", "must",
              ""]]
    number = lambda value: "" if value is None else f"{value:,.0f}"
    for row in rows:
        absent = row.ratio is None and row.theirs is None
        cells.append([row.measure, row.service, f"{row.size:,}", row.detail, row.peer, number(row.ours),
                      number(row.theirs), "" if row.ratio is None else f"{row.ratio:.3g}",
                      "" if row.ratio is None else f"{row.lowest:.3g} to {row.highest:.3g}", row.must,
                      "absent" if absent else verdict(row.good)])
    return ("Spindle against its peers: messages/s (throughput, fanout), us at the median (latency)\n"
            "and at p99 (half); the ratio of two latencies without and with TLS is their difference\n"
            + align(cells))


def row_of(result, details, columns):
    leading = [values[LEADING[result["measure"]]] for values in succeeded(result)]
    values = dict(result["median"], range=f"{min(leading):,.0f} to {max(leading):,.0f}")
    cells = [result["system"], result["service"], f"{result['size']:,}"]
    cells += [form.format(result[key]) for key, _, form in details]
    return cells + [form.format(values[key]) for key, _, form in columns]
