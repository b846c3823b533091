"""Ours: a daemon on each host, those of the receivers linked with that of the source."""

from ...bulk.transfers import Daemons
from . import System

GROUP = "stream"


class Spindle(System):
    name = "spindle"
    settings = ()

    def __init__(self, build, folder):
        super().__init__(build, folder)
        self.client = self.program("feed_client")
        self.daemons = None

    def start(self, hosts, receivers):
        self.daemons = Daemons(self.build, self.folder, hosts, [(0, host) for host in receivers],
                               settings=lambda host: self.settings)
        self.daemons.__enter__()

    def stop(self):
        if self.daemons:
            self.daemons.__exit__()
            self.daemons = None

    def sender(self, hosts, receivers):
        return self._client(0)

    def receiver(self, hosts, host):
        return self._client(host)

    def _client(self, host):
        return [self.client, "--address", f"unix:{self.daemons.daemons[host].socket}", "--group", GROUP]


class WithFloor(Spindle):
    """Losses that come of no queue leave the source as much as peers without congestion control are given."""
    name = "spindle-floor"
    settings = ("[feed]", "rate_min = 2500000")
