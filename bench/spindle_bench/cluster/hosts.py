"""Hosts as network namespaces, all on one bridge: what an Ethernet switch would join."""

import itertools
import os
import subprocess

# As long as each host is to be as fast as the machine, a bridge has no rate. Frames have the size of an Ethernet's; TCP
# hands the bridge larger pieces, as it does with a card that cuts them itself.
SUBNET = "10.98.0"
MULTICAST = "224.0.0.0/4"

numbers = itertools.count(1)


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")


class Hosts:
    """Hosts 0, 1, ... as long as the context lasts; takes root."""

    def __init__(self, count):
        self.count = count
        self.prefix = f"spindle-{os.getpid()}-{next(numbers)}-"
        self.switch = self.prefix + "switch"

    def __enter__(self):
        try:
            run("ip", "netns", "add", self.switch)
            # A switch that listens to who wants which multicast packets waits for a router to ask; there is none.
            run("ip", "-n", self.switch, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0")
            run("ip", "-n", self.switch, "link", "set", "bridge", "up")
            for host in range(self.count):
                self._connect(host)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in [*(self.namespace(host) for host in range(self.count)), self.switch]:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)

    def namespace(self, host):
        return f"{self.prefix}{host}"

    def inside(self, host):
        """What goes before a command that is to run on `host`. The process is the command's own."""
        return ["ip", "netns", "exec", self.namespace(host)]

    def address(self, host):
        return f"{SUBNET}.{host + 1}"

    def _connect(self, host):
        name = self.namespace(host)
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "link", "add", "eth0", "type", "veth",
            "peer", "name", f"host{host}", "netns", self.switch)
        run("ip", "-n", self.switch, "link", "set", f"host{host}", "master", "bridge", "up")
        run("ip", "-n", name, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "route", "add", MULTICAST, "dev", "eth0")


class Here:
    """The same for this machine alone: all hosts are it, joined by loopback."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def inside(self, _):
        return []

    def address(self, _):
        return "127.0.0.1"
