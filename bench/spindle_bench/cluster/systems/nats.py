"""NATS: a cluster of three servers in a full mesh, as its documentation sets one up.

The servers' own settings are the defaults, which is what the documentation recommends: no JetStream, no compression, a
pool of three connections to each other server; no TLS, but with --tls, where clients and servers show certificates. Clients subscribe asynchronously and publish without
flushing, as its pages on performance show it, and lift their limits on what waits in the client ("Slow Consumers").
Messages of one publisher arrive in the order sent, those of different ones in any order.

Go collects garbage whenever a program's memory has doubled, which is often where it is as small as here. `NatsTuned`
lets it grow ninefold, in servers and clients, which NATS's documentation does not ask for.
"""

import subprocess

from ...processes import end_all, wait_for
from . import BENCH, build, need

START_SECONDS = 10
STOP_SECONDS = 10
CLIENT_PORT = 4222
ROUTE_PORT = 6222
SERVER_MODULE = "github.com/nats-io/nats-server/v2"


class Nats:
    name = "nats"
    garbage_percent = 100  # Go's default
    services = ("fifo",)
    fans_out = True
    warmup_seconds = 0
    takes_tls = True

    def __init__(self, build_tree, folder, hosts, count, tls=False):
        self.folder = folder
        self.hosts = hosts
        self.count = count
        self.processes = []
        go = need("go", "Go", "1.21 or newer, which tools/bootstrap does not install")
        source, built = BENCH / "peers" / "nats", build_tree / "bench" / "peers" / "nats"
        built.mkdir(parents=True, exist_ok=True)
        self.server, self.client = built / "nats-server", built / "nats_client"
        build([go, "build", "-o", self.server, SERVER_MODULE], source, "nats-server")
        build([go, "build", "-o", self.client, "."], source, "nats_client")
        self.version = subprocess.run([self.server, "--version"], capture_output=True, text=True,
                                      check=True).stdout.split()[-1]
        self.folder.mkdir()
        self.identity = self._make_identity() if tls else None

    def start(self):
        for index in range(self.count):
            config = self.folder / f"n{index}.conf"
            routes = ", ".join(f'"nats://{self.hosts.address(other)}:{ROUTE_PORT}"'
                               for other in range(self.count) if other != index)
            tls = (f'tls {{ cert_file: "{self.identity}", key_file: "{self.identity}", ca_file: "{self.identity}", '
                   "verify: true }" if self.identity else "")
            config.write_text(f'''server_name: n{index}
listen: "127.0.0.1:{CLIENT_PORT}"
{tls}
cluster {{
  name: bench
  listen: "{self.hosts.address(index)}:{ROUTE_PORT}"
  routes: [{routes}]
  {tls}
}}
''')
            command = self._inside(index) + [str(self.server), "--config", str(config), "--log", str(self._log(index))]
            self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        for index in range(self.count):
            wait_for(lambda: self._log(index).exists() and "Server is ready" in self._log(index).read_text(),
                     START_SECONDS, f"nats-server {index} is ready")

    def stop(self):
        end_all(self.processes, STOP_SECONDS)
        self.processes = []

    def daemon_pids(self):
        return [process.pid for process in self.processes]

    def client_command(self, host):
        identity = ["--identity", str(self.identity)] if self.identity else []
        return self._inside(host) + [str(self.client), "--address", f"nats://127.0.0.1:{CLIENT_PORT}", *identity]

    def _make_identity(self):
        """A file of a key and a certificate that vouches for itself. All show the same: what costs time is as it is
        with one each."""
        identity = self.folder.resolve() / "identity.pem"
        addresses = ["127.0.0.1", *(self.hosts.address(host) for host in range(self.count))]
        names = ",".join(f"IP:{address}" for address in dict.fromkeys(addresses))
        subprocess.run([need("openssl", "OpenSSL"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=bench", "-addext",
                        f"subjectAltName={names}", "-keyout", "key.pem", "-out", "certificate.pem"],
                       stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder, check=True)
        identity.write_text((self.folder / "key.pem").read_text() + (self.folder / "certificate.pem").read_text())
        return identity

    def _inside(self, host):
        return self.hosts.inside(host) + ["env", f"GOGC={self.garbage_percent}"]

    def _log(self, index):
        return self.folder / f"n{index}.log"


class NatsTuned(Nats):
    name = "nats-tuned"
    garbage_percent = 800
