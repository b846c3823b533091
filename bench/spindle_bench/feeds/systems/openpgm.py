"""OpenPGM (RFC 3208), in datagrams of UDP, by multicast.

The examples that it comes with wait up to 50 ms before they ask for a packet, and 2 s until they ask again, which would
be most of the latency here. A receiver here waits up to half a round trip, and two round trips until it asks again. The
rate is bounded to eight times that of the stream. Congestion control the library says it does not support.
"""

from . import System, package_version

GROUP = "239.98.2.1"


class OpenPgm(System):
    name = "openpgm"

    def __init__(self, build, folder):
        super().__init__(build, folder)
        self.client = self.program("openpgm_client")
        self.version = package_version("libpgm-dev")

    def sender(self, hosts, receivers):
        return [self.client, "--network", self._network(hosts, 0)]

    def receiver(self, hosts, host):
        round_trip_ms = max(2, 2 * hosts.delay_ms)
        return [self.client, "--network", self._network(hosts, host), "--backoff-ms", round(round_trip_ms / 2),
                "--repeat-ms", round(2 * round_trip_ms)]

    def _network(self, hosts, host):
        """By address: the names of devices it would look up."""
        return f"{hosts.address(host)};{GROUP}"
