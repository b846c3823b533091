"""Draws what `tools/bench scenarios feeds` has measured, beside the results in a folder: what the paper whose rules feeds
follow plots, and what they make of lossy listeners and of capacities that change."""

import csv
import json

from .canvas import plot, save

SIZE_INCHES = (7, 4.2)
# The paper has a rate and a round trip of each, side by side.
COURSES = {
    "fig6": "The bottleneck shifts from the longer to the shorter branch at 500 s (Fig. 6)",
    "fig7": "Branches of 0.5 and 0.2 Mb/s (Fig. 7)",
    "fig8": "With and without aggregation of NAKs (Fig. 8)",
    "fig9": "Drop-tail and RED (Fig. 9)",
    "fig10": "Trees of five levels (Fig. 10)",
}
MARKERS = "osD^v*"


def read(folder, name):
    with open(folder / f"feeds-{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def groups(rows, *columns):
    """Rows by what they have in these columns, in the order in which that comes."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    return found.items()


def numbers(rows, column):
    return [float(row[column]) for row in rows]


def finish(axes, title, across, up):
    axes.set_title(title, fontsize="small")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_ylim(0, axes.dataLim.y1 * 1.1)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="x-small")


def draw_course(folder, name, title):
    rows = read(folder, name)
    figure, panels = plot.subplots(1, 2, figsize=(2 * SIZE_INCHES[0] * 0.75, SIZE_INCHES[1]))
    for axes, column, up in zip(panels, ("kbps", "round_trip_s"), ("rate of the source, kb/s", "mean round trip, s")):
        for (series,), own in groups(rows, "series"):
            axes.plot(numbers(own, "second"), numbers(own, column), linewidth=0.8, label=series)
        finish(axes, title, "seconds", up)
    save(figure, folder / f"feeds-{name}")


def draw_panels(folder, name, rows, columns, title):
    """TCP and feeds by the number of pairs, a panel for each value of the columns."""
    panels = groups(rows, *columns)
    across = 2
    down = (len(panels) + across - 1) // across
    figure, all_axes = plot.subplots(down, across, figsize=(9, 2.6 * down), squeeze=False)
    for axes, (values, own) in zip(all_axes.flat, panels):
        for column, marker in (("feed", "o"), ("tcp", "s")):
            axes.plot(numbers(own, "pairs"), numbers(own, column), marker=marker, linewidth=0.9, markersize=4,
                      label=column)
        axes.axhline(1, color="grey", linewidth=0.5)
        finish(axes, title(*values), "pairs", "share")
    save(figure, folder / f"feeds-{name}")


def draw_listeners(folder):
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    rows = [row for row in read(folder, "listeners") if row["loss"] == "1 %"]
    for ((rules,), own), marker in zip(groups(rows, "rules"), MARKERS):
        axes.plot(numbers(own, "listeners"), numbers(own, "ratio"), marker=marker, linewidth=0.9, label=rules)
    axes.set_xscale("log", base=2)
    finish(axes, "Listeners that lose 1 % each, independently", "listeners", "rate over that of TCP")
    save(figure, folder / "feeds-listeners")


def draw_capacity(folder):
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    for (series,), own in groups(read(folder, "capacity"), "series"):
        axes.plot(numbers(own, "second"), numbers(own, "mbps"), linewidth=0.8, label=series)
    finish(axes, "A capacity of 10 Mb/s that halves at 60 s and returns at 120 s", "seconds", "Mb/s")
    save(figure, folder / "feeds-capacity")


def draw(folder, _):
    names = [each["experiment"] for each in json.loads((folder / "feeds.json").read_text())["experiments"]
             if not each["error"]]
    for name, title in COURSES.items():
        if name in names:
            draw_course(folder, name, title)
    if "fig11" in names:
        rows = [row for row in read(folder, "fig11") if row["round_trip_ms"] == "100"]
        draw_panels(folder, "fig11", rows, ("queue", "capacity"), lambda queue, capacity: f"{queue}, {capacity}")
    if "fig11i" in names:
        draw_panels(folder, "fig11i", read(folder, "fig11i"), ("deviations", "window"),
                    lambda deviations, window: f"the paper's rules, i = {deviations}, TCP {window} (Fig. 11)")
    if "listeners" in names:
        draw_listeners(folder)
    if "capacity" in names:
        draw_capacity(folder)
