"""jnats, NATS' client for Java, at the cluster of servers that NATS is measured with."""

from . import BENCH
from .java import MACHINE, WARMUP_SECONDS, compile_member, fetch, java
from .nats import CLIENT_PORT, Nats

VERSION = "2.26.0"


class Jnats(Nats):
    name = "jnats"
    fans_out = False
    warmup_seconds = WARMUP_SECONDS
    takes_tls = False

    def __init__(self, build_tree, folder, hosts, count):
        super().__init__(build_tree, folder, hosts, count)
        self.java = java()
        built = build_tree / "bench" / "peers" / "jnats"
        library = fetch(f"io.nats:jnats:{VERSION}", built, "jnats")
        self.classpath = compile_member(BENCH / "peers" / "jnats", library, built, "jnats_client")

    def client_command(self, host):
        return self.hosts.inside(host) + [self.java, *MACHINE, "-cp", self.classpath, "JnatsMember", "--address",
                                          f"nats://127.0.0.1:{CLIENT_PORT}"]
