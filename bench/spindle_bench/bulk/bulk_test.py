"""Files arrive at all receivers of a few rows, whatever happens on the way: nothing is timed, and contents are small. Where
there are no namespaces with shaped links to be had, the status is 77, and 1 in continuous integration (CI=true)."""

import argparse
import os
import pathlib
import sys
import tempfile
import unittest

from spindle_bench.bulk.resume import crc32c, state_of_zeros
from spindle_bench.bulk.rows import ROWS
from spindle_bench.bulk.setting import Setting
from spindle_bench.field.network import Unavailable, check_available
from spindle_bench.figures import Figure
from spindle_bench.marks import at_most

SKIPPED = 77
BYTES = 20_000_003


class Rows(unittest.TestCase):
    build = None

    def measure(self, row):
        with tempfile.TemporaryDirectory() as folder:
            return ROWS[row](Setting(self.build, pathlib.Path(folder), BYTES, 1, False))

    def test_three_receivers_get_a_file(self):
        self.assertEqual([figure.row for figure in self.measure("star3")], ["star3"])

    def test_they_get_it_whole_where_a_relay_is_killed(self):
        self.measure("relay")

    def test_one_that_is_killed_goes_on(self):
        self.measure("receiver")

    def test_little_comes_beyond_the_content(self):
        for figure in self.measure("overhead"):
            self.assertGreater(figure.value, 0.2)


class Figures(unittest.TestCase):
    def test_what_could_not_be_had_meets_no_mark(self):
        self.assertFalse(Figure("row", "what", None, must=at_most(1)).good)
        self.assertTrue(Figure("row", "what", 1, must=at_most(1)).good)
        self.assertIsNone(Figure("row", "what", 1).good)


class States(unittest.TestCase):
    def test_the_check_sum_is_that_of_rfc_3720(self):
        self.assertEqual(crc32c(bytes(32)), 0x8A9136AA)

    def test_a_state_names_its_blocks_twice_and_has_their_hashes(self):
        state = state_of_zeros(300 << 20, 3)
        self.assertEqual(len(state), 1 + 6 + 5 + 1 + 2 * 3 + 3 * 32 + 4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    arguments, rest = parser.parse_known_args()
    Rows.build = pathlib.Path(arguments.build)
    try:
        check_available()
    except Unavailable as why:
        print(f"bulk_test: skipped: {why}")
        if os.environ.get("CI") == "true":
            print("in continuous integration (CI=true) tests must not be skipped")
            sys.exit(1)
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *rest])
