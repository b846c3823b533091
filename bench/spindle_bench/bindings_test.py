"""What is judged of clients for Python and Java beside their peers, and what members hold messages to."""

import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from . import bindings_java
from . import bindings_python as beside
from .cluster.systems.java import LOAD

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "hosts" / "bindings" / "python_member.py"


def member():
    found = importlib.util.spec_from_file_location("python_member", SOURCE)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


class Rows(unittest.TestCase):
    def rows(self, clients):
        keys = [(client, key) for client in (*clients, "cpp") for key in (*beside.RATES, "p50_us", "p99_us")]
        return {row[0]: row[1:] for row in beside.rows_of(clients, dict.fromkeys(keys, 100.0))}

    def test_each_peer_is_beside_its_own_form(self):
        rows = self.rows(["spindle", "spindle_sync", "zmq", "zmq_asyncio"])
        rows.update(self.rows(["spindle", "spindle_sync", "nats", "zmq"]))
        self.assertEqual((1.0, 1.0, beside.at_least(1.5)), rows["Spindle, sync / pyzmq, 100 bytes"])
        self.assertIn("Spindle, asyncio / pyzmq, asyncio, 1000 bytes", rows)
        self.assertEqual(beside.LATENCY["nats"], rows["Spindle, asyncio / nats-py, p50"][2])
        self.assertEqual((0.0, 0.0, beside.ABOVE_CPP), rows["Spindle, sync - Spindle, C++, p50, us"])

    def test_who_is_absent_is_not_judged(self):
        rows = self.rows(["spindle", "spindle_sync"])
        self.assertFalse([what for what in rows if " / " in what])
        for peer in ("nats-py", "pyzmq", "pyzmq, asyncio"):
            figure, judged, mark = rows[f"{peer} was measured"]
            self.assertFalse(mark.holds(judged), peer)


class Interpreter(unittest.TestCase):
    def test_is_of_the_version_that_the_package_is_built_for(self):
        self.assertEqual(sys.executable, beside.default_interpreter("/nowhere/python3"))
        self.assertEqual(sys.executable, beside.default_interpreter("/bin/false"))
        with tempfile.TemporaryDirectory() as folder:
            system = pathlib.Path(folder) / "python3"
            for version, expected in (((2, 7), sys.executable), (sys.version_info, str(system))):
                system.write_text(f"#!/bin/sh\necho {version[0]} {version[1]}\n")
                system.chmod(0o755)
                self.assertEqual(expected, beside.default_interpreter(str(system)))


class Load(unittest.TestCase):
    def load(self, **options):
        options = {"me": 1, "members": 3, "size": 100, "rate": 0, "seconds": 1, **options}
        load = member().Load(argparse.Namespace(**options))
        load.begin()
        return load

    def test_messages_come_whole_and_in_order(self):
        load = self.load()
        first, second, third = load.next(), load.next(), load.next()
        load.take(second)  # the first may be missed
        load.take(third)
        self.assertEqual((3, 2), (load.expected[1], load.received))
        for wrong in (third, first, load.next()[:-1]):
            with self.assertRaises(RuntimeError):
                load.take(wrong)

    def test_no_more_is_under_way_than_is_to_be(self):
        for size, most in ((100, 1000), (1000, 262)):
            load = self.load(size=size)
            sent = [load.next() for _ in range(most)]
            self.assertEqual((size, None), (len(sent[-1]), load.next()))
            load.take(sent[0])
            self.assertIsNotNone(load.next())


class JavaRows(unittest.TestCase):
    throughput = bindings_java.Kind("throughput", "agreed", 100)
    latency = bindings_java.Kind("latency", "agreed", 100)

    def rows(self, kind, figures):
        medians = {(name, kind): {"client_seconds_per_million": 1.0, "allocated_per_message": 170.0, "p99_us": 1.0, **figure}
                   for name, figure in figures.items()}
        return {row[0]: row[1:] for row in bindings_java.rows_of(kind, medians)}

    def test_rates_and_ratios(self):
        rates = {"java": 1_600_000, "cpp": 2_000_000, "jgroups": 400_000, "jnats": 200_000}
        rows = self.rows(self.throughput, {name: {"messages_per_second": rate} for name, rate in rates.items()})
        missed = {what for what, (_, judged, mark) in rows.items() if mark and not mark.holds(judged)}
        self.assertEqual({"Spindle, Java / JGroups, agreed, 100 bytes"}, missed)
        self.assertEqual(8.0, rows["Spindle, Java / jnats, agreed, 100 bytes"][0])

    def test_a_third_object_is_too_much(self):
        mark = bindings_java.ALLOCATED[100]
        self.assertTrue(mark.holds(180))
        self.assertFalse(mark.holds(180 + 16))

    def test_latency_is_beside_all(self):
        rows = self.rows(self.latency, {"java": {"p50_us": 240.0}, "cpp": {"p50_us": 199.0}, "jnats": {"p50_us": 300.0}})
        missed = {what for what, (_, judged, mark) in rows.items() if mark and not mark.holds(judged)}
        self.assertEqual({"Spindle, Java - Spindle, C++, p50, us", "JGroups was measured, agreed, 100 bytes"}, missed)

    def test_kinds(self):
        self.assertEqual([self.throughput, self.latency], list(bindings_java.kinds(["latency", "agreed"], [100])))
        self.assertNotIn("jnats", bindings_java.Kind("throughput", "fifo", 100).systems())


LOOPBACK = """
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;

/** What is sent comes back, but for what the options leave out. */
final class Loopback implements Member {
    private final LinkedBlockingQueue<byte[]> way = new LinkedBlockingQueue<>();
    private final int lost;
    private int sent;

    Loopback(Map<String, String> options) { lost = Integer.parseInt(options.get("--lost")); }

    @Override
    public void join(int members, Member.Receiver receiver) {
        Thread thread = new Thread(() -> {
            try {
                while (true) receiver.receive(way.take(), 0, 100);
            } catch (InterruptedException end) {
                return;
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void send(byte[] payload) { if (sent++ != lost) way.add(payload.clone()); }

    public static void main(String[] arguments) throws Exception { MemberProgram.run(arguments, Loopback::new); }
}
"""


@unittest.skipUnless(shutil.which("javac"), "there is no JDK")
class JavaLoad(unittest.TestCase):
    """The load of all members in Java, with itself alone."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        source = pathlib.Path(cls.folder.name, "Loopback.java")
        source.write_text(LOOPBACK, encoding="utf-8")
        subprocess.run(["javac", "-d", cls.folder.name, source, *LOAD.glob("*.java")], check=True)

    def run_member(self, measure, lost=-1):
        options = {"member": 0, "members": 1, "senders": 1, "group": "g", "service": "fifo", "measure": measure, "size": 100,
                   "window": 50, "rate": 2000, "warmup": 0, "seconds": 0.5, "lost": lost}
        command = ["java", "-cp", self.folder.name, "Loopback"]
        command += [text for key, value in options.items() for text in (f"--{key}", str(value))]
        return subprocess.run(command, input=f"go {time.monotonic_ns() + 10 ** 9}\n", capture_output=True, text=True, timeout=50, check=False)

    def test_what_comes_back_is_counted(self):
        for measure in ("throughput", "latency"):
            done = self.run_member(measure)
            self.assertEqual(0, done.returncode, done.stderr)
            ready, result = done.stdout.splitlines()
            self.assertEqual("ready", ready)
            self.assertLess(100, json.loads(result)["messages"], measure)

    def test_what_is_lost_is_noticed(self):
        for measure in ("throughput", "latency"):
            done = self.run_member(measure, lost=7)
            self.assertEqual((1, "member: message 8 of sender 0 arrived instead of 7\n"), (done.returncode, done.stderr))


if __name__ == "__main__":
    unittest.main()
