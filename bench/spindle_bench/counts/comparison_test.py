"""Shows that the comparison with the baseline finds what has become worse, and nothing else."""

import unittest

from spindle_bench.counts.comparison import DifferentBuild, check_build, merged, ratios, regressions, table

GCC = {"compiler": "GCC 12.2.0", "build_type": "Release"}
BASELINE = {"built": GCC, "instructions": {"send": {"100": 1000.0, "1000": 2000.0}, "decode": {"100": 200.0}}}


class Regressions(unittest.TestCase):
    def test_the_same_is_none(self):
        self.assertEqual(regressions(BASELINE["instructions"], BASELINE), [])

    def test_up_to_five_percent_is_none(self):
        self.assertEqual(regressions({"send": {"100": 1050.0}}, BASELINE), [])

    def test_more_is_one(self):
        self.assertEqual(regressions({"send": {"100": 1051.0, "1000": 2000.0}}, BASELINE), [("send", "100")])

    def test_the_worst_comes_first(self):
        counts = {"send": {"100": 1100.0, "1000": 2100.0, }, "decode": {"100": 300.0}}
        self.assertEqual(regressions(counts, BASELINE), [("decode", "100"), ("send", "100")])

    def test_less_is_none(self):
        self.assertEqual(regressions({"send": {"100": 500.0}}, BASELINE), [])

    def test_what_is_new_is_none(self):
        self.assertEqual(regressions({"forward": {"100": 1e9}, "send": {"10000": 1e9}}, BASELINE), [])


class Ratios(unittest.TestCase):
    def test_are_of_both_paths(self):
        counts = {"feed-nak": {"1000": 1200.0, "100": 1.0}, "feed-packet": {"1000": 1000.0}}
        self.assertEqual(ratios(counts), [("feed-nak", "feed-packet", 1.2, 1.1)])

    def test_are_none_where_one_was_not_counted(self):
        self.assertEqual(ratios({"feed-nak": {"1000": 1200.0}, "feed-packet": {"100": 1000.0}}), [])
        self.assertEqual(ratios(BASELINE["instructions"]), [])


class Builds(unittest.TestCase):
    def test_the_same_build_compares(self):
        check_build(GCC, BASELINE)

    def test_another_one_does_not_and_says_how(self):
        with self.assertRaisesRegex(DifferentBuild, "compiler 'GCC 12.2.0' there, 'Clang 14.0.6' here"):
            check_build(dict(GCC, compiler="Clang 14.0.6"), BASELINE)

    def test_what_the_baseline_does_not_say_differs(self):
        with self.assertRaisesRegex(DifferentBuild, "c_library 'unknown' there, 'glibc 2.36' here"):
            check_build(dict(GCC, c_library="glibc 2.36"), BASELINE)


class Recording(unittest.TestCase):
    def test_what_was_not_counted_stays(self):
        self.assertEqual(merged(BASELINE, GCC, {"send": {"100": 900.0}, "order": {"100": 5.0}}),
                         {"built": GCC, "instructions": {"send": {"100": 900.0, "1000": 2000.0},
                                                         "decode": {"100": 200.0}, "order": {"100": 5.0}}})

    def test_counts_of_another_build_go(self):
        clang = dict(GCC, compiler="Clang 14.0.6")
        self.assertEqual(merged(BASELINE, clang, {"send": {"100": 900.0}}),
                         {"built": clang, "instructions": {"send": {"100": 900.0}}})

    def test_the_first_baseline(self):
        self.assertEqual(merged(None, GCC, {"send": {"100": 900.0}}),
                         {"built": GCC, "instructions": {"send": {"100": 900.0}}})


class Table(unittest.TestCase):
    def test_has_the_change_where_there_is_one(self):
        self.assertEqual(table({"send": {"100": 1100.0}, "forward": {"1000": 70.4}}, BASELINE).splitlines(),
                         ["path     bytes  instructions  baseline   change",
                          "send       100         1,100     1,000  +10.0 %",
                          "forward  1,000            70"])


if __name__ == "__main__":
    unittest.main()
