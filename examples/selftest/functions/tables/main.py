"""Counts the composites of a range that pass tests of primality, by the test.

Which numbers are composite a sieve says. The tests are those of bpsw.py, which is the search of examples/workflow-bpsw.
"""

from math import gcd, isqrt

from bpsw import claims, half, jacobi, strong_base_2, strong_lucas

SIEVED = 10**9


def factors_of(low, high):
    """Returns for each n of [low, high) its least prime factor, or 0 where n is prime or below 2."""
    least = [0] * (high - low)
    root = isqrt(max(high - 1, 0))
    small = bytearray([1]) * (root + 1)
    for p in range(2, root + 1):
        if not small[p]:
            continue
        small[p * p :: p] = bytes(len(small[p * p :: p]))
        for n in range(max(p * p, -(-low // p) * p), high, p):
            if not least[n - low]:
                least[n - low] = p
    return least


def carmichael(n, factor):
    """Reports whether the composite n is a Carmichael number, by Korselt's criterion. factor is its least prime factor."""
    left = n
    while left > 1:
        if (n - 1) % (factor - 1) or left // factor % factor == 0:
            return False
        left //= factor
        while left > 1 and left % factor:
            factor = factor + 2 if factor * factor <= left else left
    return True


def lucas(n):
    """Reports whether the odd n, which is no square, is a Lucas probable prime with Selfridge's method A."""
    d = 5
    while (symbol := jacobi(d, n)) != -1:
        if symbol == 0 and gcd(d, n) < n:
            return False
        d = -d - 2 if d > 0 else -d + 2
    q = (1 - d) // 4
    u, v, qk = 1, 1, q % n
    for bit in bin(n + 1)[3:]:
        u, v, qk = u * v % n, (v * v - 2 * qk) % n, qk * qk % n
        if bit == "1":
            u, v, qk = half(u + v, n), half(v + d * u, n), qk * q % n
    return u == 0


def passed(n, factor):
    """Returns what the odd composite n passes."""
    kinds = set()
    if pow(2, n - 1, n) == 1:
        kinds.add("fermat")
        if carmichael(n, factor):
            kinds.add("carmichael")
    if strong_base_2(n):
        kinds.add("strong")
    if isqrt(n) ** 2 != n:
        if lucas(n):
            kinds.add("lucas")
        if strong_lucas(n):
            kinds.add("strong_lucas")
    return kinds | ({"both"} if kinds >= {"strong", "strong_lucas"} else set())


def handler(request):
    """Takes {"from": "...", "to": "..."} and counts the pseudoprimes of [from, to), odd composites, by what they pass.

    Beyond SIEVED no sieve says what is composite: there primes are what passes the search, and nothing else is counted.
    """
    low, high = int(request["from"]), int(request["to"])
    if not 0 <= low <= high:
        raise ValueError("the range must not be negative or reversed")
    count = dict.fromkeys(("fermat", "strong", "carmichael", "lucas", "strong_lucas", "both"), 0)
    first = {"strong": [], "strong_lucas": []}
    if high > SIEVED:
        primes = sum(claims(n)[0] for n in range(low, high))
    else:
        least = factors_of(low, high)
        primes = sum(not factor for factor in least) - sum(low <= n < high for n in (0, 1))
        for n in range(max(low, 9) | 1, high, 2):
            if factor := least[n - low]:
                for kind in passed(n, factor):
                    count[kind] += 1
                    if len(first.get(kind, range(5))) < 5:
                        first[kind].append(n)
    return count | {"first_" + kind: found for kind, found in first.items()} | {"primes": primes, "tested": high - low}
