"""Options and messages of all commands. Standard output is for results alone."""

import argparse
import signal
import sys


def make_parser(name, description, build=True, plots=False):
    """`build` and `plots`: whether with these options; what --plots asks for, tools/bench has done."""
    parser = argparse.ArgumentParser(prog=f"tools/bench {name}", description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if build:
        parser.add_argument("--build", default="build/release", help="tree with the programs (default %(default)s)")
    if plots:
        parser.add_argument("--plots", action="store_true", help="install what draws first, where it is missing")
    return parser


def words(text):
    return text.split(",")


def integers(text):
    return [int(number) for number in text.split(",")]


def decimals(text):
    return [float(number) for number in text.split(",")]


def say(text):
    print(text, file=sys.stderr, flush=True)


def leave_nothing_behind():
    """Whoever is told to end ends its daemons, and removes its hosts and folders."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
