"""A hundred thousand messages to a client that is stopped, cut off and continued meanwhile: nothing is lost or doubled,
and its memory does not grow."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

import spindle
from runner.proxy import Proxy
from spindle import sync
from support import PATIENCE_S, DaemonMixin

MESSAGES = 100_000
BYTES = 200
CUTS = 8
RECEIVER = '''
import asyncio, json, pathlib, sys
import spindle
from spindle import sync

ADDRESS, FORM, MESSAGES, CUTS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
expected, resumed, wrong, resident = 0, 0, [], []

def rss():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

def take(event):
    global expected, resumed
    if isinstance(event, spindle.Message):
        number = int(event.payload[:8])
        if number != expected:
            wrong.append((expected, number))
        expected = number + 1
        if expected % (MESSAGES // 10) == 0:
            resident.append(rss())
            print("at", expected, flush=True)
            if expected // (MESSAGES // 10) <= CUTS:
                sys.stdin.readline()  # until it has been cut off
    elif isinstance(event, spindle.Reconnected):
        if event.resumed:
            resumed += 1
        else:
            wrong.append(("anew", expected))
    elif isinstance(event, (spindle.Gap, spindle.Disconnected)):
        wrong.append((type(event).__name__, expected))
    return expected < MESSAGES and not wrong

async def by_loop():
    async with spindle.connect(ADDRESS, name="receiver") as connection:
        await connection.join("den", timeout=30)
        print("ready", flush=True)
        async for event in connection:
            if not take(event):
                break

def by_threads():
    with sync.connect(ADDRESS, name="receiver") as connection:
        connection.join("den", timeout=30)
        print("ready", flush=True)
        for event in connection:
            if not take(event):
                break

asyncio.run(by_loop()) if FORM == "async" else by_threads()
print(json.dumps({"expected": expected, "resumed": resumed, "wrong": wrong, "resident": resident}), flush=True)
'''


class HundredThousand(DaemonMixin, unittest.TestCase):
    def make_settings(self, folder):
        """Whoever is away and has more waiting than this is gone for good."""
        return [("session.queue_hard_bytes", 64 << 20)]

    def receive(self, form):
        # Who is at a unix socket cannot come back.
        proxy = Proxy(self._folder.name + f"/{form}.sock", lambda: self.daemon.client_address("tcp"))
        self.addCleanup(proxy.cut, None)
        program = pathlib.Path(self._folder.name, "receiver.py")
        program.write_text(RECEIVER)
        receiver = subprocess.Popen([sys.executable, str(program), proxy.address, form, str(MESSAGES), str(CUTS)],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                    env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.addCleanup(receiver.stdout.close)
        self.addCleanup(receiver.stdin.close)
        self.addCleanup(receiver.wait)
        self.addCleanup(receiver.kill)
        self.assertEqual("ready\n", receiver.stdout.readline())

        def send():
            padding = b"." * (BYTES - 8)
            with sync.connect(self.address, name="sender") as sender:
                for i in range(MESSAGES):
                    sender.multicast(spindle.Service.AGREED, "den", b"%08d" % i + padding)
                sender.confirm(timeout=4 * PATIENCE_S)
        sending = threading.Thread(target=send)
        sending.start()
        for i in range(CUTS):
            self.assertRegex(receiver.stdout.readline(), "^at ")
            if i % 2 == 0:
                receiver.send_signal(signal.SIGSTOP)
                time.sleep(0.1)  # for what is sent to gather
            proxy.cut(20)
            receiver.send_signal(signal.SIGCONT)
            receiver.stdin.write("go on\n")
            receiver.stdin.flush()
        sending.join(4 * PATIENCE_S)
        lines = receiver.stdout.read().splitlines()
        found = json.loads(lines[-1])
        self.assertEqual((MESSAGES, []), (found["expected"], found["wrong"]))
        self.assertGreaterEqual(found["resumed"], 4)
        # Behind the first fifth nothing is kept but what waits, which may be 8 MiB: all of it would be 20 MB.
        self.assertLess(found["resident"][-1] - found["resident"][1], 10 << 20, found["resident"])
        self.assertEqual(0, receiver.wait(PATIENCE_S))

    def test_on_a_loop(self):
        self.receive("async")

    def test_in_threads(self):
        self.receive("sync")
