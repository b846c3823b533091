"""Corosync: closed process groups, whose messages are agreed.

Its manual page recommends the transport knet and, where all processors perform equally well, a large window: 300
messages for one rotation of the token; one processor may send as many of them as fit into 256,000 bytes of frames of
1,500. There is no encryption and no compression. The rest are the defaults; so the daemons run with real-time priority
where they may.

Where daemons and clients share processors, that priority lets a daemon run for every single message of its client, and
leaves it nothing to pack together: `CorosyncTuned` does without, which the manual page does not ask for.
"""

import subprocess

from ...processes import end_all, wait_for
from . import Absent, need

START_SECONDS = 20
STOP_SECONDS = 10
WINDOW = 300
MAX_MESSAGES = 256_000 // 1500


class Corosync:
    name = "corosync"
    real_time = "yes"
    services = ("agreed",)
    fans_out = True
    warmup_seconds = 0

    def __init__(self, build_tree, folder, hosts, count):
        self.folder = folder
        self.hosts = hosts
        self.count = count
        self.daemons = []
        self.program = need("corosync", "Corosync")
        self.client = build_tree / "bench" / "corosync_client"
        if not self.client.exists():
            raise Absent("its client was not built: there was no libcpg (tools/bootstrap --peers installs it)")
        self.version = subprocess.run([self.program, "-v"], capture_output=True, text=True,
                                      check=True).stdout.split("'")[1]
        self.folder.mkdir()

    def start(self):
        for index in range(self.count):
            state = self.folder / f"state{index}"
            state.mkdir()
            config = self.folder / f"c{index}.conf"
            config.write_text(self._config(index, state))
            # All daemons want to write the same file under /run. What clients connect to is a matter of the network
            # namespace, as Linux's abstract sockets are.
            command = self.hosts.inside(index) + [
                "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh", self.program, "-f", "-c", str(config)]
            self.daemons.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        for index in range(self.count):
            wait_for(lambda: self._has_all_members(index), START_SECONDS, f"corosync {index} has all members")

    def stop(self):
        end_all(self.daemons, STOP_SECONDS)
        self.daemons = []

    def daemon_pids(self):
        return [daemon.pid for daemon in self.daemons]

    def client_command(self, host):
        return self.hosts.inside(host) + [str(self.client)]

    def _has_all_members(self, index):
        log = self._log(index)
        return log.exists() and f"Sync members[{self.count}]:" in log.read_text()

    def _log(self, index):
        return self.folder / f"c{index}.log"

    def _config(self, index, state):
        nodes = "".join(f"""  node {{
    ring0_addr: {self.hosts.address(node)}
    name: c{node}
    nodeid: {node + 1}
  }}
""" for node in range(self.count))
        return f"""totem {{
  version: 2
  cluster_name: bench
  transport: knet
  crypto_cipher: none
  crypto_hash: none
  window_size: {WINDOW}
  max_messages: {MAX_MESSAGES}
}}
nodelist {{
{nodes}}}
system {{
  state_dir: {state}
  sched_rr: {self.real_time}
}}
logging {{
  to_stderr: no
  to_syslog: no
  to_logfile: yes
  logfile: {self._log(index)}
}}
"""


class CorosyncTuned(Corosync):
    name = "corosync-tuned"
    real_time = "no"
