"""Counts the primes of a half-open range by the Miller-Rabin test.

With the first 13 primes as bases the test is right for every integer below
3317044064679887385961981 (Sorenson and Webster, 2015).
"""

BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
LIMIT = 3317044064679887385961981


def is_prime(n):
    """Reports whether n, below LIMIT, is prime."""
    if n < 2:
        return False
    for p in BASES:
        if n % p == 0:
            return n == p
    s = (n - 1 & 1 - n).bit_length() - 1
    d = n - 1 >> s
    return all(passes(n, base, d, s) for base in BASES)


def passes(n, base, d, s):
    """Reports whether n is a strong probable prime to a base; n - 1 is d * 2**s."""
    x = pow(base, d, n)
    if x == 1 or x == n - 1:
        return True
    for _ in range(s - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def handler(request):
    """Takes {"from": "...", "to": "..."} and counts the primes of [from, to)."""
    low, high = int(request["from"]), int(request["to"])
    if not 0 <= low <= high <= LIMIT:
        raise ValueError(f"the range must lie between 0 and {LIMIT}")
    return {"primes": sum(map(is_prime, range(low, high))), "tested": high - low}
