"""SRT, which has no multicast: a connection to each receiver, in its live mode, which is not congestion controlled.

Its messages are delivered when a fixed time has passed beyond that of the way itself: four round trips, as its developers
advise for networks by wire (three to four). What has not come by then is dropped. `SrtAtOnce` delivers them as they come,
in order, and drops nothing.
"""

from . import System, addresses, package_version

ROUND_TRIPS = 4


class Srt(System):
    name = "srt"

    def __init__(self, build, folder):
        super().__init__(build, folder)
        self.client = self.program("srt_client")
        self.version = package_version("libsrt-openssl-dev")

    def latency_ms(self, hosts):
        return max(20, round(ROUND_TRIPS * 2 * hosts.delay_ms))

    def sender(self, hosts, receivers):
        return [self.client, "--latency-ms", self.latency_ms(hosts), "--to", *addresses(hosts, receivers)]

    def receiver(self, hosts, host):
        return [self.client, "--latency-ms", self.latency_ms(hosts)]


class SrtAtOnce(Srt):
    name = "srt-at-once"

    def latency_ms(self, hosts):
        return 0
