"""What a system is to the measurements.

    name, version
    services                those of its messages, by Spindle's names for them
    fans_out                whether one of its daemons serves many programs
    takes_tls               whether what it sends can be encrypted; nothing: it can not
    warmup_seconds          what it needs before a measurement at least
    start(), stop()         its daemons, one on each host
    daemon_pids()
    client_command(host)    runs the load at the daemon of that host; the options of member_program.cpp are added
"""

import pathlib
import shutil
import subprocess

BENCH = pathlib.Path(__file__).resolve().parents[3]
BUILD_SECONDS = 900


class Absent(Exception):
    """The system cannot be had on this machine."""


def need(program, what, remedy="tools/bootstrap --peers installs it"):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if not path:
        raise Absent(f"no {what} here ({remedy})")
    return path


def build(command, folder, what):
    """What a peer needs and the build of Spindle does not make; it may come from the network, once."""
    try:
        done = subprocess.run([str(part) for part in command], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=BUILD_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Absent(f"{what}: not built after {BUILD_SECONDS} s") from error
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or str(done.returncode)).splitlines()[-1]
        raise Absent(f"{what}: {last}")
    return done.stdout
