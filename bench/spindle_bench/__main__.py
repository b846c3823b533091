"""python3 -m spindle_bench NAME [option...]: what `tools/bench NAME` does once the programs are built."""

import importlib
import sys

COMMANDS = {
    "cluster": "cluster.command",
    "handshakes": "handshakes",
    "flush": "flush",
    "requests": "requests",
    "scale": "scale.command",
    "bindings": "bindings",
    "field": "field.command",
    "scenarios": "sim.command",
    "grid": "sim.command",
    "changes": "sim.command",
    "bulk-scenarios": "sim.command",
    "feed-scenarios": "sim.command",
    "lms-scenarios": "sim.command",
    "mesh-scenarios": "sim.command",
    "loop": "sim.loop_model",
    "codes": "codes",
    "bulk": "bulk.command",
    "feeds": "feeds.command",
    "check": "counts.command",
    "plots": "plots.command",
}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python3 -m spindle_bench {{{','.join(COMMANDS)}}} [option...]")
    name = sys.argv.pop(1)
    return importlib.import_module(f"spindle_bench.{COMMANDS[name]}").main(name)


if __name__ == "__main__":
    sys.exit(main())
