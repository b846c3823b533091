"""Other group communication systems, to be measured beside Spindle: those that can be had on this machine."""

import pathlib

from .systems import Absent
from .systems.corosync import Corosync, CorosyncTuned
from .systems.jgroups import JGroups
from .systems.nats import Nats, NatsTuned

PEERS = {system.name: system for system in (Nats, JGroups, Corosync, NatsTuned, CorosyncTuned)}
# As the documentation of each advises. The tuned ones go beyond that, and no mark is set against them.
DOCUMENTED = ["nats", "jgroups", "corosync"]
WITH_TLS = [name for name, system in PEERS.items() if getattr(system, "takes_tls", False)]

# What JGroups asks the administrator for. It holds for all systems, as it does for the machine as a whole.
SOCKET_BUFFERS = {"rmem_max": 26_214_400, "wmem_max": 26_214_400}


class SocketBuffers:
    """Sets how large the buffers of a socket may be as long as the context lasts."""

    folder = pathlib.Path("/proc/sys/net/core")

    def __enter__(self):
        self.before = {name: (self.folder / name).read_text() for name in SOCKET_BUFFERS}
        for name, size in SOCKET_BUFFERS.items():
            (self.folder / name).write_text(str(max(size, int(self.before[name]))))
        return self

    def __exit__(self, *_):
        for name, text in self.before.items():
            (self.folder / name).write_text(text)


def make_peers(names, build, folder, new_hosts, count, tls):
    """Systems by name, built where need be, each on hosts of its own; and why each of the others cannot be had here.
    With `tls` what they send is encrypted."""
    options = {"tls": True} if tls else {}
    systems, absent = {}, {}
    for name in names:
        try:
            systems[name] = PEERS[name](pathlib.Path(build).resolve(), pathlib.Path(folder, name), new_hosts(), count,
                                        **options)
        except Absent as reason:
            absent[name] = str(reason)
    return systems, absent
