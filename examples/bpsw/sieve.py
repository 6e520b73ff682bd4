"""Strikes out the multiples of small primes before anything is tested."""

from math import isqrt

# Primes below this bound are struck out. Near 2**64 this leaves 4 % of all
# integers; a higher bound costs more sieving than the tests that it saves.
SIEVE_BOUND = 20_000

# Odd integers of one block: small enough to stay in a processor's cache.
BLOCK = 1 << 19


def primes_below(limit):
    """Lists the primes below limit by the sieve of Eratosthenes."""
    flags = bytearray([1]) * limit
    flags[:2] = bytes(min(2, limit))
    for p in range(2, isqrt(limit) + 1):
        if flags[p]:
            flags[p * p :: p] = bytes(len(range(p * p, limit, p)))
    return [n for n in range(limit) if flags[n]]


SMALL_PRIMES = primes_below(SIEVE_BOUND)


def survivors(low, high):
    """Yields, ascending, the integers of [low, high) without a small proper divisor.

    Every prime of the range is among them: a small prime is not its own
    multiple. 0 and 1 are not.
    """
    if low <= 2 < high:
        yield 2
    first = max(low, 3) | 1
    for start in range(first, high, 2 * BLOCK):
        yield from block(start, min(high, start + 2 * BLOCK))


def block(start, end):
    """Yields the survivors among the odd integers of [start, end), start odd."""
    size = (end - start + 1) // 2
    flags = bytearray([1]) * size
    for p in SMALL_PRIMES[1:]:
        if p * p >= end:
            break
        # The first odd multiple of p that is at least start and at least p*p.
        multiple = max(p * p, start + (-start) % p)
        if multiple % 2 == 0:
            multiple += p
        index = (multiple - start) // 2
        if index < size:
            flags[index::p] = bytes((size - index + p - 1) // p)
    index = flags.find(1)
    while index >= 0:
        yield start + 2 * index
        index = flags.find(1, index + 1)
