"""Results as a file, and what they depend on besides the code."""

import json
import os
import pathlib
import platform


def machine():
    model = [line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return {
        "processors": len(os.sched_getaffinity(0)),
        "model": model[0] if model else "unknown",
        "kernel": platform.release(),
        "load_average": os.getloadavg()[0],
    }


def describe_machine(host):
    return (f"{host['processors']} processors ({host['model']}), load average {host['load_average']:.1f} at the "
            "start.")


def write_json(path, value):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, default=str) + "\n")
