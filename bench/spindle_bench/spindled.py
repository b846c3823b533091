"""Spindle's daemon as a process."""

import pathlib
import subprocess

from .processes import end_all, read_line

START_SECONDS = 10
END_SECONDS = 5


def is_settled(status, members):
    """By what `spmonitor --json status` says of a daemon: whether it is in a view of so many, which is complete."""
    return status.get("settled", False) and len(status["view"]["members"]) == members


def quoted(text):
    return f'"{text}"' if text else ""


class Daemon:
    """One spindled that is called `name`, with its files in `folder`."""

    def __init__(self, build, folder, name, cluster):
        self.program = pathlib.Path(build, "spindled").resolve()
        self.monitor = pathlib.Path(build, "tools", "spmonitor").resolve()
        self.folder = pathlib.Path(folder)
        self.name = name
        self.cluster = cluster
        self.socket = self.folder / f"{name}.sock"
        self.admin_socket = self.folder / f"{name}.admin"
        self.process = None
        self.ready = None  # what it has said when it was

    def start(self, links, neighbours, inside=(), admission=True, clients="", bundle=None, settings=()):
        """It waits for links at `links`, and for clients at its socket and at the address `clients`, if there is one;
        it dials `neighbours`. Without a `bundle` of certificates nothing is encrypted. `inside` goes before the
        command; `settings` are further lines of its configuration."""
        config = self.folder / f"{self.name}.toml"
        lines = [
            f'[daemon]\nname = "{self.name}"\ncluster = "{self.cluster}"',
            f'[listen]\nclients = [{quoted(clients)}]\nclient_socket = "{self.socket}"',
            f'admin_socket = "{self.admin_socket}"\nlinks = ["{links}"]',
            f'[tls]\nbundle = "{bundle}"' if bundle else "[tls]\ninsecure = true",
            f"[admission]\nenabled = {'true' if admission else 'false'}",
            f'[log]\nlevel = "info"\nfile = "{self.folder / self.name}.log"',
            *settings,
            *(f'[[neighbour]]\naddress = "{address}"' for address in neighbours),
        ]
        config.write_text("\n".join(lines) + "\n")
        self.process = subprocess.Popen([*inside, str(self.program), "--config", str(config)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.ready = read_line(self.process, START_SECONDS)

    def end(self):
        """Also where it was not started, or did not say that it was."""
        if self.process:
            end_all([self.process], patience=END_SECONDS)

    def monitor_command(self, *question):
        return [self.monitor, "--socket", self.admin_socket, *question]
