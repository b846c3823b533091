"""A stream of a fixed rate to some receivers, over a way that loses frames: how much of it comes, and when."""

import contextlib
import dataclasses
import json
import shutil
import statistics
import time

from ..cluster.measurement import merge, percentile
from ..cluster.systems import Absent
from ..console import say
from ..figures import Figure
from ..marks import at_least, at_most
from ..processes import (MeasurementFailed, end_all, end_input, read_line, show_logs, start, tell, wait_until_ready,
                         wake_on_time)
from .hosts import DistantHosts
from .systems.aeron import Aeron
from .systems.norm import Norm, NormControlled
from .systems.openpgm import OpenPgm
from .systems.spindle import Spindle, WithFloor
from .systems.srt import Srt, SrtAtOnce
from .systems.udp import Udp

OURS = Spindle.name
# Most peers have no congestion control and are given a rate: so is this one.
OURS_AT_A_RATE = WithFloor.name
# What nothing repairs is no peer.
BASELINE = Udp.name
PEERS = {system.name: system for system in (Norm, NormControlled, OpenPgm, Srt, SrtAtOnce, Aeron)}
# Of these the one that leaves others on the way their share, as ours does.
CONTROLLED = NormControlled.name
SYSTEMS = {system.name: system for system in (Spindle, WithFloor, Udp)}

DELAY_MS = 10
READY_SECONDS = 30
ANSWER_SECONDS = 30
END_SECONDS = 5
# Until all is ready, and each program has read its line.
START_SECONDS = 0.3
# What is repaired later than this is of no use to anybody.
DRAIN_SECONDS = 2
# By which ours may be worse and still count as no worse, in % of all messages, and times: two runs of the same differ by
# that.
DELIVERED_SLACK = 0.1
P99_SLACK = 1.05


@dataclasses.dataclass
class Stream:
    rate: float           # messages a second
    bytes: int
    seconds: float
    # The congestion control of some begins slowly.
    warmup: float = 5
    # Seconds that a message waits for room at its source.
    patience: float = 0.1

    def options(self, receivers):
        return ["--rate", self.rate, "--bytes", self.bytes, "--seconds", self.seconds, "--warmup", self.warmup,
                "--patience", self.patience, "--receivers", len(receivers)]


@dataclasses.dataclass
class Outcome:
    delivered: float      # %, at the receiver that has the least
    duplicates: int       # of all receivers
    p50_ms: float         # of what all receivers have got
    p99_ms: float
    max_ms: float
    dropped: int          # for which there was no room
    lag_max_ms: float     # of the program that sends


def outcome_of(stream, sent, results):
    """`sent`, `results`: what the sender and the receivers have said."""
    count = int(stream.rate * stream.seconds)
    latency = merge(result["latency_ns"] for result in results)
    at = lambda share: percentile(latency, share) / 1e6
    return Outcome(100 * min(result["received"] for result in results) / count,
                   sum(result["duplicates"] for result in results), at(0.5), at(0.99),
                   max(result["max_ns"] for result in results) / 1e6, sent["dropped"], sent["lag_max_ns"] / 1e6)


def run(system, hosts, receivers, stream, loss):
    """The outcome with one system, alone on the hosts, whose links lose `loss` % once all are ready."""
    shutil.rmtree(system.folder, ignore_errors=True)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, system.folder, ignore_errors=True)
        stack.callback(hosts.lose, 0)
        stack.callback(system.stop)
        try:
            system.start(hosts, receivers)
            system.folder.mkdir(exist_ok=True)
            programs = []
            stack.callback(end_all, programs)
            return measure(system, hosts, receivers, stream, loss, programs)
        except MeasurementFailed:
            show_logs(system.folder)
            raise


def measure(system, hosts, receivers, stream, loss, programs):
    def begin(host, command):
        with open(system.folder / f"program-{host}.log", "wb") as log:
            programs.append(start([*hosts.inside(host), *command, *stream.options(receivers)], stderr=log,
                                  preexec_fn=wake_on_time))
        return programs[-1]

    sinks = [begin(host, system.receiver(hosts, host)) for host in receivers]
    for sink in sinks:
        wait_until_ready(sink, READY_SECONDS, f"a receiver of {system.name}")
    source = begin(0, [*system.sender(hosts, receivers), "--send"])
    wait_until_ready(source, READY_SECONDS, f"the sender of {system.name}")
    hosts.lose(loss)
    tell(source, f"go {time.monotonic_ns() + int(START_SECONDS * 1e9)}")
    sent = json.loads(read_line(source, stream.warmup + stream.seconds + ANSWER_SECONDS))
    time.sleep(DRAIN_SECONDS)
    for sink in sinks:
        tell(sink, "end")
    results = [json.loads(read_line(sink, ANSWER_SECONDS)) for sink in sinks]
    for program in [source, *sinks]:
        end_input(program, END_SECONDS)
    return outcome_of(stream, sent, results)


def available(setting, names):
    """Systems by name, and why each of the others cannot be had here."""
    systems, absent = {}, {}
    for name in names:
        try:
            systems[name] = {**SYSTEMS, **PEERS}[name](setting.build, setting.folder / name)
            setting.versions[name] = systems[name].version
        except Absent as why:
            absent[name] = str(why)
    return systems, absent


def tried(system, hosts, receivers, stream, loss):
    """Nothing where it failed, which is said."""
    try:
        return run(system, hosts, receivers, stream, loss)
    except MeasurementFailed as why:
        say(f"feeds: {system.name}: {why}")
        return None


def median(outcomes):
    """Field by field; nothing where one of them is nothing."""
    if any(outcome is None for outcome in outcomes):
        return None
    return Outcome(*(statistics.median(getattr(outcome, field.name) for outcome in outcomes)
                     for field in dataclasses.fields(Outcome)))


def cell_figures(row, where, outcomes):
    """`outcomes`: by system, medians; nothing where it failed. Each of ours is held to the best of the peers in each."""
    peers = {name: outcome for name, outcome in outcomes.items() if outcome and name in PEERS}
    best = max((outcome.delivered for outcome in peers.values()), default=None)
    # Who has hardly anything to deliver has it soon.
    quickest = min((outcome.p99_ms for outcome in peers.values() if outcome.delivered >= best - 1), default=None)
    beside = {name: outcome for name, outcome in outcomes.items() if outcome and name not in (OURS, OURS_AT_A_RATE)}
    notes = lambda text: "; ".join(f"{name} {text(outcome)}" for name, outcome in beside.items())
    figures = []
    for name, how in ((OURS, ""), (OURS_AT_A_RATE, ", floor of 2.5 MB/s")):
        if name not in outcomes:
            continue
        ours = outcomes[name]
        figures += [
            Figure(row, f"{where}{how}: delivered, %", ours and ours.delivered, "{:.2f}",
                   best and at_least(best - DELIVERED_SLACK, "{:.2f}"), notes(lambda each: f"{each.delivered:.2f}")),
            Figure(row, f"{where}{how}: p99, ms", ours and ours.p99_ms, "{:.1f}",
                   quickest and at_most(quickest * P99_SLACK, "{:.1f}"),
                   notes(lambda each: f"{each.p99_ms:.1f}")),
        ]
    ours, controlled = outcomes.get(OURS), peers.get(CONTROLLED)
    if controlled and controlled.delivered > 0:
        figures.append(Figure(row, f"{where}: delivered, by that of {CONTROLLED}",
                              ours and ours.delivered / controlled.delivered, "{:.2f}",
                              at_least(1 - DELIVERED_SLACK / 100, "{:.3f}")))
    return figures


def absent_figures(row, absent):
    return [Figure(row, f"beside {name}", None, must=at_least(1), note=why) for name, why in absent.items()]


def streams(row, rate, size):
    """A row with a stream of `rate` messages a second of `size` bytes."""
    def measured(setting):
        stream = Stream(rate, size, setting.seconds)
        systems, absent = available(setting, [*SYSTEMS, *(PEERS if setting.peers else ())])
        figures = absent_figures(row, absent)
        for count in setting.receivers:
            receivers = list(range(1, count + 1))
            with DistantHosts(count + 1, DELAY_MS, setting.delay_line()) as hosts:
                for loss in setting.losses:
                    figures += cell(row, setting, systems, hosts, receivers, stream, loss)
        return figures
    return measured


def cell(row, setting, systems, hosts, receivers, stream, loss):
    where = f"{len(receivers)} receiver{'s' if len(receivers) > 1 else ''}, {loss:g} % loss"
    outcomes = {name: [] for name in systems}
    for index in range(setting.rounds):
        say(f"feeds: {row}: {where}: round {index + 1} of {setting.rounds}")
        for name, system in systems.items():
            outcome = tried(system, hosts, receivers, stream, loss)
            outcomes[name].append(outcome)
            setting.rounds_measured.append({"row": row, "receivers": len(receivers), "loss": loss, "system": name,
                                            **(dataclasses.asdict(outcome) if outcome else {})})
            say(f"  {name}: {outcome}")
    return cell_figures(row, where, {name: median(each) for name, each in outcomes.items()})
