"""Run from the function's folder: python3 -m unittest discover tests."""

import sys
import unittest
from math import isqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lucas
import main
import sieve


def count(low, high):
    return main.handler({"from": str(low), "to": str(high)})


def odd_composites(limit):
    primes = set(sieve.primes_below(limit))
    return [n for n in range(9, limit, 2) if n not in primes]


class Counts(unittest.TestCase):
    def test_primes_below_powers_of_ten(self):
        for high, primes in [(10, 4), (100, 25), (1000, 168), (10**4, 1229), (10**5, 9592), (10**6, 78498)]:
            got = count(0, high)
            self.assertEqual((got["passed"], got["tested"]), (primes, high))

    def test_from_2_to_the_64th(self):
        # The first 10**5 of [2**64, 2**64 + 10**6); the whole range counts 22206.
        whole = count(2**64, 2**64 + 10**5)
        parts = [count(2**64 + a, 2**64 + a + 10**4) for a in range(0, 10**5, 10**4)]
        self.assertEqual(whole["passed"], sum(p["passed"] for p in parts))
        self.assertEqual(whole["tested"], 10**5)
        self.assertEqual(whole["sample"], [str(2**64 + 13)])

    def test_ranges_join_at_every_cut(self):
        whole = count(0, 130)["passed"]
        for cut in range(131):
            self.assertEqual(count(0, cut)["passed"] + count(cut, 130)["passed"], whole)

    def test_blocks_join(self):
        low = 2**64 + 1
        all_at_once = list(sieve.survivors(low, low + 2 * sieve.BLOCK + 101))
        in_parts = [
            *sieve.survivors(low, low + 12345),
            *sieve.survivors(low + 12345, low + 2 * sieve.BLOCK + 101),
        ]
        self.assertEqual(all_at_once, in_parts)

    def test_empty_range(self):
        self.assertEqual(count(7, 7), {"passed": 0, "sample": [], "tested": 0, "variant": main.VARIANT})


class Traps(unittest.TestCase):
    def test_strong_pseudoprimes_base_2(self):
        got = [n for n in odd_composites(10**6) if main.is_strong_probable_prime_base_2(n)]
        self.assertEqual(got[:5], [2047, 3277, 4033, 4681, 8321])
        self.assertEqual(len(got), 46)
        self.assertFalse(any(map(main.passes_bpsw, got)))

    def test_strong_lucas_pseudoprimes(self):
        composites = [n for n in odd_composites(10**6) if isqrt(n) ** 2 != n]
        got = [n for n in composites if lucas.is_strong_lucas_probable_prime(n)]
        self.assertEqual(got[:5], [5459, 5777, 10877, 16109, 18971])
        self.assertEqual(len(got), 58)
        self.assertFalse(any(map(main.passes_bpsw, got)))

    def test_strong_pseudoprimes_to_many_bases(self):
        psi = [2047, 1373653, 25326001, 3215031751, 2152302898747, 3474749660383, 341550071728321,
               3825123056546413051, 318665857834031151167461, 3317044064679887385961981]
        for n in psi:
            self.assertTrue(main.is_strong_probable_prime_base_2(n), n)
            self.assertFalse(main.passes_bpsw(n), n)

    def test_squares_of_wieferich_primes(self):
        for p in (1093, 3511):
            self.assertTrue(main.is_strong_probable_prime_base_2(p * p))
            self.assertFalse(main.passes_bpsw(p * p))

    def test_lucas_v_pseudoprimes(self):
        for n in (913, 150267335403, 430558874533, 14760229232131, 936916995253453):
            self.assertFalse(main.passes_bpsw(n), n)

    def test_every_small_prime_passes(self):
        for n in sieve.primes_below(20000):
            self.assertTrue(main.passes_bpsw(n), n)

    def test_large_primes(self):
        for n in (2**61 - 1, 2**64 - 59, 2**64 + 13, 2**89 - 1, 2**127 - 1, 10**40 + 121):
            self.assertTrue(main.passes_bpsw(n), n)
            self.assertFalse(main.passes_bpsw(n * (2**61 - 1)), n)


class BadInput(unittest.TestCase):
    def test_refused(self):
        for request in (None, [], {}, {"from": "1"}, {"from": "1", "to": "2", "x": 0}, {"from": 1, "to": 2},
                        {"from": "-1", "to": "2"}, {"from": "", "to": "2"}, {"from": "1e3", "to": "2"},
                        {"from": "٣", "to": "9"}, {"from": "2", "to": "1"},
                        {"from": "0", "to": str(main.MAX_RANGE + 1)},
                        {"from": "0", "to": "1" * (main.MAX_DIGITS + 1)}):
            with self.assertRaises(ValueError, msg=repr(request)):
                main.handler(request)


if __name__ == "__main__":
    unittest.main()
