"""Aeron, in Java, with a media driver in each program, by multicast.

Defaults, but for what its documentation leaves to who knows the machine and the group: one thread for all agents of a
driver, as there are fewer processors than programs; the number of receivers, which receivers spread their requests by;
flow control by the slowest of so many receivers (`fc=min`), as the default one would leave a receiver behind; a window of
1 MiB, with buffers of sockets for it, as with 128 KiB a packet that is lost twice stops this stream; requests after
2 ms at most instead of 10, and repairs sent again after 1.2 round trips instead of 60 ms: a receiver has one gap at a time
repaired; and at most 128 KiB that wait at the sender, as what is late is of no use.
"""

from ...cluster.systems import BENCH
from ...cluster.systems.java import LOAD, compile_sources, fetch, java
from . import System

VERSION = "1.44.1"
GROUP = "239.98.3.1:40456"
# Longer than a repair takes that somebody has asked for twice.
LINGER_ROUND_TRIPS = 1.2
BACKOFF_MS = 2
MACHINE = ["-Xms64M", "-Xmx64M", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true", "--add-opens",
           "java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED"]


class Aeron(System):
    name = "aeron"
    version = VERSION

    def __init__(self, build, folder):
        super().__init__(build, folder)
        self.java = java()
        source, built = BENCH / "peers" / "aeron", self.build / "bench" / "peers" / "aeron"
        library = fetch(f"io.aeron:aeron-all:{VERSION}", built, "Aeron")
        # The same buckets as other peers'.
        sources = [LOAD / "Histogram.java", *sorted(source.glob("*.java"))]
        self.classpath = compile_sources(sources, library, built, "aeron_client")

    def sender(self, hosts, receivers):
        return self._program(hosts, 0)

    def receiver(self, hosts, host):
        return self._program(hosts, host)

    def _program(self, hosts, host):
        return [self.java, *MACHINE, "-cp", self.classpath, "Stream", "--directory", self.folder / f"driver-{host}",
                "--backoff-ms", BACKOFF_MS, "--linger-ms", LINGER_ROUND_TRIPS * 2 * hosts.delay_ms,
                "--channel", f"aeron:udp?endpoint={GROUP}|interface={hosts.address(host)}|ttl=4"]
