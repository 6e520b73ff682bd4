"""Counts the integers of a half-open range that pass the Baillie-PSW test.

The variant is the standard one with the strong Lucas test: a strong probable
prime test to base 2, then a strong Lucas test with Selfridge's method A
parameters (the first D of 5, -7, 9, -11, ... with Jacobi (D/n) = -1; P = 1,
Q = (1 - D) / 4). Below 2**64 it is known to have no pseudoprimes.
"""

from math import isqrt

from lucas import is_strong_lucas_probable_prime
from sieve import survivors

VARIANT = "standard: strong base 2, strong Lucas-Selfridge (method A)"

# The most integers of one shard: the sieve works in blocks, so this bounds
# time, not memory. A core tests roughly 10**6 integers a second near 2**64.
MAX_RANGE = 10**8

# The most digits of a bound: beyond it a single test takes seconds.
MAX_DIGITS = 1000


def is_strong_probable_prime_base_2(n):
    """Reports whether the odd n > 2 is a strong probable prime to base 2."""
    d = n - 1
    s = (d & -d).bit_length() - 1
    x = pow(2, d >> s, n)
    if x == 1 or x == n - 1:
        return True
    for _ in range(s - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def passes_bpsw(n):
    """Reports whether n passes the Baillie-PSW test."""
    if n < 4:
        return n >= 2
    if n % 2 == 0:
        return False
    return (
        is_strong_probable_prime_base_2(n)
        and isqrt(n) ** 2 != n
        and is_strong_lucas_probable_prime(n)
    )


def bound(value, name):
    """Reads a bound that JSON carries as a decimal string."""
    if not isinstance(value, str) or not value.isascii() or not value.isdigit():
        raise ValueError(f"{name} must be a string of decimal digits, not {value!r:.80}")
    if len(value) > MAX_DIGITS:
        raise ValueError(f"{name} has {len(value)} digits, at most {MAX_DIGITS} are allowed")
    return int(value)


def handler(request):
    """Takes {"from": "...", "to": "..."} and counts what passes in [from, to)."""
    if not isinstance(request, dict) or set(request) != {"from", "to"}:
        raise ValueError('the input must be {"from": "...", "to": "..."}')
    low, high = bound(request["from"], "from"), bound(request["to"], "to")
    if high < low:
        raise ValueError(f"the range is reversed: from {low} to {high}")
    if high - low > MAX_RANGE:
        raise ValueError(f"the range holds {high - low} integers, at most {MAX_RANGE} are allowed: use smaller shards")
    passed, sample = 0, []
    for n in survivors(low, high):
        if passes_bpsw(n):
            passed += 1
            if not sample:
                sample.append(str(n))
    return {"passed": passed, "sample": sample, "tested": high - low, "variant": VARIANT}
