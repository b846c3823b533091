"""Draws what `tools/bench scale` has measured, beside the results in a folder."""

import json

from .canvas import plot, save

SIZE_INCHES = (9, 6)
NAMES = {
    "daemons": "daemons",
    "groups": "groups",
    "members": "members of a group",
    "clients": "idle clients at each daemon",
}


def draw_dimension(folder, dimension, results):
    values = [result["value"] for result in results]
    medians = [result["median"] for result in results]
    figure, panels = plot.subplots(2, 2, sharex=True, figsize=SIZE_INCHES)
    curves = (
        (panels[0][0], "messages/s to each receiver", [("", [each["messages_per_second"] for each in medians])]),
        (panels[0][1], "latency, us", [(name, [each[f"{name}_us"] for each in medians]) for name in ("p50", "p99")]),
        (panels[1][0], "MB resident, largest daemon", [("", [max(each["loaded_bytes"]) / 1e6 for each in results])]),
        (panels[1][1], "ms to the view", [(name, [each[f"{name}_ms"] for each in medians])
                                          for name in ("kill", "rejoin")]),
    )
    for axes, label, lines in curves:
        for name, heights in lines:
            axes.plot(values, heights, marker="o", linewidth=0.8, label=name)
        axes.set_xscale("log")
        axes.set_xticks(values, [f"{value:,}" for value in values])
        axes.minorticks_off()
        axes.set_ylabel(label)
        axes.set_ylim(0, axes.dataLim.y1 * 1.1)
        axes.grid(alpha=0.3)
        if len(lines) > 1:
            axes.legend(fontsize="small")
    for axes in panels[1]:
        axes.set_xlabel(NAMES[dimension])
    save(figure, folder / dimension)


def draw_memory(folder, samples):
    figure, axes = plot.subplots(figsize=SIZE_INCHES)
    for daemon in range(len(samples[0]) - 1):
        axes.plot([sample[0] for sample in samples], [sample[1 + daemon] / 1e6 for sample in samples], linewidth=0.8,
                  label=f"d{daemon}")
    axes.set_xlabel("seconds")
    axes.set_ylabel("MB resident under full load")
    axes.set_ylim(0, axes.dataLim.y1 * 1.1)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(figure, folder / "memory")


def draw(folder, _):
    results, marks = folder / "results.json", folder / "marks.json"
    if results.exists():
        every = json.loads(results.read_text())["results"]
        for dimension in NAMES:
            some = [result for result in every if result["dimension"] == dimension]
            if some:
                draw_dimension(folder, dimension, some)
    if marks.exists():
        draw_memory(folder, json.loads(marks.read_text())["memory"])
