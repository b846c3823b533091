"""Hosts on one switch, whose cables have a rate."""

import pathlib

from ..cluster.hosts import SUBNET, SWITCH, Hosts
from ..field.network import BURST_BYTES, BURST_SECONDS, default_congestion_control, queue_bytes
from ..namespaces import run


class Segment(Hosts):
    """All hosts use the same congestion control, whatever the machine prefers."""

    def join(self):
        super().join()
        for host in range(self.count):
            self.ip(host, "route", "replace", f"{SUBNET}.0/24", "dev", "eth0", "src", self.address(host),
                    "congctl", default_congestion_control())

    def limit(self, host, rate):
        """What the cable of a host carries in each direction, in bits a second, from now on."""
        burst = max(BURST_BYTES, int(rate / 8 * BURST_SECONDS))
        for namespace, device in ((host, "eth0"), (SWITCH, f"host{host}")):
            run("tc", "-n", self.namespace(namespace), "qdisc", "replace", "dev", device, "root", "tbf",
                "rate", f"{rate}bit", "burst", f"{burst}b", "limit", f"{burst + queue_bytes(rate, 0)}b")


def device_bytes(pid, device="eth0"):
    """(received, sent) of a device of the host that the process is on."""
    for line in pathlib.Path(f"/proc/{pid}/net/dev").read_text().splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == device:
            fields = counts.split()
            return int(fields[0]), int(fields[8])
    raise OSError(f"process {pid} has no device {device}")
