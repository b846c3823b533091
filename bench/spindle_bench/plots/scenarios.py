"""Draws what `tools/bench scenarios`, `grid` and `changes` have measured, beside the results in a folder."""

import csv
import json

from .canvas import plot, save

QUEUE_LIMIT = 150  # packets
SIZE_INCHES = (9, 6)
NAMES = {"1": "scenario1", "2a": "scenario2", "2b": "scenario2-delayed", "3": "scenario3", "4": "scenario4-time"}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def series_of(rows, key, value):
    """By `key`, the seconds and the values of each."""
    series = {}
    for row in rows:
        seconds, values = series.setdefault(row[key], ([], []))
        seconds.append(int(row["second"]))
        values.append(float(row[value]))
    return series


def total(series):
    """One series of all, which have the same seconds."""
    seconds = next(iter(series.values()))[0]
    return {"all": (seconds, [sum(values) for values in zip(*(each for _, each in series.values()))])}


def draw_over_time(folder, scenario):
    identity = scenario["scenario"]
    rates = read(folder / f"rates-{identity}.csv")
    links = read(folder / f"links-{identity}.csv")
    figure, (above, below) = plot.subplots(2, 1, sharex=True, figsize=SIZE_INCHES)

    classes = series_of(rates, "class", "frames_bps")
    if identity == "4":
        classes = total(classes)
    for name, (seconds, values) in classes.items():
        above.plot(seconds, [value / 1e6 for value in values], linewidth=0.8, label=name)
    above.set_ylabel("Mb/s, frames with heads")
    above.set_title(scenario["title"])

    bottlenecks = {row["link"] for row in rates}
    for name, (seconds, values) in series_of(links, "link", "queue_max").items():
        if name in bottlenecks:
            below.plot(seconds, values, linewidth=0.8, label=name)
    below.set_ylabel("longest queue of each second")
    below.set_xlabel("seconds")
    for axes in (above, below):
        axes.set_ylim(0, axes.dataLim.y1 * 1.1)
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", fontsize="small")
    save(figure, folder / NAMES[identity])


def draw_over_senders(folder, scenario):
    phases = scenario["phases"]
    senders = [phase["senders"] for phase in phases]
    figure, (above, below) = plot.subplots(2, 1, sharex=True, figsize=SIZE_INCHES)
    above.plot(senders, [phase["frames_bps"] / 1e6 for phase in phases], marker="o")
    above.set_ylabel("Mb/s, frames with heads")
    above.set_title("Scenario 4: by the number of senders")
    below.plot(senders, [phase["queue_max"] for phase in phases], marker="o")
    below.axhline(QUEUE_LIMIT, color="gray", linestyle="--", linewidth=0.8)
    below.set_ylabel("longest queue, packets")
    below.set_xlabel("senders")
    for axes in (above, below):
        axes.set_ylim(0, axes.dataLim.y1 * 1.1)
        axes.grid(alpha=0.3)
    save(figure, folder / "scenario4")


def draw_grid(folder):
    """Heat maps over rate and delay, of the plane of cells that differ in these alone."""
    cells = json.loads((folder / "grid.json").read_text())["cells"]
    plane = {
        (cell["bits_per_second"] / 1e6, cell["delay_ms"]): cell
        for cell in cells
        if (cell["shape"], cell["daemons"], cell["senders"], cell["message_bytes"]) == ("single", 10, 5, 1000)
        and not cell["error"]
    }
    if not plane:
        return
    figure, all_axes = plot.subplots(3, 1, figsize=(9, 11))
    maps = (
        ("used, %", lambda cell: 100 * cell["used"], "RdYlGn", (80, 100)),
        ("mean queue, ms", lambda cell: cell["queue_ms"], "RdYlGn_r", (0, 100)),
        ("longest queue, ms", lambda cell: cell["queue_most_ms"], "RdYlGn_r", (0, 500)),
    )
    for axes, (title, value_of, colours, bounds) in zip(all_axes, maps):
        draw_map(axes, title, {at: value_of(cell) for at, cell in plane.items()}, colours, bounds)
    all_axes[-1].set_xlabel("bottleneck, Mb/s; ten daemons with five senders each, messages of 1,000 bytes")
    save(figure, folder / "grid")


def draw_map(axes, title, plane, colours, bounds):
    """Values by (Mb/s, delay of a path in ms)."""
    rates = sorted({rate for rate, _ in plane})
    delays = sorted({delay for _, delay in plane})
    values = [[plane.get((rate, delay), float("nan")) for rate in rates] for delay in delays]
    axes.imshow(values, cmap=colours, vmin=bounds[0], vmax=bounds[1], aspect="auto", origin="lower")
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if value == value:
                axes.text(x, y, f"{value:.1f}", ha="center", va="center", fontsize="small")
    axes.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
    axes.set_yticks(range(len(delays)), [f"{delay:g}" for delay in delays])
    axes.set_title(title)
    axes.set_ylabel("delay of a path, ms")


def draw_changes(folder):
    """Heat maps over rate and delay, one for each change: the time until all is right, over what it must be."""
    planes = {}
    for cell in json.loads((folder / "changes.json").read_text())["cells"]:
        for change in cell["changes"]:
            seconds = change["due_after_s"] if change["has_time"] else float("nan")
            share = 99.9 if seconds is None else seconds / change["must_s"]  # None: never
            plane = planes.setdefault(change["change"], {})
            plane[cell["bits_per_second"] / 1e6, cell["delay_ms"]] = share
    if not planes:
        return
    figure, all_axes = plot.subplots(len(planes), 1, figsize=(9, 3 * len(planes)), squeeze=False)
    for axes, (change, plane) in zip(all_axes[:, 0], planes.items()):
        draw_map(axes, f"{change}: time over what it must be", plane, "RdYlGn_r", (0, 2))
    all_axes[-1, 0].set_xlabel("bottleneck, Mb/s")
    save(figure, folder / "changes")


def draw(folder, _):
    if (folder / "grid.json").exists():
        draw_grid(folder)
    if (folder / "changes.json").exists():
        draw_changes(folder)
    if not (folder / "results.json").exists():
        return
    for scenario in json.loads((folder / "results.json").read_text())["scenarios"]:
        if scenario["error"]:
            continue
        draw_over_time(folder, scenario)
        if scenario["scenario"] == "4":
            draw_over_senders(folder, scenario)
