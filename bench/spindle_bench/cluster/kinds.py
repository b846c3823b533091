"""What is measured: a kind is a system, a measure, a service and a size, and what else the measure needs.

    throughput, latency, start    a member on each host
    fanout                        one sender, and `receivers` more members, all at the same daemon; a closed loop
    half                          latency at `rate`, which is half of what the system `of` can carry at most
"""

OPEN_LOOPS = ("latency", "half")
FANOUT_BYTES = 1000
FANOUT_SERVICES = ("fifo", "agreed")


def listed(systems, options):
    """All kinds but half, which depends on the throughput. Beside peers the latency of safe messages is measured, too:
    they are to be no slower than others' agreed ones."""
    kinds = []
    for measure in options.measures:
        if measure == "fanout":
            kinds += [{"system": system.name, "measure": measure, "service": service, "size": FANOUT_BYTES,
                       "receivers": receivers}
                      for service in FANOUT_SERVICES for receivers in options.receivers
                      for system in systems if system.fans_out and service in system.services]
        elif measure != "half":
            stronger = ["safe"] if measure == "latency" and options.peers and "safe" not in options.services else []
            kinds += [{"system": system.name, "measure": measure, "service": service, "size": size}
                      for service in options.services + stronger for size in options.sizes
                      for system in systems if service in system.services]
    return kinds


def strongest_service(system):
    """Agreed, and for systems without an order of all messages what they have."""
    return "agreed" if "agreed" in system.services else "fifo"


def halves(systems, references, results):
    """For each size: the `references` and each other system at half of that one's peak; and all that can carry it at
    half of each reference's. Who cannot carry the rate would be measured for as long as it falls behind."""
    peaks = {}
    for system in systems:
        for result in results:
            if (result["system"], result["measure"], result["service"]) == (system.name, "throughput",
                                                                            strongest_service(system)):
                peaks[system.name, result["size"]] = result["median"]["messages_per_second"]
    kinds = []
    for of, size in peaks:
        rate = peaks[of, size] / 2
        for system in systems:
            if (of in references or system.name in (of, *references)) and peaks.get((system.name, size), 0) >= rate:
                kinds.append({"system": system.name, "measure": "half", "service": strongest_service(system),
                              "size": size, "rate": rate, "of": of})
    return kinds


def describe(kind):
    text = f"{kind['measure']} {kind['service']} {kind['size']:,} bytes"
    if "receivers" in kind:
        text += f", {kind['receivers']} receivers"
    if "of" in kind:
        text += f", {kind['rate']:,.0f}/s (half of {kind['of']}'s peak)"
    return text
