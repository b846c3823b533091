"""The same file by other means: one TCP connection, or one after the other."""

import pathlib
import resource
import subprocess
import sys
import time

from ..processes import end_all, start, wait_until_ready

PORT = 4900
READY_SECONDS = 10
SCRIPT = pathlib.Path(__file__).with_name("tcp_copy.py")


def tcp_seconds(inside, address, content, place, path=None):
    """From the start of the program that sends until the other one, at `address`, has all of it. `inside`: what goes
    before the commands of both."""
    receiver = start([*inside[1], sys.executable, SCRIPT, "receive", PORT, place])
    try:
        wait_until_ready(receiver, READY_SECONDS, "a plain receiver")
        begin = time.monotonic()
        subprocess.run([*map(str, inside[0]), sys.executable, SCRIPT, "send", address, str(PORT),
                        path or content.path], check=True)
        seconds = time.monotonic() - begin
        receiver.wait(READY_SECONDS)
        content.check(place)
        return seconds
    finally:
        end_all([receiver])


def tcp_to_all(hosts, one, others, content, folder):
    """The same to several at once, a connection for each: seconds until the last has all of it, and what it took of
    processors."""
    folder.mkdir(exist_ok=True)
    places = {other: folder / f"plain-{other}" for other in others}
    used = processor_seconds_of_children()
    receivers = []
    try:
        for other in others:
            receivers.append(start([*hosts.inside(other), sys.executable, SCRIPT, "receive", PORT, places[other]]))
            wait_until_ready(receivers[-1], READY_SECONDS, "a plain receiver")
        begin = time.monotonic()
        senders = [subprocess.Popen([*map(str, hosts.inside(one)), sys.executable, SCRIPT, "send", hosts.address(other),
                                     str(PORT), content.path]) for other in others]
        if any([sender.wait() for sender in senders]):
            raise RuntimeError("a plain copy failed")
        seconds = time.monotonic() - begin
        for receiver in receivers:
            receiver.wait(READY_SECONDS)
        used = processor_seconds_of_children() - used
        for place in places.values():
            content.check(place)
        return seconds, used
    finally:
        end_all(receivers)
        for place in places.values():
            place.unlink(missing_ok=True)


def processor_seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tcp_between(hosts, one, other, content, folder, path=None):
    folder.mkdir(exist_ok=True)
    place = folder / f"plain-{other}"
    try:
        return tcp_seconds((hosts.inside(one), hosts.inside(other)), hosts.address(other), content, place, path)
    finally:
        place.unlink(missing_ok=True)
