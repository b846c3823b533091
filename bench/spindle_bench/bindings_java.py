"""The Java client beside JGroups and jnats: three members of a group, each at a host of its own, one of three daemons.

Load, checks and figures are those of the cluster (cluster/measurement.py), whose members in Java all have one load and one
machine (cluster/systems/java.py). All systems are measured in turns, round by round; what counts are the medians of all
rounds. Messages of NATS have an order for each sender, and stand beside agreed ones as well as fifo.
"""

import argparse
import contextlib
import dataclasses
import pathlib
import statistics

from .cluster.hosts import Hosts
from .cluster.measurement import measure_undisturbed
from .cluster.peers import SocketBuffers
from .cluster.systems import BENCH, Absent
from .cluster.systems.java import MACHINE, WARMUP_SECONDS, compile_member, java
from .cluster.systems.jgroups import JGroups
from .cluster.systems.jnats import Jnats
from .cluster.systems.spindle import Spindle
from .console import say
from .marks import at_least, at_most, below
from .processes import MeasurementFailed

MEMBERS = 3
RATE = 900  # a second, of all members together
WINDOW_BYTES = 256 << 10
#: At so low a rate it takes as long until what each message runs through has been called 5,000 times, and is compiled.
LATENCY_WARMUP_SECONDS = 10
MEASURES = ("agreed", "fifo", "latency")
NAMES = {"java": "Spindle, Java", "cpp": "Spindle, C++", "jgroups": "JGroups", "jnats": "jnats"}
#: Messages a second of the Java client, and what it has to be beside a peer, by service and size.
RATES = {("agreed", 100): 1_500_000, ("agreed", 1000): 350_000}
RATIOS = {("agreed", 100): {"jgroups": 6, "jnats": 3}, ("agreed", 1000): {"jgroups": 4, "jnats": 2},
          ("fifo", 100): {"jgroups": 2}}
ABOVE_CPP = at_most(40)  # us, at p50
#: A message and its payload: an object of 48 bytes, and an array with a header of 16, in steps of 8. What else is made is for
#: many messages at once, and less than a third object for each, which has 16 bytes at least, would come to.
ALLOCATED = {100: below(48 + 120 + 24), 1000: below(48 + 1016 + 24)}


@dataclasses.dataclass(frozen=True)
class Kind:
    """What is measured at once."""

    measure: str
    service: str
    size: int

    def systems(self):
        """Those that it is measured with."""
        if self.measure == "latency":
            return ("java", "cpp", "jgroups", "jnats")
        return ("java", "jgroups") if self.service == "fifo" else ("java", "cpp", "jgroups", "jnats")


def kinds(measures, sizes):
    if "agreed" in measures:
        for size in sizes:
            yield Kind("throughput", "agreed", size)
    if "fifo" in measures:
        yield Kind("throughput", "fifo", 100)
    if "latency" in measures:
        yield Kind("latency", "agreed", 100)


class JavaMembers:
    """Members by the Java client, at daemons that others have, too."""

    name = "java"
    warmup_seconds = WARMUP_SECONDS

    def __init__(self, build, spindle):
        self.spindle = spindle
        self.java = java()
        jar = build / "java" / "spindle.jar"
        folder = build / "bench" / "bindings_java"
        source = BENCH / "hosts" / "bindings" / "SpindleMember.java"
        compile_member(source, jar, folder, "the member in Java", "--module-path", jar, "--add-modules", "io.spindle")
        self.run = [self.java, *MACHINE, "--module-path", str(jar), "--add-modules", "io.spindle", "-cp", str(folder),
                    "SpindleMember"]

    def daemon_pids(self):
        return self.spindle.daemon_pids()

    def client_command(self, host):
        return self.spindle.hosts.inside(host) + [*self.run, "--address", self.spindle.client_address(host)]


def make_systems(arguments, folder, stack):
    """By name, started."""
    stack.enter_context(SocketBuffers())
    hosts = stack.enter_context(Hosts(MEMBERS))
    build = pathlib.Path(arguments.build).resolve()
    spindle = Spindle(arguments.build, folder / "spindle", hosts, MEMBERS, "mesh")
    systems = {"java": JavaMembers(build, spindle), "cpp": spindle}
    spindle.start()
    stack.callback(spindle.stop)
    for name, peer in (("jgroups", JGroups), ("jnats", Jnats)):
        try:
            systems[name] = peer(build, folder / name, hosts, MEMBERS)
            systems[name].start()
            stack.callback(systems[name].stop)
        except Absent as error:
            say(f"without {NAMES[name]}: {error}")
    return systems


def measure(arguments, folder):
    """Rows of what, figure, what it is judged by or None, mark or None."""
    wanted = list(kinds(arguments.measures, arguments.sizes))
    found = {}
    with contextlib.ExitStack() as stack:
        systems = make_systems(arguments, folder, stack)
        options = argparse.Namespace(daemons=MEMBERS, rate=RATE, window=0, window_bytes=WINDOW_BYTES, warmup=1,
                                     seconds=arguments.seconds)
        for index in range(arguments.rounds):
            for kind in wanted:
                for name in (each for each in kind.systems() if each in systems):
                    say(f"Java: round {index + 1} of {arguments.rounds}: {kind.measure}, {kind.service}, {kind.size} bytes: "
                        f"{NAMES[name]}")
                    measure_once(systems[name], name, kind, options, found)
    medians = {key: {figure: statistics.median(each[figure] for each in rounds) for figure in rounds[0]}
               for key, rounds in found.items()}
    for kind in wanted:
        if ("java", kind) not in medians:
            raise MeasurementFailed("there is no figure of Spindle")
        yield from rows_of(kind, medians)


def measure_once(system, name, kind, options, found):
    """One that fails, as where JGroups has no memory left, does not count."""
    service = "fifo" if name == "jnats" else kind.service
    if kind.measure == "latency":
        options = argparse.Namespace(**{**vars(options), "warmup": LATENCY_WARMUP_SECONDS})
    configuration = {"measure": kind.measure, "service": service, "size": kind.size}
    try:
        found.setdefault((name, kind), []).append(measure_undisturbed(system, configuration, options))
    except MeasurementFailed as error:
        say(f"{NAMES[name]}: not counted: {error}")
        if not found[name, kind]:
            del found[name, kind]


def rows_of(kind, medians):
    """What is absent does not count as beaten."""
    figures = {name: medians[name, kind] for name in kind.systems() if (name, kind) in medians}
    label = f"{kind.service}, {kind.size} bytes"
    for name in kind.systems():
        if name not in figures:
            yield f"{NAMES[name]} was measured, {label}", 0.0, 0.0, at_least(1)
    yield from (latency_rows if kind.measure == "latency" else throughput_rows)(kind, label, figures)


def throughput_rows(kind, label, figures):
    for name, figure in figures.items():
        rate = figure["messages_per_second"]
        mark = RATES.get((kind.service, kind.size)) if name == "java" else None
        yield f"{NAMES[name]}: messages a second to each member, {label}", rate, rate, mark and at_least(mark)
        yield (f"{NAMES[name]}: processor seconds of members a million, {label}", figure["client_seconds_per_million"],
               None, None)
    for peer, ratio in RATIOS.get((kind.service, kind.size), {}).items():
        if peer in figures:
            quotient = figures["java"]["messages_per_second"] / figures[peer]["messages_per_second"]
            yield f"{NAMES['java']} / {NAMES[peer]}, {label}", quotient, quotient, at_least(ratio)
    made = figures["java"]["allocated_per_message"]
    yield f"{NAMES['java']}: bytes of objects a message, {label}", made, made, ALLOCATED.get(kind.size)


def latency_rows(_, label, figures):
    for name, figure in figures.items():
        yield f"{NAMES[name]}: p50 at {RATE} a second, us, {label}", figure["p50_us"], None, None
        yield f"{NAMES[name]}: p99 at {RATE} a second, us, {label}", figure["p99_us"], None, None
    mine = figures["java"]["p50_us"]
    for peer in ("jgroups", "jnats"):
        if peer in figures:
            quotient = mine / figures[peer]["p50_us"]
            yield f"{NAMES['java']} / {NAMES[peer]}, p50", quotient, quotient, below(1)
    if "cpp" in figures:
        more = mine - figures["cpp"]["p50_us"]
        yield f"{NAMES['java']} - {NAMES['cpp']}, p50, us", more, more, ABOVE_CPP
