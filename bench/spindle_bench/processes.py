"""Processes that talk by lines, and the processor time that processes use."""

import contextlib
import ctypes
import os
import pathlib
import select
import subprocess
import time

from .console import say

TICKS = os.sysconf("SC_CLK_TCK")
LOOK_SECONDS = 0.02
# At one measurement that the machine disturbs.
ATTEMPTS = 3
LIBC = ctypes.CDLL(None)
PR_SET_TIMERSLACK = 29


class MeasurementFailed(Exception):
    pass


class Disturbed(Exception):
    """The machine itself stood still: the measurement says nothing."""


def undisturbed(measure):
    """What `measure` returns, which is called anew where it was disturbed."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return measure()
        except Disturbed as reason:
            say(f"disturbed ({attempt} of {ATTEMPTS}): {reason}")
    raise MeasurementFailed(f"disturbed {ATTEMPTS} times: this machine is not fit for measuring now")


def start(command, **options):
    """With pipes to talk by."""
    return subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)


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


def wait_until_ready(process, seconds, what):
    if read_line(process, seconds).strip() != "ready":
        raise MeasurementFailed(f"{what} did not get ready")


def tell(process, line):
    process.stdin.write(f"{line}\n".encode())
    process.stdin.flush()


def end_input(process, seconds):
    """For programs that go on until their input ends: the status, or None where one had to be killed."""
    process.stdin.close()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def end_all(processes, patience=0):
    """Kills them all at once, or asks them to end, and kills those that have not done so after `patience` seconds."""
    processes = list(processes)
    for process in processes:
        if process.poll() is None:
            process.terminate() if patience else process.kill()
    for process in processes:
        try:
            process.wait(patience or None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise MeasurementFailed(f"{what}: not after {seconds} s")
        time.sleep(LOOK_SECONDS)


def show_logs(folder):
    """The ends of all log files in it, however deep."""
    for log in sorted(pathlib.Path(folder).rglob("*.log")):
        say("\n".join([f"--- {log.relative_to(folder)}", *log.read_text().splitlines()[-20:]]))


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


def wake_on_time():
    """To be called in a new process: by default the kernel adds up to 50 us to every sleep, to save wake-ups. What is
    set here a program keeps for all its threads."""
    LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
