"""Decides whether an integer is prime, with evidence that anybody checks in milliseconds.

Below LIMIT the first 13 primes as bases of the Miller-Rabin test decide (Sorenson and Webster, 2015): a composite has one of them as its
witness. examples/certify goes on beyond, with certificates.
"""

BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
LIMIT = 3317044064679887385961981


def handler(item):
    """Takes an integer as a decimal string, and returns a statement about it with its evidence."""
    n = int(item)
    if str(n) != item or not 2 <= n < LIMIT:
        raise ValueError(f"{item!r:.80} is no integer from 2 to {LIMIT - 1}")
    for p in BASES:
        if n % p == 0 and n > p:
            return {"n": item, "verdict": "composite", "proof": "factor", "factor": str(p)}
    for base in BASES:
        if n != base and not passes(n, base):
            return {"n": item, "verdict": "composite", "proof": "witness", "witness": str(base)}
    return {"n": item, "verdict": "prime", "proof": "miller-rabin-13", "bases": list(BASES)}


def passes(n, base):
    """Reports whether the odd n is a strong probable prime to a base."""
    s = (n - 1 & 1 - n).bit_length() - 1
    x = pow(base, n - 1 >> s, n)
    if x == 1 or x == n - 1:
        return True
    for _ in range(s - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False
