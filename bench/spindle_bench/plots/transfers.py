"""Draws what comes to receivers in the course of transfers that `tools/bench bulk` has measured."""

import statistics

from .canvas import plot, save

PANEL_INCHES = (6, 3)


def panels_of(courses):
    """The last round of each, by what it is of and by series."""
    panels = {}
    for course in courses:
        panels.setdefault(course["what"], {})[course["series"]] = course["rates"]
    return panels


def draw(path, courses):
    panels = panels_of(courses)
    if not panels:
        return
    size = (PANEL_INCHES[0], PANEL_INCHES[1] * len(panels))
    picture, places = plot.subplots(len(panels), 1, figsize=size, squeeze=False)
    for axes, (what, series) in zip(places.flat, panels.items()):
        for label, rates in series.items():
            seconds = [at for at, _ in rates]
            line, = axes.plot(seconds, [statistics.mean(each) for _, each in rates], linewidth=1, label=label)
            axes.fill_between(seconds, [min(each) for _, each in rates], [max(each) for _, each in rates], alpha=0.15,
                              linewidth=0, color=line.get_color())
        axes.set_title(what, fontsize="small")
        axes.set_xlabel("seconds", fontsize="small")
        axes.set_ylabel("Mb/s that come to a receiver:\nmean, least and most", fontsize="small")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small")
    save(picture, path)
