"""A way between two network namespaces takes as long as the delay line is told, at least. Where there are no namespaces
or TUN devices to be had the status is 77, and 1 in continuous integration (CI=true)."""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import unittest

from spindle_bench.field.network import Network, Unavailable, check_available
from spindle_bench.processes import read_line

SKIPPED = 77
ROUND_TRIP_MS = 60
RATE = 10_000_000
START_SECONDS = 10
PROBES = 5

# Give back what comes, and print the seconds from a datagram to its return. The first may wait for addresses.
ECHO = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7))
print("ready", flush=True)
while True:
    s.sendto(*s.recvfrom(2000))
"""
PROBE = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(10)
for number in range(int(sys.argv[2])):
    begin = time.monotonic()
    s.sendto(bytes([number]) * 1000, (sys.argv[1], 7))
    assert s.recv(2000) == bytes([number]) * 1000
    print(time.monotonic() - begin)
"""


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    return parser.parse_known_args()


class DelayLine(unittest.TestCase):
    program = None

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def network(self):
        links = {("x", "y"): RATE, ("y", "z"): RATE}
        return self.stack.enter_context(Network(links, round_trips={("x", "y"): ROUND_TRIP_MS},
                                                delay_line=self.program))

    def round_trips(self, network, host, peer):
        echo = subprocess.Popen(network.inside(peer) + [sys.executable, "-c", ECHO, network.address(peer, host)],
                                stdout=subprocess.PIPE)
        try:
            read_line(echo, START_SECONDS)
            done = subprocess.run(
                network.inside(host) + [sys.executable, "-c", PROBE, network.address(peer, host), str(PROBES)],
                stdout=subprocess.PIPE, text=True, check=True)
        finally:
            echo.kill()
            echo.wait()
            echo.stdout.close()
        return [float(line) for line in done.stdout.split()]

    def test_no_round_trip_is_shorter_than_the_delay(self):
        network = self.network()
        trips = self.round_trips(network, "x", "y") + self.round_trips(network, "y", "x")
        self.assertEqual(len(trips), 2 * PROBES)
        for seconds in trips:
            self.assertGreaterEqual(seconds, ROUND_TRIP_MS / 1000)

    def test_a_link_without_one_carries_as_well(self):
        self.assertEqual(len(self.round_trips(self.network(), "y", "z")), PROBES)

    def test_what_has_passed_is_told_at_the_end(self):
        network = self.network()
        self.round_trips(network, "x", "y")
        counts = network.delay_line_counts("x", "y")
        for direction in ("there", "back"):
            self.assertGreaterEqual(counts[direction]["frames"], PROBES)
            self.assertEqual(counts[direction]["dropped"], 0)

    def test_what_finds_no_room_is_dropped_and_counted(self):
        network = self.network()
        line = subprocess.Popen(
            [self.program, "--ends", f"{network.namespace('x')}:long", f"{network.namespace('z')}:long",
             "--delay-ms", "10000", "--room-bytes", "2048"], stdout=subprocess.PIPE)
        try:
            read_line(line, START_SECONDS)
            inside = network.inside("x")
            subprocess.run([*inside, "ip", "addr", "add", "10.98.0.1/24", "dev", "long"], check=True)
            subprocess.run([*inside, "ip", "link", "set", "long", "up"], check=True)
            subprocess.run([*inside, "ip", "neigh", "add", "10.98.0.2", "lladdr", "02:00:00:00:00:02", "dev", "long"],
                           check=True)
            send = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
                    "[s.sendto(bytes(1000), ('10.98.0.2', 7)) for _ in range(5)]")
            subprocess.run([*inside, sys.executable, "-c", send], check=True)
            line.terminate()
            # Two of the frames are longer than the room; the kernel may have sent some of its own before.
            self.assertGreaterEqual(json.loads(read_line(line, START_SECONDS))["there"]["dropped"], 4)
            self.assertEqual(line.wait(START_SECONDS), 0)
        finally:
            line.kill()
            line.wait()
            line.stdout.close()

    def test_it_says_what_is_wrong(self):
        for ends, what in ((["nowhere:a", "nowhere:b"], "nowhere"), (["a", "b"], "NAMESPACE:DEVICE")):
            done = subprocess.run([self.program, "--ends", *ends, "--delay-ms", "1"], capture_output=True, text=True,
                                  check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    arguments, rest = parse_arguments()
    DelayLine.program = str(pathlib.Path(arguments.build) / "bench" / "delay_line")
    try:
        check_available(DelayLine.program)
    except Unavailable as why:
        print(f"delay_line_test: skipped: {why}")
        if os.environ.get("CI") == "true":
            print("in continuous integration (CI=true) tests must not be skipped")
            sys.exit(1)
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *rest])
