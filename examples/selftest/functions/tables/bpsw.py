"""Counts the integers of a half-open range that pass the Baillie-PSW test.

A strong probable prime test to base 2, then a strong Lucas test with
Selfridge's method A. Nobody knows a composite number that passes both. Small
factors are struck out by a product of primes; examples/bpsw has a real sieve.
"""

from math import gcd, isqrt, prod

SMALL = [p for p in range(3, 1000) if all(p % q for q in range(2, isqrt(p) + 1))]
PRODUCT = prod(SMALL)


def jacobi(a, n):
    """Returns the Jacobi symbol (a/n) of an odd n > 0."""
    a %= n
    sign = 1
    while a:
        while a % 2 == 0:
            a //= 2
            if n % 8 in (3, 5):
                sign = -sign
        a, n = n, a
        if a % 4 == 3 and n % 4 == 3:
            sign = -sign
        a %= n
    return sign if n == 1 else 0


def strong_base_2(n):
    """Reports whether the odd n > 2 is a strong probable prime to base 2."""
    s = (n - 1 & 1 - n).bit_length() - 1
    x = pow(2, n - 1 >> s, n)
    if x == 1 or x == n - 1:
        return True
    for _ in range(s - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def strong_lucas(n):
    """Reports whether the odd n > 2, not a square, is a strong Lucas probable prime."""
    d = 5
    while (symbol := jacobi(d, n)) != -1:
        if symbol == 0 and gcd(d, n) < n:
            return False
        d = -d - 2 if d > 0 else -d + 2
    q = (1 - d) // 4
    s = (n + 1 & -(n + 1)).bit_length() - 1
    u, v, qk = 1, 1, q % n
    for bit in bin(n + 1 >> s)[3:]:
        u, v, qk = u * v % n, (v * v - 2 * qk) % n, qk * qk % n
        if bit == "1":
            u, v, qk = half(u + v, n), half(v + d * u, n), qk * q % n
    for _ in range(s):
        if u == 0 or v == 0:
            return True
        u, v, qk = 1, (v * v - 2 * qk) % n, qk * qk % n
    return False


def half(x, n):
    """Returns x / 2 modulo the odd n."""
    return (x + n if x & 1 else x) // 2 % n


def claims(n):
    """Returns what the two tests say of n: whether it passes both, and whether it passes the first alone."""
    if n < 3 or n % 2 == 0:
        return n == 2, False
    if n <= SMALL[-1]:
        return n in SMALL, False
    if gcd(n, PRODUCT) != 1 or not strong_base_2(n):
        return False, False
    passes = isqrt(n) ** 2 != n and strong_lucas(n)
    return passes, not passes


def handler(request):
    """Takes {"from": "...", "to": "..."} and counts what passes in [from, to).

    primes pass both tests, pseudoprimes the strong test to base 2 alone. sample has what shall be decided: the first prime, and all
    pseudoprimes that an output holds.
    """
    low, high = int(request["from"]), int(request["to"])
    if not 0 <= low <= high:
        raise ValueError("the range must not be negative or reversed")
    primes, first, pseudoprimes = 0, [], []
    for n in range(low, high):
        both, one = claims(n)
        primes += both
        if both and not first:
            first = [str(n)]
        if one:
            pseudoprimes.append(str(n))
    return {"primes": primes, "pseudoprimes": len(pseudoprimes), "sample": first + pseudoprimes[:20], "tested": high - low}
