"""Run from the function's folder: python3 -m unittest discover tests."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import main

PSI_12 = 318665857834031151167461
PSI_13 = 3317044064679887385961981


class Proofs(unittest.TestCase):
    def test_small(self):
        primes = [n for n in range(1000) if main.is_prime(n)]
        want = [n for n in range(2, 1000) if all(n % d for d in range(2, n))]
        self.assertEqual(primes, want)

    def test_shape(self):
        self.assertEqual(main.handler("18446744073709551629"), {
            "n": "18446744073709551629", "prime": True, "proof": "miller-rabin-13",
            "bases": [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41], "bound": str(PSI_13),
        })

    def test_psi_12_passes_12_bases_and_is_composite(self):
        self.assertEqual(PSI_12, 399165290221 * 798330580441)
        self.assertTrue(all(main.is_strong_probable_prime(PSI_12, b) for b in main.BASES[:12]))
        self.assertFalse(main.handler(str(PSI_12))["prime"])

    def test_psi_13_passes_13_bases_and_is_refused(self):
        self.assertEqual(PSI_13, 1287836182261 * 2575672364521)
        self.assertTrue(all(main.is_strong_probable_prime(PSI_13, b) for b in main.BASES))
        with self.assertRaisesRegex(ValueError, "proves nothing"):
            main.handler(str(PSI_13))

    def test_just_below_the_bound(self):
        self.assertFalse(main.handler(str(PSI_13 - 1))["prime"])
        self.assertFalse(main.handler(str(PSI_13 - 2))["prime"])

    def test_refused(self):
        for item in (None, 7, {}, "", "-7", "7.0", "x", "٣", "9" * 5000):
            with self.assertRaises(ValueError, msg=repr(item)):
                main.handler(item)

    def test_leading_zeros_are_dropped(self):
        self.assertEqual(main.handler("007")["n"], "7")


if __name__ == "__main__":
    unittest.main()
