"""Draws what `tools/bench scenarios mesh` has measured, beside the results in a folder: what the paper on Bullet plots in
its Figures 6 to 14."""

import csv
import json

from .canvas import plot, save

SIZE_INCHES = (7, 4.2)


def read(folder, name):
    """Rows by their series, in the order in which these come."""
    found = {}
    with open(folder / f"mesh-{name}.csv", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["series"], []).append(row)
    return found


def numbers(rows, column):
    return [float(row[column]) for row in rows]


def finish(figure, axes, path, title, across="seconds", up="kb/s of a receiver"):
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    # Above the lines there is room for their names.
    axes.set_ylim(0, axes.dataLim.y1 * 1.35)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="x-small", ncol=3, loc="upper center")
    save(figure, path)


def draw_courses(folder, name, title, series):
    """Useful rates over time."""
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    for label, rows in series.items():
        axes.plot(numbers(rows, "second"), numbers(rows, "useful"), linewidth=0.9, label=label)
    finish(figure, axes, folder / f"mesh-{name}", title)


def draw_parts(folder, name, title, rows):
    """What arrives, what of it is of use, with its deviation, and what comes from parents."""
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    seconds, useful, deviation = (numbers(rows, column) for column in ("second", "useful", "deviation"))
    axes.fill_between(seconds, [mean - each for mean, each in zip(useful, deviation)],
                      [mean + each for mean, each in zip(useful, deviation)], alpha=0.15, linewidth=0,
                      label="standard deviation of receivers")
    axes.plot(seconds, numbers(rows, "raw"), linewidth=0.9, label="all")
    axes.plot(seconds, useful, linewidth=0.9, label="useful")
    axes.plot(seconds, numbers(rows, "from_parents"), linewidth=0.9, label="from parents")
    finish(figure, axes, folder / f"mesh-{name}", title)


def draw_shares(folder, title, rows):
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    axes.step(numbers(rows, "useful"), numbers(rows, "second"), where="post", linewidth=0.9, label="mesh")
    finish(figure, axes, folder / "mesh-fig8", title, "kb/s in one second", "part of receivers")


def draw_medium(folder, series):
    shares = series.pop("cdf")
    draw_courses(folder, "fig6", "Trees and the mesh, medium bandwidths (Fig. 6, 7)", series)
    draw_parts(folder, "fig7", "The mesh over a random tree, medium bandwidths (Fig. 7)", series["mesh"])
    draw_shares(folder, "What receivers have in one second (Fig. 8)", shares)
    draw_parts(folder, "fig10", "Without disjoint send (Fig. 10)", series["mesh, not disjoint"])


def draw_failure(folder, series):
    draw_parts(folder, "fig13", "A child of the root fails, and RanSub stops (Fig. 13)", series["RanSub stops"])
    draw_parts(folder, "fig14", "A child of the root fails, and RanSub goes on (Fig. 14)", series["RanSub goes on"])


def draw(folder, _):
    for each in json.loads((folder / "mesh.json").read_text())["experiments"]:
        name, title = each["experiment"], each["title"]
        series = read(folder, name)
        if name == "medium":
            draw_medium(folder, series)
        elif name == "failure":
            draw_failure(folder, series)
        else:
            draw_courses(folder, name, title, series)
