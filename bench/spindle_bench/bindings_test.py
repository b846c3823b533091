"""What is judged of the Python package beside its peers, and what a member holds messages to."""

import argparse
import importlib.util
import pathlib
import unittest

from . import bindings_python as beside

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "hosts" / "bindings" / "python_member.py"


def member():
    found = importlib.util.spec_from_file_location("python_member", SOURCE)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


class Rows(unittest.TestCase):
    def rows(self, clients):
        keys = [(client, key) for client in clients for key in (*beside.RATES, "p50_us", "p99_us")]
        return {row[0]: row[1:] for row in beside.rows_of(clients, dict.fromkeys(keys, 100.0))}

    def test_each_peer_is_beside_its_own_form(self):
        rows = self.rows(["spindle", "spindle_sync", "zmq", "zmq_asyncio"])
        rows.update(self.rows(["spindle", "spindle_sync", "nats", "zmq"]))
        self.assertEqual((1.0, 1.0, beside.at_least(1.5)), rows["Spindle, sync / pyzmq, 100 bytes"])
        self.assertIn("Spindle, asyncio / pyzmq, asyncio, 1000 bytes", rows)
        self.assertEqual(beside.LATENCY["nats"], rows["Spindle, asyncio / nats-py, p50"][2])

    def test_who_is_absent_is_not_judged(self):
        rows = self.rows(["spindle", "spindle_sync"])
        self.assertFalse([what for what in rows if " / " in what])
        for peer in ("nats-py", "pyzmq", "pyzmq, asyncio"):
            figure, judged, mark = rows[f"{peer} was measured"]
            self.assertFalse(mark.holds(judged), peer)


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


if __name__ == "__main__":
    unittest.main()
