"""How long the field measures, and what it makes of results. No system runs."""

import types
import unittest

from spindle_bench.field import matrix, pace
from spindle_bench.field.network import MEGABIT, QUEUE_BYTES_MIN, queue_bytes


def result(alone=98.0, tcp=100.0, share=0.5):
    phase = {"wire": alone * MEGABIT, "longest_queue": 30, "longest_pause": 0.1}
    each = {"alone": phase, "together": phase, "tcp": {"wire": tcp * MEGABIT}, "below_tcp": 1 - alone / tcp,
            "tcp_share": share}
    return {"rate": 100 * MEGABIT, "round_trip_ms": 20.0, "congestion_control": "reno",
            "pace": {"together": {"warmup": 8, "seconds": 20}}, "bottlenecks": [each]}


class Pace(unittest.TestCase):
    def test_reno_over_a_long_fast_link_takes_minutes(self):
        alone, together = pace.of(100 * MEGABIT, 100, "reno", 20)
        # Two windows of 826 packets, half of which comes back at a packet in 200 ms.
        self.assertEqual(alone, (42, 20))
        self.assertEqual(together, (248, 180))

    def test_cubic_does_not(self):
        self.assertLess(pace.of(100 * MEGABIT, 100, "cubic", 20)[1].warmup, 60)

    def test_a_slow_link_is_measured_for_as_long_as_told(self):
        self.assertEqual(pace.of(2 * MEGABIT, 20, "reno", 20)[1], (8, 20))


class Queue(unittest.TestCase):
    def test_it_is_a_round_trip_50_ms_or_eight_frames(self):
        self.assertEqual(queue_bytes(100 * MEGABIT, 100), 1_250_000)
        self.assertEqual(queue_bytes(100 * MEGABIT, 20), 625_000)
        self.assertEqual(queue_bytes(MEGABIT, 20), QUEUE_BYTES_MIN)


class Matrix(unittest.TestCase):
    def test_every_rate_meets_every_round_trip_and_tcp(self):
        options = types.SimpleNamespace(rates=[2, 10], round_trips=[20, 100], tcps=["cubic", "reno"])
        self.assertEqual(len(set(matrix.cells(options))), 8)

    def test_what_falls_short_is_marked(self):
        for good, figures in ((True, {}), (False, {"alone": 96.9}), (False, {"share": 0.39}), (False, {"share": 0.61})):
            results = [result(), result(**figures)]
            self.assertEqual(matrix.all_good(results), good, figures)
            self.assertEqual("FALLS SHORT" in matrix.table(results), not good, figures)


if __name__ == "__main__":
    unittest.main()
