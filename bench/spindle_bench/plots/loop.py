"""Draws what `tools/bench loop` has computed: arrivals and queueing time of each law, once it has settled."""

from .canvas import plot, save

SIZE_INCHES = (7, 4.2)


def draw(path, report):
    figure, (above, below) = plot.subplots(2, 1, sharex=True, figsize=SIZE_INCHES)
    for name, course in report["courses"].items():
        seconds = [row["second"] for row in course]
        above.plot(seconds, [row["arrivals"] for row in course], linewidth=0.9, label=name)
        below.plot(seconds, [1000 * row["queueing_s"] for row in course], linewidth=0.9, label=name)
    above.set_ylabel("arrivals / rate")
    above.legend(loc="upper right", fontsize="small")
    above.set_title(report["title"], fontsize="medium")
    below.set_ylabel("queueing time, ms")
    below.set_xlabel("s")
    save(figure, path)
