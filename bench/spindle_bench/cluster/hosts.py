"""Hosts as network namespaces, all on one bridge: what an Ethernet switch would join."""

from ..namespaces import Namespaces

# As long as each host is to be as fast as the machine, a bridge has no rate. Frames have the size of an Ethernet's; TCP
# hands the bridge larger pieces, as it does with a card that cuts them itself.
SUBNET = "10.98.0"
MULTICAST = "224.0.0.0/4"
SWITCH = "switch"


class Hosts(Namespaces):
    """Hosts 0, 1, ... as long as the context lasts; takes root."""

    def __init__(self, count):
        super().__init__([*range(count), SWITCH])
        self.count = count

    def join(self):
        # A switch that listens to who wants which multicast packets waits for a router to ask; there is none.
        self.ip(SWITCH, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0")
        self.ip(SWITCH, "link", "set", "bridge", "up")
        for host in range(self.count):
            self._connect(host)

    def address(self, host):
        return f"{SUBNET}.{host + 1}"

    def lay_cable(self, host):
        """From `eth0` of the host to the switch's device for it."""
        self.ip(host, "link", "add", "eth0", "type", "veth",
                "peer", "name", f"host{host}", "netns", self.namespace(SWITCH))

    def _connect(self, host):
        self.lay_cable(host)
        self.ip(SWITCH, "link", "set", f"host{host}", "master", "bridge", "up")
        self.ip(host, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
        self.ip(host, "link", "set", "eth0", "up")
        self.ip(host, "route", "add", MULTICAST, "dev", "eth0")


class Here:
    """The same for this machine alone: all hosts are it, joined by loopback."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def inside(self, _):
        return []

    def address(self, _):
        return "127.0.0.1"
