"""One point: a cluster of some size, and what it does."""

import argparse
import contextlib
import math
import statistics

from ..cluster.measurement import measure_undisturbed
from ..processes import MeasurementFailed, show_logs
from .memory import settled_bytes
from .system import ScaleSystem, Watchers

DIMENSIONS = ("daemons", "groups", "members", "clients")
SIZE = 100  # bytes of a message
WARM_SECONDS = 1
# A message to a large group is many deliveries. So many a second leave the machine with time to spare, for latency;
WATCHED_DELIVERIES = 200_000
# and so many at most are under way, for throughput: they have to drain when the load ends.
WINDOW_DELIVERIES = 300_000


def points(arguments):
    """By dimension; each has the base's other three."""
    base = {"daemons": arguments.base_daemons, "groups": 1, "members": 0, "clients": 0}
    for dimension in arguments.only:
        for value in getattr(arguments, dimension):
            yield {**base, "dimension": dimension, "value": value, dimension: value}


def load_options(arguments, daemons, members=0, seconds=None):
    """What measure() wants to know; a group of `members` idle ones gets all messages besides."""
    receivers = max(1, members)
    window = max(8, min(1000, arguments.window_bytes // SIZE, WINDOW_DELIVERIES // receivers))
    rate = max(10, min(arguments.rate, WATCHED_DELIVERIES / receivers))
    return argparse.Namespace(daemons=daemons, warmup=arguments.warmup, seconds=seconds or arguments.seconds,
                              window=window, window_bytes=0, rate=rate)


def measure_load(system, kind, options):
    return measure_undisturbed(system, {"measure": kind, "service": "agreed", "size": SIZE}, options)


@contextlib.contextmanager
def cluster(arguments, folder, daemons):
    """Daemons in one view, with a watcher at each."""
    system = ScaleSystem(arguments.build, folder, daemons, arguments.topology)
    watchers = None
    try:
        system.start()
        watchers = Watchers(system)
        watchers.expect(daemons)
        watchers.seen()
        yield system, watchers
    except (MeasurementFailed, OSError):
        show_logs(folder)
        raise
    finally:
        if watchers:
            watchers.close()
        system.stop()


def run_point(arguments, folder, point):
    with cluster(arguments, folder, point["daemons"]) as (system, watchers):
        empty = warm_bytes(arguments, system)
        populate(system, point)
        full = settled_bytes(system.daemon_pids())
        options = load_options(arguments, system.count, point["members"])
        rounds = []
        for _ in range(arguments.rounds):
            throughput = measure_load(system, "throughput", options)
            latency = measure_load(system, "latency", options)
            rounds.append({
                "messages_per_second": throughput["messages_per_second"],
                "daemon_seconds_per_million": throughput["daemon_seconds_per_million"],
                "p50_us": latency["p50_us"], "p99_us": latency["p99_us"], "latency_rate": options.rate,
                "other_processors_busy": max(throughput["other_processors_busy"], latency["other_processors_busy"]),
            })
        loaded = settled_bytes(system.daemon_pids(), attempts=1)
        views = [change_view(system, watchers) for _ in range(arguments.view_rounds)]
    return {
        "rounds": rounds, "views": views,
        "median": {key: statistics.median(values[key] for values in rows) for rows in (rounds, views)
                   for key in rows[0]},
        "empty_bytes": empty, "populated_bytes": full, "loaded_bytes": loaded,
    }


def warm_bytes(arguments, system):
    """Memory by daemon after a first load: it fills pools, which are no part of what one more group or client takes."""
    measure_load(system, "throughput", load_options(arguments, system.count, seconds=WARM_SECONDS))
    return settled_bytes(system.daemon_pids())


def populate(system, point):
    if point["clients"] > 0:
        system.gather_everywhere(point["clients"] * system.count)
    if point["groups"] > 1:  # the load's own is the first
        system.gather(0, 1, point["groups"] - 1, "group")
        system.wait()
    if point["members"] > 0:
        system.gather_everywhere(point["members"], 1, "crowd")
        system.load_options = ["--also", "crowd0"]


def change_view(system, watchers):
    """Kills the last daemon, and starts it again: ms until all clients that are left, or all, have the view."""
    watchers.expect(system.count - 1)
    killed = system.kill_last()
    lost = watchers.seen() - killed
    watchers.expect(system.count)
    started = system.start_last()
    return {"kill_ms": 1e3 * lost, "rejoin_ms": 1e3 * (watchers.seen() - started)}


def added_bytes(result, count):
    """What each of `count` things that the point added takes, at the daemon where it takes most and where least."""
    added = [full - empty for full, empty in zip(result["populated_bytes"], result["empty_bytes"])]
    return (max(added) / count, min(added) / count) if count else (math.nan, math.nan)
