"""What the script makes of courses in which admission was switched. No system runs."""

import types
import unittest
import unittest.mock

from spindle_bench.cluster import switching
from spindle_bench.processes import MeasurementFailed

SPAN_NS = 10_000_000


def rounds(*pairs):
    return [{"on": [on for on, _ in pairs], "off": [off for _, off in pairs]}]


def compared(measure, *pairs):
    return switching.compare({"measure": measure, "service": "fifo", "size": 100, "rounds": rounds(*pairs)})


class Slices(unittest.TestCase):
    def test_pairs_begin_with_on_and_with_off_in_turn(self):
        switched = []
        system = types.SimpleNamespace(set_admission=switched.append)
        with unittest.mock.patch("spindle_bench.cluster.switching.sleep_until"):
            slices = switching.switch(system, 0, 1, 4 * switching.SLICE_SECONDS)
        self.assertEqual(switched, [True, False, False, True])
        self.assertEqual([on for on, _, _ in slices], switched)
        for (_, _, end), (_, begin, _) in zip(slices, slices[1:]):
            self.assertLessEqual(end, begin)

    def test_only_spans_that_lie_within_a_slice_count(self):
        fast, slow = [{"span_ns": SPAN_NS, "arrived": arrived} for arrived in ([1, 9, 9, 9, 1], [1, 5, 7, 6, 1])]
        self.assertAlmostEqual(switching.arrived_in([fast, slow], 0.005, 0.045), 18 / 0.03)

    def test_the_latency_is_the_median_of_all_receivers(self):
        spans = [[[9_000, 9]], [[1_000, 2]], [[2_000, 2]], [[9_000, 9]]]
        quick, late = [{"span_ns": SPAN_NS, "latency_ns": spans}, {"span_ns": SPAN_NS, "latency_ns": [[], [[3_000, 9]], []]}]
        self.assertEqual(switching.latency_in([quick], 0.01, 0.03), 1)
        self.assertEqual(switching.latency_in([quick, late], 0.01, 0.03), 3)

    def test_a_slice_that_the_switching_took_up_is_no_slice(self):
        with self.assertRaises(MeasurementFailed):
            switching.arrived_in([{"span_ns": SPAN_NS, "arrived": [1, 1]}], 0.011, 0.019)


class Comparisons(unittest.TestCase):
    def test_the_quotient_is_the_geometric_mean_of_the_pairs(self):
        row = compared("throughput", (200, 100), (100, 200))
        self.assertAlmostEqual(row.quotient, 1)
        self.assertAlmostEqual(row.error, 0.6931, 3)
        self.assertEqual((row.on, row.off, row.pairs), (150, 150, 2))

    def test_throughput_is_to_be_hardly_less_and_latency_hardly_more(self):
        self.assertTrue(compared("throughput", (98, 100)).good)
        self.assertFalse(compared("throughput", (96, 100)).good)
        self.assertTrue(compared("latency", (104, 100)).good)
        self.assertFalse(compared("latency", (106, 100)).good)

    def test_the_table_says_what_falls_short(self):
        text = switching.table([compared("throughput", (96, 100)), compared("latency", (96, 100))])
        self.assertIn("FALLS SHORT", text)
        self.assertIn("ok", text)


if __name__ == "__main__":
    unittest.main()
