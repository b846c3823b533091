"""What carries streams. A system has

    name
    version                          of what it is made of; nothing: ours
    start(hosts, receivers), stop()  its daemons, where it has some; host 0 sends, the others receive
    sender(hosts, receivers)         the command of the program that sends, without what goes before it inside a host,
    receiver(hosts, host)            and of one that receives; options of stream_program.h are added
"""

import pathlib
import subprocess

from ...cluster.systems import Absent

REMEDY = "tools/bench installs it with --peers"


class System:
    name = ""
    version = ""

    def __init__(self, build, folder):
        """Raises Absent where it cannot be had here. `folder`: for files, not there yet."""
        self.build = pathlib.Path(build).resolve()
        self.folder = folder

    def start(self, hosts, receivers):
        pass

    def stop(self):
        pass

    def program(self, name):
        """Of the build, which leaves out what there is no library for."""
        path = self.build / "bench" / name
        if not path.exists():
            raise Absent(f"{name} was not built: there was no library for it ({REMEDY})")
        return path


def addresses(hosts, receivers):
    return [hosts.address(host) for host in receivers]


def package_version(package):
    """Of Debian's, as far as it says."""
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else "unknown"
