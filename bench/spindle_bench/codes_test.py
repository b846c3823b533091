"""What is made of the counts and rates of codes."""

import unittest

from . import codes


class Law(unittest.TestCase):
    def test_chances_are_those_of_binomial_counts(self):
        self.assertEqual(codes.chance_of(0, 10, 0.5), 1)
        self.assertAlmostEqual(codes.chance_of(10, 10, 0.5), 0.5**10)
        self.assertAlmostEqual(codes.chance_of(5, 9, 0.5), 0.5)
        self.assertAlmostEqual(codes.chance_of(1, 10**7, 1e-6), 1 - (1 - 1e-6) ** 10**7)

    def test_counts_may_be_larger_by_chance_only(self):
        self.assertTrue(codes.is_lawful(0, 10**7, 1e-6))
        self.assertTrue(codes.is_lawful(20, 10**7, 1e-6))
        self.assertFalse(codes.is_lawful(21 + 2, 10**7, 1e-6))
        self.assertTrue(codes.is_lawful(60_000, 10**7, 1e-2))
        self.assertFalse(codes.is_lawful(102_000, 10**7, 1e-2))


class Marks(unittest.TestCase):
    def test_ratios_are_medians_over_rounds(self):
        encode = codes.MEASUREMENTS[0]
        row, good = codes.judge(encode, [[2, 1], [3, 3], [9, 3]])
        self.assertEqual(row[1:4], ["3.00", "3.00", "2.00"])
        self.assertTrue(good)
        self.assertFalse(codes.judge(encode, [[1, 1]])[1])

    def test_without_the_crate_only_rates_have_marks(self):
        self.assertIsNone(codes.judge(codes.MEASUREMENTS[0], [[1]])[1])
        self.assertFalse(codes.judge(codes.MEASUREMENTS[2], [[2.9]])[1])


if __name__ == "__main__":
    unittest.main()
