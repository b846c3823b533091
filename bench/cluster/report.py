"""Results as a table and as JSON."""

import os
import pathlib
import platform
import statistics

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
LEADING = {"throughput": "messages_per_second", "latency": "p50_us", "start": "full_rate_ms"}
UNITS = {"throughput": "messages/s", "latency": "us (p50)", "start": "ms to the full rate"}


def add_medians(results):
    for result in results:
        rounds = result["rounds"]
        result["median"] = {key: statistics.median(values[key] for values in rounds) for key in rounds[0]}


def tables(results, members):
    parts = []
    titles = {
        "throughput": f"Throughput: messages delivered to each of {members} receivers, closed loop",
        "latency": f"Latency: from the intended sending to each of {members} receivers, open loop",
        "start": "Start: one new sender, closed loop; until it has its full rate at all receivers",
    }
    for measure, columns in (("throughput", THROUGHPUT), ("latency", LATENCY), ("start", START)):
        rows = [row_of(result, columns) for result in results if result["measure"] == measure]
        if rows:
            headings = ["system", "service", "bytes"] + [heading for _, heading, _ in columns]
            parts.append(titles[measure] + "\n" + align([headings] + rows))
    return "\n\n".join(parts)


def comparison(results, names):
    """The first system against the second: medians over the rounds of the quotient of the two in each."""
    first, second = names
    rows = [["measure", "service", "bytes", first, second, "quotient", "lowest to highest"]]
    by_kind = {(result["system"], result["measure"], result["service"], result["size"]): result for result in results}
    for (system, measure, service, size), result in by_kind.items():
        if system != first:
            continue
        other = by_kind[second, measure, service, size]
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


def row_of(result, columns):
    leading = [values[LEADING[result["measure"]]] for values in result["rounds"]]
    values = dict(result["median"], range=f"{min(leading):,.0f} to {max(leading):,.0f}")
    cells = [result["system"], result["service"], f"{result['size']:,}"]
    return cells + [form.format(values[key]) for key, _, form in columns]


def align(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if column < 2 else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def machine():
    """What the figures depend on besides the code."""
    model = [line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return {
        "processors": len(os.sched_getaffinity(0)),
        "model": model[0] if model else "unknown",
        "kernel": platform.release(),
        "load_average": os.getloadavg()[0],
    }
