"""Processes that talk by lines, and the processor time that processes use."""

import ctypes
import os
import pathlib
import select
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
STOP_SECONDS = 10
LIBC = ctypes.CDLL(None)
PR_SET_TIMERSLACK = 29


class MeasurementFailed(Exception):
    pass


class Disturbed(Exception):
    """The machine itself stood still: the measurement says nothing."""


def read_line(process, seconds):
    """The next line that `process` prints to its pipe; it prints no further one until it is asked to."""
    deadline = time.monotonic() + seconds
    descriptor = process.stdout.fileno()
    line = b""
    while not line.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            raise MeasurementFailed(f"{process.args[0]} (process {process.pid}) said nothing for {seconds} s")
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            raise MeasurementFailed(f"{process.args[0]} ended with status {process.wait()}")
        line += piece
    return line.decode()


def processor_seconds(pids):
    """User and system time used so far by all threads of the processes; the kernel counts in steps of 10 ms."""
    total = 0
    for pid in pids:
        # The name, in parentheses, may contain spaces.
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def machine_seconds():
    """Processor time that was not idle, of all processors, time stolen by the hypervisor included."""
    user, nice, system, _, _, interrupts, soft_interrupts, steal = map(
        int, pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    )
    return (user + nice + system + interrupts + soft_interrupts + steal) / TICKS


def terminate(daemons):
    """Asks the processes to end, all at once, and ends those that do not."""
    for daemon in daemons:
        daemon.terminate()
    for daemon in daemons:
        try:
            daemon.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def run_plotter(command, **options):
    """Runs a program that draws; false where there is no matplotlib. Debian's is for Debian's Python, which need be
    neither this one nor the first in the path."""
    for python in ("python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import matplotlib"], capture_output=True, check=False).returncode == 0:
            subprocess.run([python, *command], check=True, **options)
            return True
    return False


def wake_on_time():
    """To be called in a new process: by default the kernel adds up to 50 us to every sleep, to save wake-ups. What is
    set here a program keeps for all its threads."""
    LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
