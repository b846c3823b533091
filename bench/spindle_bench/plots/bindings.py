"""Draws what `tools/bench bindings --peers` has measured."""

from .canvas import plot, save

COLUMNS = 3
PANEL_INCHES = (4.5, 2.6)


def panels_of(rows):
    """Bars by title: for each figure that several systems have, who has what."""
    panels = {}
    for row in rows:
        system, colon, title = row["what"].partition(": ")
        if colon:
            panels.setdefault(title, []).append((system, row["figure"]))
    return {title: bars for title, bars in panels.items() if len(bars) > 1}


def draw(path, report):
    panels = panels_of(report["rows"])
    if not panels:
        return
    rows = (len(panels) + COLUMNS - 1) // COLUMNS
    size = (PANEL_INCHES[0] * COLUMNS, PANEL_INCHES[1] * rows)
    picture, places = plot.subplots(rows, COLUMNS, figsize=size, squeeze=False)
    for axes in places.flat[len(panels):]:
        axes.set_axis_off()
    for axes, (title, bars) in zip(places.flat, panels.items()):
        names = [name for name, _ in reversed(bars)]
        axes.barh(names, [figure for _, figure in reversed(bars)],
                  color=["C0" if name.startswith("Spindle") else "C1" for name in names])
        axes.set_title(title, fontsize="small")
        axes.tick_params(labelsize="small")
        axes.grid(alpha=0.3, axis="x")
    save(picture, path)
