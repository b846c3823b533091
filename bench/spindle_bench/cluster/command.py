"""Throughput and latency of a cluster: daemons and their clients, all on this machine.

Each daemon has one client at its unix socket. All clients send to one group and receive everything that is sent to it.
With --peers each daemon has a host of its own, which is a network namespace, and other group communication systems do
the same work on the same hosts. With --tls all clients come over TCP, those of one cluster, and its links, with TLS,
those of another without; with --resumption over TCP, too, those of one cluster with sessions that can be resumed.
docs/performance.md says what the figures mean.
"""

import contextlib
import os
import pathlib
import tempfile
import time

from .. import plots
from ..console import integers, leave_nothing_behind, make_parser, say, words
from ..processes import MeasurementFailed, show_logs
from ..results import describe_machine, machine, write_json
from . import kinds, switching
from .hosts import Here, Hosts
from .marks import PLAIN, compare, unreached
from .measurement import measure_undisturbed, window_of
from .peers import DOCUMENTED, PEERS, WITH_TLS, SocketBuffers, make_peers
from .report import LEADING, UNITS, add_medians, comparison, peers_table, succeeded, tables
from .systems.spindle import Clients, Spindle


def parse_arguments(name):
    parser = make_parser(name, __doc__, plots=True)
    parser.add_argument("--daemons", type=int, default=3, help="daemons, each with one client (default 3)")
    parser.add_argument("--topology", choices=("mesh", "line"), default="mesh", help="links (default mesh)")
    parser.add_argument("--measures", type=words, help="some of throughput,latency,start,fanout, with --peers half, "
                        "too (default throughput,latency; with --peers throughput,latency,fanout,half)")
    parser.add_argument("--services", type=words, default=["fifo", "agreed"],
                        help="some of reliable,fifo,causal,agreed,safe (default fifo,agreed)")
    parser.add_argument("--sizes", type=integers,
                        help="bytes of a message (default 100,1000,10000; with --peers 100000, too)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (default 5)")
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement (default 3)")
    parser.add_argument("--warmup", type=float, default=1, help="seconds before it (default 1)")
    parser.add_argument("--rate", type=float, default=900, help="latency: messages/s of all together (default 900)")
    parser.add_argument("--receivers", type=integers, default=[1, 10, 100],
                        help="fanout: receivers at one daemon (default 1,10,100)")
    parser.add_argument("--window", type=int, default=0, help="throughput: own messages that a client has under way")
    parser.add_argument("--window-bytes", type=int, default=256 << 10,
                        help="the same in bytes, where --window is not given; at most 1,000 messages (default 256 KiB)")
    parser.add_argument("--admission", type=words, default=["on"], metavar="SETTINGS",
                        help="on, off, or two of these, which are then measured in turn and compared; or switched, "
                        "which compares both within each measurement (default on)")
    parser.add_argument("--tls", action="store_true", help="with certificates, beside a cluster without and in turn "
                        f"with it; with --peers these have certificates, too ({','.join(WITH_TLS)})")
    parser.add_argument("--resumption", action="store_true", help="with sessions that can be resumed, and in turn with "
                        "it without, clients over TCP")
    parser.add_argument("--peers", type=words, nargs="?", const=DOCUMENTED, default=[], metavar="SYSTEMS",
                        help=f"beside other systems, some of {','.join(PEERS)} (where none is named, "
                        f"{','.join(DOCUMENTED)}); takes root")
    parser.add_argument("--check", action="store_true",
                        help="with --peers, --tls or --admission switched: the status is 1 where a ratio falls "
                        "short, or a peer is absent")
    parser.add_argument("--plot", metavar="FILE", help="with --peers: draw what was measured there, as PNG and as SVG "
                        "(takes matplotlib: --plots)")
    parser.add_argument("--json", metavar="FILE", help="write all results there")
    arguments = parser.parse_args()
    if arguments.measures is None:
        arguments.measures = ["throughput", "latency"]
        if arguments.peers and not arguments.tls:
            arguments.measures += ["fanout", "half"]
    if arguments.sizes is None:
        arguments.sizes = [100, 1000, 10000] + ([100000] if arguments.peers and not arguments.tls else [])
    if arguments.tls and arguments.peers == DOCUMENTED:
        arguments.peers = [peer for peer in DOCUMENTED if peer in WITH_TLS]
    check(parser, arguments)
    return arguments


def is_switched(arguments):
    return arguments.admission == ["switched"]


def check(parser, arguments):
    if arguments.daemons < 1 or arguments.rounds < 1 or arguments.seconds <= 0 or arguments.rate < 1:
        parser.error("--daemons, --rounds, --seconds and --rate must be positive")
    if any(measure not in LEADING for measure in arguments.measures):
        parser.error(f"--measures: some of {', '.join(LEADING)}")
    if "half" in arguments.measures and not (arguments.peers and "throughput" in arguments.measures):
        parser.error("--measures half wants --peers, and throughput, too")
    if any(service not in Spindle.services for service in arguments.services):
        parser.error(f"--services: some of {','.join(Spindle.services)}")
    if is_switched(arguments):
        if arguments.peers or any(measure not in switching.SPAN_MS for measure in arguments.measures):
            parser.error(f"--admission switched is for --measures {','.join(switching.SPAN_MS)}, without --peers")
    elif len(arguments.admission) > 2 or any(setting not in ("on", "off") for setting in arguments.admission):
        parser.error("--admission: on, off, or two of them, or switched")
    if arguments.tls and len(arguments.admission) + is_switched(arguments) != 1:
        parser.error("--tls is for one --admission, on or off")
    if arguments.resumption and (arguments.tls or arguments.peers or arguments.admission not in (["on"], ["off"])):
        parser.error("--resumption is for one --admission, on or off, without --tls and --peers")
    if arguments.tls and any(peer not in WITH_TLS for peer in arguments.peers):
        parser.error(f"--tls --peers: some of {','.join(WITH_TLS)}")
    if any(peer not in PEERS for peer in arguments.peers):
        parser.error(f"--peers: some of {','.join(PEERS)}")
    if arguments.peers and os.geteuid() != 0:
        parser.error("--peers: network namespaces take root")
    if arguments.check and not (arguments.peers or arguments.tls or is_switched(arguments)):
        parser.error("--check is for --peers, --tls and --admission switched")
    if arguments.plot and not arguments.peers:
        parser.error("--plot is for --peers")
    if min(arguments.sizes) < 16 or min(arguments.receivers) < 1:
        parser.error("--sizes: at least 16; --receivers: at least 1")


def make_spindles(arguments, folder, new_hosts):
    """By name. More than one run at the same time: those that nobody uses are idle, and cost next to nothing."""
    clients = [Clients()] * len(arguments.admission)
    settings = arguments.admission
    if arguments.tls:
        names = ["spindle", PLAIN]
        clients = [Clients(by_tcp=True, tls=True), Clients(by_tcp=True)]
        settings = arguments.admission * 2
    elif arguments.resumption:
        names = ["resumption on", "resumption off"]
        clients = [Clients(by_tcp=True, resume=True), Clients(by_tcp=True)]
        settings = arguments.admission * 2
    elif len(settings) == 1:
        names = ["spindle"]
    else:
        names = [f"admission {setting}" for setting in settings]
        if names[0] == names[1]:
            names[1] += ", again"
    return {
        name: Spindle(arguments.build, pathlib.Path(folder, str(number)), new_hosts(), arguments.daemons,
                      arguments.topology, name, setting != "off", way)
        for number, (name, setting, way) in enumerate(zip(names, settings, clients))
    }


def restart(systems, backwards):
    """Where processes lie in memory and on processors stays with them, and makes them differ by more than what is
    compared: each round has new ones, started in turns."""
    for system in systems:
        system.stop()
    for system in reversed(systems) if backwards else systems:
        system.start()


def measure_or_fail(system, result, arguments, is_ours):
    """A peer that fails at something is started anew, and goes on with what comes next; None stands for the round."""
    try:
        return measure_undisturbed(system, result, arguments)
    except MeasurementFailed as error:
        if is_ours:
            raise
        say(f"{result['system']} failed at {kinds.describe(result)}: {error}")
        system.stop()
        system.start()
        return None


def run_all(systems, spindles, arguments, results):
    """Fills in `results`; those of which no round succeeded are taken out and returned."""
    for result in results:
        result["rounds"] = []
        result["window"] = window_of(result["size"], arguments) if result["measure"] not in kinds.OPEN_LOOPS else None
    total = arguments.rounds * len(results)
    done = 0
    started = time.monotonic()
    # Rounds go over all kinds of measurement: what disturbs the machine for a while disturbs all of them alike.
    # What comes first in one round comes last in the next: neither of two systems always follows the other.
    for number in range(arguments.rounds):
        if number > 0 and len(spindles) == 2 and not arguments.peers:
            restart(list(systems.values()), backwards=number % 2 != 0)
        for result in results if number % 2 == 0 else reversed(results):
            values = measure_or_fail(systems[result["system"]], result, arguments, result["system"] in spindles)
            result["rounds"].append(values)
            done += 1
            if values is None:
                continue
            leading = LEADING[result["measure"]]
            say(f"{done}/{total} {time.monotonic() - started:.0f} s: {result['system']} {kinds.describe(result)}: "
                f"{values[leading]:,.0f} {UNITS[result['measure']]}")
    failed = [result for result in results if not succeeded(result)]
    results[:] = [result for result in results if succeeded(result)]
    add_medians(results)
    return failed


def run_switched(system, arguments, results):
    """Fills in `results`. Each round has new daemons."""
    for result in results:
        result["rounds"] = []
    for number in range(arguments.rounds):
        if number > 0:
            restart([system], backwards=False)
        for result in results:
            values = measure_undisturbed(system, result, arguments, switching.measure_switched)
            result["rounds"].append(values)
            row = switching.compare(dict(result, rounds=[values]))
            say(f"round {number + 1}/{arguments.rounds}: {kinds.describe(result)}: on {row.on:,.0f}, "
                f"off {row.off:,.0f} {UNITS[row.measure]}, quotient {row.quotient:.3f}")


def run_systems(systems, spindles, arguments, folder):
    """All results and those of peers that failed each time, or nothing where a measurement of Spindle failed."""
    results = kinds.listed(systems.values(), arguments)
    try:
        for system in systems.values():
            system.start()
        if is_switched(arguments):
            run_switched(systems["spindle"], arguments, results)
            return results, []
        failed = run_all(systems, spindles, arguments, results)
        if "half" in arguments.measures:
            halves = kinds.halves(systems.values(), spindles, results)
            failed += run_all(systems, spindles, arguments, halves)
            results += halves
        return results, failed
    except (MeasurementFailed, OSError) as error:
        say(f"cluster: {error}")
        show_logs(folder)
        return None, None
    finally:
        for system in systems.values():
            system.stop()


def main(name):
    arguments = parse_arguments(name)
    leave_nothing_behind()
    host = machine()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="spindle-bench."))
        new_hosts = lambda: stack.enter_context(Hosts(arguments.daemons) if arguments.peers else Here())
        if arguments.peers:
            stack.enter_context(SocketBuffers())
        spindles = make_spindles(arguments, folder, new_hosts)
        peers, absent = make_peers(arguments.peers, arguments.build, folder, new_hosts,
                                   arguments.daemons, arguments.tls)
        results, failed = run_systems(spindles | peers, list(spindles), arguments, folder)
    if results is None:
        return 1
    if is_switched(arguments):
        rows = [switching.compare(result) for result in results]
        print(switching.table(rows))
    else:
        print(tables(results, arguments.daemons))
        others = {PLAIN: spindles[PLAIN]} if arguments.tls else {}
        rows = compare(results, next(iter(spindles)), others | peers, absent)
    if len(arguments.admission) == 2 or arguments.resumption:
        print("\n" + comparison(results, list(spindles)))
    if arguments.peers or arguments.tls:
        print("\n" + peers_table(rows))
        for name, reason in absent.items():
            print(f"{name} is absent: {reason}")
        for result in failed:
            print(f"{result['system']} failed each time at {kinds.describe(result)}")
    if peers:
        print("\n" + "; ".join(f"{name} {system.version}" for name, system in peers.items()))
    print(f"\n{arguments.rounds} rounds of {arguments.seconds:g} s; {describe_machine(host)}")
    report = {"machine": host, "options": vars(arguments), "results": results, "absent": absent,
              "failed": failed,
              "versions": {name: system.version for name, system in peers.items()},
              "comparison": [row.__dict__ for row in rows]}
    if arguments.json:
        write_json(arguments.json, report)
    if arguments.plot:
        plots.draw("peers", arguments.plot, report=report)
    return 1 if arguments.check and unreached(rows) else 0
