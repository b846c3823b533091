"""What draws results, in a process of its own: Debian's matplotlib is for Debian's Python, which need be neither the
one that measures nor the first in the path."""

import json
import os
import pathlib
import subprocess
import sys

from ..console import say

PACKAGES = pathlib.Path(__file__).resolve().parents[2]


def draw(kind, target, report=None):
    """`kind` is a module of this package, see __main__.py, and `target` what it wants; `report` what it reads. Without
    matplotlib it says so, and returns false."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import matplotlib"], capture_output=True, check=False).returncode == 0:
            subprocess.run([python, "-m", "spindle_bench.plots", kind, str(target)], env=environment, check=True,
                           input=json.dumps(report), text=True)
            return True
    say("no plots, as there is no matplotlib: tools/bootstrap --plots installs it")
    return False
