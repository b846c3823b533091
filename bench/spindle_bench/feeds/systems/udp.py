"""Datagrams that nothing repairs: what the network itself makes of a stream."""

from . import System, addresses


class Udp(System):
    name = "udp"

    def __init__(self, build, folder):
        super().__init__(build, folder)
        self.client = self.program("udp_client")

    def sender(self, hosts, receivers):
        return [self.client, "--to", *addresses(hosts, receivers)]

    def receiver(self, hosts, host):
        return [self.client]
