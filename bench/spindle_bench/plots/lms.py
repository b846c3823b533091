"""Draws what `tools/bench scenarios lms` has measured, beside the results in a folder: what the paper on Light-Weight
Multicast Services plots in its Figures 11 to 13."""

import csv
import json

from .canvas import plot, save

MODES = {"paper": "LMS as in the paper", "members": "relays that know losses", "all": "all daemons keep packets"}
LOSSES = {
    "random": (("source", "receivers", "links"), "topology"),
    "binary": (("source", "receivers", "links"), "height"),
    "transit": (("all links", "transit-transit", "transit-stub", "stub-stub"), "topology"),
}
RECEIVERS = (5, 20, 100)


def read(folder, name):
    with open(folder / f"lms-{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def series(rows, column, **wanted):
    """Places and values of the rows with these values."""
    own = [row for row in rows if all(row[key] == str(value) for key, value in wanted.items())]
    return [int(row["x"]) for row in own], [float(row[column]) for row in own]


def label_axes(axes, title, across, along):
    axes.set_title(title, fontsize="small")
    axes.set_xlabel(across, fontsize="small")
    axes.set_ylabel(along, fontsize="small")
    axes.set_ylim(bottom=0)
    axes.tick_params(labelsize="small")
    axes.grid(alpha=0.3)


def draw_losses(folder, name, title):
    """Recovery with its bounds above, exposure below; a column for each place of the loss."""
    rows = read(folder, name)
    losses, across = LOSSES[name]
    figure, grid = plot.subplots(2, len(losses), figsize=(3 * len(losses), 5.4), sharey="row")
    for column, loss in enumerate(losses):
        for index, (mode, label) in enumerate(MODES.items()):
            colour = f"C{index}"
            places, mean = series(rows, "mean", mode=mode, loss=loss)
            grid[0][column].plot(places, mean, color=colour, marker="o", markersize=3, linewidth=1, label=label)
            for bound in ("min", "max"):
                grid[0][column].plot(*series(rows, bound, mode=mode, loss=loss), color=colour, linewidth=0.6,
                                     linestyle=":")
            places, exposure = series(rows, "exposure", mode=mode, loss=loss)
            grid[1][column].plot(places, [100 * each for each in exposure], color=colour, marker="o", markersize=3,
                                 linewidth=1, label=label)
        label_axes(grid[0][column], f"loss at {loss}", across, "" if column else "recovery / round trip")
        label_axes(grid[1][column], "", across, "" if column else "exposure, %")
    grid[0][0].legend(fontsize="x-small")
    figure.suptitle(title, fontsize="medium")
    save(figure, folder / f"lms-{name}")


def draw_sparse(folder, title):
    rows = read(folder, "sparse")
    figure, axes = plot.subplots(figsize=(7, 4.2))
    for index, (mode, label) in enumerate(MODES.items()):
        for receivers, style in zip(RECEIVERS, (":", "--", "-")):
            axes.plot(*series(rows, "mean", mode=mode, receivers=receivers), style, color=f"C{index}", linewidth=1,
                      label=f"{label}, {receivers} receivers")
    label_axes(axes, title, "topology", "recovery / round trip")
    axes.legend(fontsize="x-small", ncol=3)
    save(figure, folder / "lms-sparse")


def draw(folder, _):
    titles = {each["experiment"]: each["title"] for each in json.loads((folder / "lms.json").read_text())["experiments"]}
    for name in LOSSES:
        if name in titles:
            draw_losses(folder, name, titles[name])
    if "sparse" in titles:
        draw_sparse(folder, titles["sparse"])
