"""Run from the function's folder: python3 -m unittest discover tests."""

import random
import sys
import unittest
from math import gcd, isqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import arithmetic
import factoring
import main
import proving

PSI_12 = 318665857834031151167461
PSI_13 = 3317044064679887385961981
M_127 = 2**127 - 1


def fields(block):
    pairs = [line.split() for line in block.splitlines()[1:] if not line.startswith("-")]
    return {name: int(value) for name, value in pairs}


def holds(text, n):
    """Verifies a certificate in a way of its own, slowly and with no more than Python's numbers."""
    parts = text.split("\nType ")
    assert parts[0].split() == f"[MPU - Primality Certificate] Version 1.0 Proof for: N {n}".split()
    rests = {}
    for part in parts[1:]:
        kind, f = part.splitlines()[0], fields(part.strip())
        m, qs = f["N"], [v for k, v in f.items() if k.startswith("Q")]
        last = m - 1
        if kind == "Lucas":
            for q in qs:
                assert pow(f["A"], last // q, m) != 1
                while last % q == 0:
                    last //= q
            assert last == 1 and pow(f["A"], m - 1, m) == 1
        elif kind == "BLS3":
            q = f["Q"]
            assert last % q == 0 and q % 2 and (2 * q + 1) ** 2 > m
            assert pow(f["A"], last // 2, m) == last and pow(f["A"], last // q // 2, m) != last
        elif kind == "BLS15":
            q = f["Q"]
            assert (m + 1) % q == 0 and q % 2 and (2 * q - 1) ** 2 > m
            assert arithmetic.jacobi(f["LP"] ** 2 - 4 * f["LQ"], m) == -1
            assert naive_v(f["LP"], f["LQ"], (m + 1) // 2, m) == 0 and naive_v(f["LP"], f["LQ"], (m + 1) // q // 2, m) != 0
        elif kind == "BLS5":
            part_f, rest = 1, last
            for i in range(len(qs) + 1):
                q = f[f"Q[{i}]"] if i else 2
                a = f.get(f"A[{i}]", 2)
                assert pow(a, last, m) == 1 and gcd(pow(a, last // q, m) - 1, m) == 1
                while rest % q == 0:
                    rest, part_f = rest // q, part_f * q
            s, r = divmod(rest, 2 * part_f)
            assert m < (part_f + 1) * (2 * part_f**2 + (r - 1) * part_f + 1)
            d = r * r - 8 * s
            assert s == 0 or d < 0 or isqrt(d) ** 2 != d
        else:
            assert kind == "Small" and m < 2**64, kind
        assert m not in rests
        rests[m] = qs
    todo = [n]
    while todo:
        m = todo.pop()
        if m in rests:
            todo += rests[m]
        else:
            assert m < 2**64 and arithmetic.is_small_prime(m), m
    return True


def naive_v(p, q, k, n):
    """V_k as the trace of the k-th power of the matrix ((p, -q), (1, 0))."""

    def times(a, b):
        return (
            (a[0] * b[0] + a[1] * b[2]) % n, (a[0] * b[1] + a[1] * b[3]) % n,
            (a[2] * b[0] + a[3] * b[2]) % n, (a[2] * b[1] + a[3] * b[3]) % n,
        )

    result, power = (1, 0, 0, 1), (p, -q, 1, 0)
    while k:
        if k & 1:
            result = times(result, power)
        power, k = times(power, power), k >> 1
    return (result[0] + result[3]) % n


def next_probable_prime(n):
    n |= 1
    while arithmetic.witness(n, arithmetic.BASES) is not None:
        n += 2
    return n


class Certify(unittest.TestCase):
    def test_small(self):
        for n in range(2, 3000):
            said = main.handler(str(n))
            self.assertEqual(said["verdict"] == "prime", all(n % d for d in range(2, isqrt(n) + 1)), n)
            if said["verdict"] == "composite":
                self.assertEqual(n % int(said["factor"]), 0)

    def test_shape(self):
        self.assertEqual(main.handler("18446744073709551629"), {
            "n": "18446744073709551629", "verdict": "prime", "proof": "miller-rabin-13",
            "bases": [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41],
        })
        self.assertEqual(main.handler("91"), {"n": "91", "verdict": "composite", "proof": "factor", "factor": "7"})

    def test_traps(self):
        self.assertEqual(main.handler(str(PSI_12)), {"n": str(PSI_12), "verdict": "composite", "proof": "witness", "witness": "41"})
        self.assertEqual(main.handler(str(PSI_13)), {"n": str(PSI_13), "verdict": "composite", "proof": "witness", "witness": "43"})

    def test_either_side_of_the_bound(self):
        self.assertEqual(main.handler("3317044064679887385961813")["proof"], "miller-rabin-13")
        self.assertEqual(main.handler("3317044064679887385962123")["proof"], "certificate")

    def test_certificates_hold(self):
        draw = random.Random(1)
        for digits in (25, 26, 28, 30, 32, 34, 36, 38, 40):
            for _ in range(3):
                n = next_probable_prime(draw.randrange(max(PSI_13, 10 ** (digits - 1)), 10**digits))
                said = main.handler(str(n))
                self.assertEqual((said["verdict"], said["proof"]), ("prime", "certificate"))
                self.assertTrue(holds(said["certificate"], n))

    def test_large_numbers_with_a_known_side(self):
        # Numbers of Proth, and one of Mersenne: n-1 has many small factors.
        for n in (3 * 2**353 + 1, 3 * 2**534 + 1, 2**521 - 1):
            self.assertTrue(holds(main.handler(str(n))["certificate"], n))

    def test_n_plus_1(self):
        q = 175806402118016161687545467551367
        n = 8087094497428743437627091507362881
        steps = {}
        proving.plus_1(n, steps, 0)
        self.assertEqual(steps[n][:3], ["Type BLS15", f"N {n}", f"Q {q}"])
        text = "\n".join(["[MPU - Primality Certificate]", "Version 1.0", "", "Proof for:", f"N {n}"])
        for number in steps:
            text += "\n\n" + "\n".join(steps[number])
        self.assertTrue(holds(text + "\n", n))

    def test_pratt(self):
        for n in (97, 18446744073709551629, M_127):
            said = main.handler({"n": str(n), "form": "pratt"})
            self.assertTrue(holds(said["certificate"], n))
            self.assertNotIn("BLS", said["certificate"])
        self.assertIn("Type Small", main.handler({"n": "3", "form": "pratt"})["certificate"])

    def test_composites(self):
        draw = random.Random(2)
        for _ in range(20):
            p = next_probable_prime(draw.randrange(10**17, 10**18))
            q = next_probable_prime(draw.randrange(10**17, 10**18))
            said = main.handler(str(p * q))
            self.assertEqual(said["verdict"], "composite")
            if said["proof"] == "factor":
                self.assertIn(int(said["factor"]), (p, q))
            else:
                self.assertFalse(arithmetic.is_strong_probable_prime(p * q, int(said["witness"])))
        said = main.handler(str(M_127 * M_127))
        self.assertEqual(said["verdict"], "composite")

    def test_carmichael_numbers(self):
        # (6k+1)(12k+1)(18k+1) with all three prime passes Fermat's test to every base that is coprime to it.
        for k in (1, 6, 35, 1 << 20):
            while not all(arithmetic.is_small_prime(m * k + 1) for m in (6, 12, 18)):
                k += 1
            self.assertEqual(main.handler(str((6 * k + 1) * (12 * k + 1) * (18 * k + 1)))["verdict"], "composite")

    def test_the_same_twice(self):
        n = str(next_probable_prime(10**39 + 7))
        self.assertEqual(main.handler(n), main.handler(n))

    def test_factoring(self):
        for p, q in ((1000003, 1000033), (10**9 + 7, 10**12 + 39), (99999999977, 99999999947)):
            self.assertIn(factoring.split(p * q), (p, q))
            self.assertEqual(sorted(factoring.factors(p * q, lambda: False)), sorted((p, q)))
        found = [factoring.curve(10000000000037 * 100000000000000003, s, 2000) for s in range(6, 40)]
        self.assertTrue({10000000000037, 100000000000000003} & set(found), "a curve finds one")
        smooth = 2**5 * 3**3 * 7 * 11 * 13 * 17 * 19 * 101 * 103 + 1
        while not arithmetic.is_small_prime(smooth):
            smooth += 2**5 * 3**3 * 7 * 11 * 13 * 17 * 19 * 101 * 103
        self.assertEqual(factoring.p_minus_1(smooth * 1000000000000000003), smooth)

    def test_refused(self):
        for item in (None, 7, {}, {"n": "7"}, {"n": "7", "form": "ecpp"}, "", "0", "1", "007", "-7", "7.0", "x", "٣", "9" * 309):
            with self.assertRaises(ValueError, msg=repr(item)):
                main.handler(item)

    def test_what_is_too_hard_is_no_guess(self):
        kept = proving.certificate

        def fails(n, form):
            raise proving.Unproved

        main.certificate = fails
        try:
            with self.assertRaisesRegex(ValueError, "no proof was found"):
                main.handler(str(M_127))
        finally:
            main.certificate = kept


if __name__ == "__main__":
    unittest.main()
