"""Draws what `tools/bench scenarios bulk` has measured, beside the results in a folder: what the paper that relays follow
plots, and rates over time around faults."""

import csv
import json

from .canvas import plot, save

SIZE_INCHES = (7, 4.2)
TREES = {
    "table1-bu": "Rates of Table 1, from BU (Fig. 7 and 8)",
    "table1-ucla": "Rates of Table 1, from UCLA (Fig. 9 and 10)",
    "table1-uw": "Widest paths of Table 1, from UW (Fig. 12 and 13)",
}
COURSES = {
    "killed": "A relay is killed",
    "silent": "A relay loses power",
    "root": "The root is killed",
    "source": "The source's program is killed",
    "partition": "A partition of ten seconds",
    "late": "A receiver comes when half has been sent",
}
MARKERS = "osD^v*"


def read(folder, name):
    """Rows of an experiment; none: it was not run, or has failed."""
    path = folder / f"bulk-{name}.csv"
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def finish(figure, axes, folder, name, title, across):
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(across)
    axes.set_ylabel("Mb/s")
    axes.set_ylim(0, axes.dataLim.y1 * 1.1)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(figure, folder / f"bulk-{name}")


def draw_bars(axes, names, series):
    """Series of one bar for each name, side by side; what is not there has none."""
    width = 0.8 / len(series)
    for index, (label, values) in enumerate(series):
        places = [place + (index - (len(series) - 1) / 2) * width for place in range(len(names))]
        axes.bar(places, values, width, label=label)
    axes.set_xticks(range(len(names)), names)


def draw_tree(folder, name, title, rows):
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    series = [("least rate on the path", [float(row["minimum_mbps"]) for row in rows]),
              ("bulk channel", [float(row["ours_mbps"]) for row in rows])]
    for column, label in (("paper_mbps", "ROMA, as its text says"), ("direct_mbps", "one TCP from the root")):
        if any(row[column] for row in rows):
            series.append((label, [float(row[column] or 0) for row in rows]))
    draw_bars(axes, [row["host"] for row in rows], series)
    finish(figure, axes, folder, name, title, "host")


def draw_course(folder, name, title, rows):
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    styles = {"orphan": "-", "late": "-", "other": "--"}
    for host in sorted({row["host"] for row in rows}):
        own = [row for row in rows if row["host"] == host]
        axes.plot([float(row["second"]) for row in own], [float(row["mbps"]) for row in own],
                  styles[own[0]["kind"]], linewidth=0.9, label=f"{host} ({own[0]['kind']})")
    finish(figure, axes, folder, name, title, "seconds")


def draw_lines(folder, name, title, across, column, rows, lines):
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    for (label, key), marker in zip(lines, MARKERS):
        axes.plot([float(row[column]) for row in rows], [float(row[key]) for row in rows], marker=marker,
                  linewidth=0.9, markersize=4, label=label)
    finish(figure, axes, folder, name, title, across)


def draw_buffers(folder, rows):
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    plain = [row for row in rows if row["relays"] == "plain"]
    ours = next(row for row in rows if row["relays"] == "ours")
    hops = [column for column in rows[0] if column.startswith("hop")]
    for index, column in enumerate(hops):
        colour = f"C{index}"
        axes.plot([int(row["buffer_bytes"]) / 1024 for row in plain], [float(row[column]) for row in plain],
                  marker="o", markersize=3, linewidth=0.9, color=colour, label=f"plain TCP, behind hop {index + 1}")
        axes.plot(int(ours["buffer_bytes"]) / 1024, float(ours[column]), MARKERS[-1], markersize=9, color=colour,
                  label=f"bulk channel, behind hop {index + 1}")
    axes.set_xscale("log", base=2)
    finish(figure, axes, folder, "fig17", "A lossy chain, and what its relays keep (Fig. 17)", "KiB at each relay")


def draw(folder, _):
    names = [each["experiment"] for each in json.loads((folder / "bulk.json").read_text())["experiments"]
             if not each["error"]]
    for titles, draw_one in ((TREES, draw_tree), (COURSES, draw_course)):
        for name, title in titles.items():
            if name in names:
                draw_one(folder, name, title, read(folder, name))
    if "fig6" in names:
        rows = read(folder, "fig6")
        figure, axes = plot.subplots(figsize=SIZE_INCHES)
        draw_bars(axes, [row["way"] for row in rows],
                  [("by the formula", [float(row["formula_mbps"]) for row in rows]),
                   ("measured", [float(row["measured_mbps"]) for row in rows])])
        finish(figure, axes, folder, "fig6", "A detour (Fig. 6)", "")
    if "fig15" in names:
        draw_lines(folder, "fig15", "A chain beside ten TCP streams on each hop (Fig. 15)", "hops", "hops",
                   read(folder, "fig15"),
                   (("bulk channel", "ours_mbps"), ("plain TCP chain", "plain_mbps"), ("ROMA", "paper_mbps")))
    if "fig17" in names:
        draw_buffers(folder, read(folder, "fig17"))
    if "fig18" in names:
        draw_lines(folder, "fig18", "A lossy chain of 16 hops (Fig. 18)", "hops", "hops", read(folder, "fig18"),
                   (("bulk channel", "ours_mbps"), ("plain TCP chain", "plain_mbps")))
