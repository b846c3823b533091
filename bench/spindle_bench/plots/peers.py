"""Draws what `tools/bench cluster --peers` has measured."""

from .canvas import plot, save

# Measure, title, figure, its name, what is on the other axis, its name.
PANELS = (
    ("throughput", "Throughput: three senders, each receives all", "megabytes_per_second", "MB/s", "size", "bytes"),
    ("latency", "Latency at a low rate, median", "p50_us", "us", "size", "bytes"),
    ("fanout", "Fan-out: one sender, one daemon", "messages_per_second", "messages/s", "receivers", "receivers"),
    ("half", "Latency at p99, at half of somebody's peak", "p99_us", "us", "rate", "messages/s"),
)
SIZE_INCHES = (12, 9)


def draw_panel(axes, results, figure, across, colours, markers):
    """One line for each system, service, and where that is not the other axis, size: its colour is that of the system
    and service, its marker that of the size."""
    series = {}
    for result in results:
        size = 0 if across == "size" else result["size"]
        points = series.setdefault((f"{result['system']} {result['service']}", size), [])
        points.append((result[across], result["median"][figure]))
    for (name, size), points in sorted(series.items()):
        line = "-" if name.startswith("spindle") else "--"
        label = f"{name}, {size:,} B" if size else name
        axes.plot(*zip(*sorted(points)), line, color=colours[name], marker=markers.get(size, "o"), markersize=5,
                  linewidth=1, label=label)


def styles(results):
    """A colour for each system and service, and a marker for each size."""
    names = sorted({f"{result['system']} {result['service']}" for result in results})
    sizes = sorted({result["size"] for result in results})
    return ({name: f"C{index}" for index, name in enumerate(names)}, dict(zip(sizes, "osD^v*")))


def draw(path, report):
    results = report["results"]
    measured = [panel for panel in PANELS if any(result["measure"] == panel[0] for result in results)]
    rows = (len(measured) + 1) // 2
    picture, panels = plot.subplots(rows, min(2, len(measured)), figsize=SIZE_INCHES, squeeze=False)
    for axes in panels.flat[len(measured):]:
        axes.set_axis_off()
    colours, markers = styles(results)
    for axes, (measure, title, figure, unit, across, across_unit) in zip(panels.flat, measured):
        draw_panel(axes, [result for result in results if result["measure"] == measure], figure, across, colours, markers)
        axes.set(title=title, xlabel=across_unit, ylabel=unit, xscale="log", yscale="log")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="xx-small", loc="upper left" if measure == "half" else "best")
    save(picture, path)
