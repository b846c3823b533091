"""JGroups: a library, so that members have no daemons.

Its manual recommends to take one of the stacks that it ships and to change as little as may be. For agreed that is
`sequencer.xml`, over IP multicast. For fifo it is `tcp.xml`: with three members it was a tenth faster than `udp.xml`,
which the manual prefers for larger clusters. Both bundle messages up to 64 KB. A thread of its own sends, as the manual
wants nobody to block the threads that deliver. JGroups asks for large socket buffers, see SocketBuffers in ../peers.py.
"""

from . import BENCH
from .java import MACHINE, WARMUP_SECONDS, compile_member, fetch, java

VERSION = "5.5.7.Final"
STACKS = {"fifo": "tcp.xml", "agreed": "sequencer.xml"}
TCP_PORT = 7800


class JGroups:
    name = "jgroups"
    version = VERSION
    services = ("fifo", "agreed")
    fans_out = False
    warmup_seconds = WARMUP_SECONDS

    def __init__(self, build_tree, folder, hosts, count):
        self.hosts = hosts
        self.initial_hosts = ",".join(f"{hosts.address(index)}[{TCP_PORT}]" for index in range(count))
        self.java = java()
        built = build_tree / "bench" / "peers" / "jgroups"
        library = fetch(f"org.jgroups:jgroups:{VERSION}", built, "JGroups")
        self.classpath = compile_member(BENCH / "peers" / "jgroups", library, built, "jgroups_client")

    def start(self):
        pass

    def stop(self):
        pass

    def daemon_pids(self):
        return []

    def client_command(self, host):
        # The stack depends on the service, which is among the options that follow: the member looks it up.
        stacks = [part for service, stack in STACKS.items() for part in (f"--{service}", stack)]
        return self.hosts.inside(host) + [self.java, *MACHINE, f"-Djgroups.bind_addr={self.hosts.address(host)}",
                                          f"-Djgroups.tcpping.initial_hosts={self.initial_hosts}", "-cp",
                                          self.classpath, "JGroupsMember", *stacks]
