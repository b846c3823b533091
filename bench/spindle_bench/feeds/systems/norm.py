"""NORM (RFC 5740), the library of the Naval Research Laboratory.

A stream of messages, each flushed and marked as a message, which is its guide's way of sending messages; by multicast.
What a block of segments lacks a receiver asks for when the block is over: of 8 segments where the library's examples have
64, as this stream has a segment in a millisecond. Requests do not wait for those of others, where the default is up to
four round trips, and the number of receivers is what it is (`NormSetBackoffFactor` and `NormSetGroupSize`: the guide would
have them fit the group). The first estimate of the round trip is that of the path. Repairs are parity; none is sent
before it is asked for.

`Norm` has a fixed rate, twice that of the stream; `NormControlled` its congestion control, which is that of TFMCC, and no
more than 128 KiB in the stream's buffer: what is late is of no use.
"""

from . import System, package_version


class Norm(System):
    name = "norm"
    options = ()

    def __init__(self, build, folder):
        super().__init__(build, folder)
        self.client = self.program("norm_client")
        self.version = package_version("libnorm-dev")

    def sender(self, hosts, receivers):
        return [self.client, *self.options, "--round-trip", 2 * hosts.delay_ms / 1000]

    def receiver(self, hosts, host):
        return [self.client, "--node", host + 1]


class NormControlled(Norm):
    name = "norm-cc"
    options = ("--congestion-control", "--stream-bytes", 128 << 10)
