"""Hosts on one switch, of which the first is far away from all others, and which lose frames."""

from ..cluster.hosts import SWITCH, Hosts
from ..field.network import DELAY_LINE_FRAMES, READY_SECONDS
from ..namespaces import run
from ..processes import end_all, read_line, start


class DistantHosts(Hosts):
    """Host 0 is `delay_ms` away from the others, in either direction."""

    def __init__(self, count, delay_ms, delay_line):
        super().__init__(count)
        self.delay_ms = delay_ms
        self.delay_line = delay_line
        self.cables = []

    def __exit__(self, *_):
        end_all(self.cables)
        super().__exit__()

    def join(self):
        super().join()
        for host in range(self.count):
            # What is lost is one frame, and not all that a socket has handed over at once.
            self.ip(host, "link", "set", "eth0", "gso_max_segs", "1")

    def lay_cable(self, host):
        if host != 0:
            return super().lay_cable(host)
        process = start([self.delay_line, "--ends", f"{self.namespace(host)}:eth0", f"{self.namespace(SWITCH)}:host{host}",
                         "--delay-ms", self.delay_ms])
        self.cables.append(process)
        read_line(process, READY_SECONDS)
        for name, device in ((host, "eth0"), (SWITCH, f"host{host}")):
            self.ip(name, "link", "set", device, "txqueuelen", str(DELAY_LINE_FRAMES))

    def lose(self, percent):
        """Of the frames that come to any host, each on its own, from now on."""
        for host in range(self.count):
            rules = "flush ruleset"
            if percent > 0:
                rules += ("; table inet feeds { chain input { type filter hook input priority 0; policy accept; "
                          f'iifname "eth0" numgen random mod 1000 < {round(10 * percent)} drop; }}; }}')
            run(*self.inside(host), "nft", rules)
