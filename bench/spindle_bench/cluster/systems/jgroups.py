"""JGroups: a library, so that members have no daemons.

Its manual recommends to take one of the stacks that it ships and to change as little as may be. For agreed that is
`sequencer.xml`, over IP multicast. For fifo it is `tcp.xml`: with three members it was a tenth faster than `udp.xml`,
which the manual prefers for larger clusters. Both bundle messages up to 64 KB. A thread of its own sends, as the manual
wants nobody to block the threads that deliver. JGroups asks for large socket buffers, see SocketBuffers in ../peers.py.
The Java machine gets a heap that does not grow, and the collector for throughput, as in JGroups' own reports on
performance; and more time to warm up than the others, as it compiles while it runs.
"""

from . import BENCH, build, need

VERSION = "5.5.7.Final"
STACKS = {"fifo": "tcp.xml", "agreed": "sequencer.xml"}
TCP_PORT = 7800
MACHINE = ["-Xms400M", "-Xmx400M", "-XX:+UseParallelGC", "-Djava.net.preferIPv4Stack=true"]
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


class JGroups:
    name = "jgroups"
    version = VERSION
    services = ("fifo", "agreed")
    fans_out = False
    warmup_seconds = 4

    def __init__(self, build_tree, folder, hosts, count):
        self.hosts = hosts
        self.initial_hosts = ",".join(f"{hosts.address(index)}[{TCP_PORT}]" for index in range(count))
        self.java = need("java", "Java")
        compiler, maven = need("javac", "Java compiler"), need("mvn", "Maven")
        source, built = BENCH / "peers" / "jgroups", build_tree / "bench" / "peers" / "jgroups"
        built.mkdir(parents=True, exist_ok=True)
        library = built / f"jgroups-{VERSION}.jar"
        if not library.exists():
            build([maven, "--batch-mode", "--quiet", COPY, f"-Dartifact=org.jgroups:jgroups:{VERSION}",
                   f"-DoutputDirectory={built}"], built, "JGroups")
        build([compiler, "-Xlint:all", "-Werror", "-cp", library, "-d", built, *sorted(source.glob("*.java"))], source,
              "jgroups_client")
        self.classpath = f"{library}:{built}"

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
                                          self.classpath, "Member", *stacks]
