"""Processes that talk by lines, and the processor time that processes use."""

import os
import pathlib
import select
import time

TICKS = os.sysconf("SC_CLK_TCK")


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
