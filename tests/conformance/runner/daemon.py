"""A spindled of a scenario's own."""
import json
import signal
import subprocess
import threading
import time

from .failure import PATIENCE_S, Failure

# Views are made at once, and only a scenario that is about silence has silent links.
DEFAULTS = {"view.gain_hold_down_ms": "20", "link.liveness_timeout_ms": "10000", "link.redial_min_ms": "20",
            "link.redial_lost_max_ms": "100"}
# Sections of which there may be several; a scenario has one of each.
REPEATED = {"access", "names", "quota", "token"}


class Daemon:
    """Runs from construction until `end`. `folder` is for its sockets, its configuration and its log."""

    def __init__(self, programs, folder, name, neighbours, settings):
        self.name = name
        self._programs = programs
        self._folder = folder
        self._neighbours = neighbours
        self._settings = {**DEFAULTS, **dict(settings)}
        self._link_address = "127.0.0.1:0"
        self._tcp_address = "127.0.0.1:0"
        self._process = None
        self.start()

    def _path(self, what):
        return f"{self._folder}/{self.name}.{what}"

    @property
    def link_address(self):
        return self._link_address

    def client_address(self, by):
        return f"unix:{self._path('sock')}" if by == "unix" else f"tcp:{self._tcp_address}"

    def _configuration(self):
        sections = {
            "daemon": {"name": f'"{self.name}"'},
            "listen": {"clients": f'["{self._tcp_address}"]', "client_socket": f'"{self._path("sock")}"',
                       "admin_socket": f'"{self._path("admin")}"', "links": f'["{self._link_address}"]'}}
        for key, value in self._settings.items():
            section, _, rest = key.partition(".")
            sections.setdefault(section, {})[rest] = value
        lines = []
        for section, values in sections.items():
            heading = f"[[{section}]]" if section in REPEATED else f"[{section}]"
            lines += [heading] + [f"{key} = {value}" for key, value in values.items()]
        for address in self._neighbours:
            lines += ["[[neighbour]]", f'address = "{address}"']
        return "\n".join(lines) + "\n"

    def start(self):
        """Returns when it serves. Where it has run before it has the addresses that it had."""
        with open(self._path("toml"), "w", encoding="utf-8") as file:
            file.write(self._configuration())
        # It ends with the runner, even where that is killed.
        command = ["setpriv", "--pdeathsig", "KILL", self._programs.spindled, "--config", self._path("toml")]
        with open(self._path("log"), "ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        # A daemon that never gets ready is killed, which ends the line that is waited for.
        watch = threading.Timer(PATIENCE_S, self._process.kill)
        watch.start()
        ready = self._process.stdout.readline().decode()
        watch.cancel()
        if not ready.startswith("ready: "):
            raise Failure(f"daemon {self.name} does not start:\n{self.log()}")
        self._tcp_address = self._behind(ready, "clients at ")
        self._link_address = self._behind(ready, "links at ")

    @staticmethod
    def _behind(ready, words):
        return ready.partition(words)[2].partition(";")[0].split()[-1]

    def is_running(self):
        return self._process.poll() is None

    def send_signal(self, number):
        self._process.send_signal(number)

    def end(self, number=signal.SIGKILL):
        if not self.is_running():
            return
        if number != signal.SIGKILL:
            self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(number)
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise Failure(f"daemon {self.name} does not end") from None
        finally:
            self._process.stdout.close()

    def monitor(self, *arguments):
        finished = subprocess.run([self._programs.spmonitor, "--socket", self._path("admin"), *arguments],
                                  capture_output=True, timeout=PATIENCE_S, check=False)
        if finished.returncode != 0:
            raise Failure(f"spmonitor {' '.join(arguments)}: {finished.stderr.decode()}")
        return finished.stdout.decode()

    def wait_for_view(self, members):
        """Until messages flow in a view with these daemons."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            status = json.loads(self.monitor("status", "--json"))
            if status["settled"] and sorted(status["view"]["members"]) == sorted(members):
                return
            time.sleep(0.02)
        raise Failure(f"daemon {self.name} has no view with {' '.join(members)}, but {status['view']['members']}")

    def log(self):
        with open(self._path("log"), encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-40:])
