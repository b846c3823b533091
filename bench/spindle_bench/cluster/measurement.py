"""One measurement: a load on all members at once, for a few seconds."""

import contextlib
import json
import time

from ..processes import (Disturbed, MeasurementFailed, end_all, end_input, machine_seconds, processor_seconds,
                         read_line, start, tell, undisturbed, wait_until_ready, wake_on_time)

READY_SECONDS = 30
# What the members need between "go" and the moment that they start at.
LEAD_SECONDS = 0.1
# What may still be under way when the load stops.
DRAIN_SECONDS = 30
LEAVE_SECONDS = 10
# A sender has its full rate when it has this much of it over so many spans of the load's.
FULL_SHARE = 0.9
FULL_SPANS = 4
# This script does nothing but sleep while the members measure. Where it wakes up so late, the machine was suspended or
# is loaded beyond all measuring.
LATE_SECONDS = 0.5

# Which load of member_program.cpp a measure is, where it is not called so itself.
LOADS = {"fanout": "throughput", "half": "latency", "start": "throughput-course"}

group_count = 0


def measure(system, configuration, options):
    """Runs the load that `configuration` (measure, service, size; perhaps receivers, rate) says: a dictionary of
    results. A member is on each host; with `receivers`, a sender and so many receivers are all on the first one."""
    kind = configuration["measure"]
    warmup = 0 if kind == "start" else max(options.warmup, system.warmup_seconds)
    with members(system, configuration, options, LOADS.get(kind, kind), warmup) as clients:
        usage = run(system, clients, warmup, options.seconds)
        results = collect(clients)
    if kind == "start":  # one sender: each member has held its messages to their order
        return start_summary(results)
    if configuration["service"] in ("causal", "agreed", "safe") and len({result["digest"] for result in results}) > 1:
        raise MeasurementFailed("the members got the messages in different orders")
    return summary(configuration, results, usage)


def measure_undisturbed(system, configuration, options, how=measure):
    """`how`: a function that measures, with the same arguments."""
    return undisturbed(lambda: how(system, configuration, options))


@contextlib.contextmanager
def members(system, configuration, options, load, warmup, more=()):
    """Processes of members that are ready for `load`, a measure of member_program.cpp; `more`: options of it."""
    global group_count
    group_count += 1
    receivers = configuration.get("receivers")
    hosts = [0] * (1 + receivers) if receivers else range(options.daemons)
    arguments = ["--group", f"bench{group_count}", "--members", str(len(hosts))]
    senders = 1 if configuration["measure"] in ("start", "fanout") else configuration.get("senders", len(hosts))
    arguments += ["--senders", str(senders)]
    arguments += ["--measure", load, "--service", configuration["service"]]
    arguments += ["--size", str(configuration["size"]), "--rate", str(configuration.get("rate", options.rate))]
    arguments += ["--window", str(window_of(configuration["size"], options))]
    arguments += ["--warmup", str(warmup), "--seconds", str(options.seconds), *more]
    clients = []
    try:
        for member, host in enumerate(hosts):
            command = system.client_command(host) + ["--member", str(member)] + arguments
            clients.append(start(command, preexec_fn=wake_on_time))
        for client in clients:
            wait_until_ready(client, READY_SECONDS, "a member")
        yield clients
    finally:
        end_all(clients)


def window_of(size, options):
    return options.window or max(8, min(1000, options.window_bytes // size))


def run(system, clients, warmup, seconds):
    """Starts the members, and returns the processor time used while they measured."""
    began = tell_start(clients)
    begin = sample_at(began + warmup, system, clients)
    end = sample_at(began + warmup + seconds, system, clients)
    passed = end["at"] - begin["at"]
    return {key: (end[key] - begin[key]) / passed for key in ("daemons", "clients", "machine")}


def tell_start(clients):
    """When they start, by the clock time.monotonic()."""
    begin = time.monotonic() + LEAD_SECONDS
    for client in clients:
        tell(client, f"go {int(begin * 1e9)}")
    return begin


def collect(clients):
    """Their results, and then their end."""
    results = [json.loads(read_line(client, DRAIN_SECONDS)) for client in clients]
    for client in clients:
        finish(client)
    return results


def sleep_until(when):
    time.sleep(max(0, when - time.monotonic()))
    late = time.monotonic() - when
    if late > LATE_SECONDS:
        raise Disturbed(f"this script woke up {late:.1f} s late")


def sample_at(when, system, clients):
    sleep_until(when)
    return {
        "at": time.monotonic(),
        "daemons": processor_seconds(system.daemon_pids()),
        "clients": processor_seconds(client.pid for client in clients),
        "machine": machine_seconds(),
    }


def finish(client):
    status = end_input(client, LEAVE_SECONDS)
    if status is None:
        raise MeasurementFailed("a member did not end when told to")
    if status != 0:
        raise MeasurementFailed(f"a member ended with status {status}")


def summary(configuration, results, usage):
    # Every member gets all messages: the slowest receiver says what "delivered to each" is.
    messages, nanoseconds = "messages", "nanoseconds"
    if configuration["measure"] == "fanout":
        # The window bounds how far the sender is ahead of itself, not of the other receivers. What it has sent by the
        # end counts with the time until the slowest of them has all of it.
        messages, nanoseconds = "total", "total_ns"
    rate = min(result[messages] / (result[nanoseconds] / 1e9) for result in results)
    values = {
        "messages_per_second": rate,
        "megabytes_per_second": rate * configuration["size"] / 1e6,
        "daemon_seconds_per_million": usage["daemons"] / rate * 1e6,
        "client_seconds_per_million": usage["clients"] / rate * 1e6,
        "other_processors_busy": max(0.0, usage["machine"] - usage["daemons"] - usage["clients"]),
    }
    if "allocated_bytes" in results[0]:
        values["allocated_per_message"] = max(result["allocated_bytes"] / result[messages] for result in results)
    if "latency_ns" in results[0]:
        latency = merge(result["latency_ns"] for result in results)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1)):
            values[f"{name}_us"] = percentile(latency, share) / 1e3
        values["send_lag_p50_us"] = percentile(merge(result["send_lag_ns"] for result in results), 0.5) / 1e3
    return values


def start_summary(results):
    """How soon a sender that nobody knew has its full rate, which is that of the second half, at the last receiver."""
    values = {"full_rate_ms": 0, "lost_ms": 0, "messages_per_second": float("inf")}
    for result in results:
        arrived, span = result["arrived"], result["span_ns"] / 1e9
        half = arrived[len(arrived) // 2:]
        rate = sum(half) / len(half)
        full = next(at for at in range(len(arrived))
                    if sum(arrived[at:at + FULL_SPANS]) >= FULL_SHARE * FULL_SPANS * rate)
        values["full_rate_ms"] = max(values["full_rate_ms"], 1e3 * span * full)
        # What a sender at the full rate would not have needed for what has arrived in the first half.
        first = sum(arrived[:len(arrived) // 2])
        values["lost_ms"] = max(values["lost_ms"], 1e3 * span * (len(arrived) // 2 - first / rate))
        values["messages_per_second"] = min(values["messages_per_second"], rate / span)
    return values


def merge(histograms):
    counts = {}
    for histogram in histograms:
        for value, count in histogram:
            counts[value] = counts.get(value, 0) + count
    return sorted(counts.items())


def percentile(histogram, share):
    wanted = share * sum(count for _, count in histogram)
    seen = 0
    for value, count in histogram:
        seen += count
        if seen >= wanted:
            return value
    raise MeasurementFailed("nothing was measured")
