"""What every part needs: small primes, Miller-Rabin, Lucas sequences."""

from math import gcd, isqrt

BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
# No composite below it is a strong pseudoprime to all of BASES (Sorenson and Webster, arXiv:1509.00864). It is one itself.
BOUND = 3317044064679887385961981
# Below it a certificate may rest on a prime without a step of its own.
SMALL_END = 2**64
TRIAL_LIMIT = 20000


def primes_below(limit):
    sieve = bytearray([1]) * limit
    sieve[:2] = b"\0\0"
    for p in range(2, isqrt(limit - 1) + 1):
        if sieve[p]:
            sieve[p * p :: p] = bytes(len(range(p * p, limit, p)))
    return [n for n in range(limit) if sieve[n]]


TRIAL_PRIMES = primes_below(TRIAL_LIMIT)


def is_strong_probable_prime(n, base):
    """Reports whether the odd n > 2 is a strong probable prime to the base. If it is not, n is composite."""
    d = n - 1
    s = (d & -d).bit_length() - 1
    x = pow(base, d >> s, n)
    if x in (1, n - 1):
        return True
    for _ in range(s - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def witness(n, bases):
    """Returns the first base to which the odd n > 2 is no strong probable prime, or None."""
    for base in bases:
        if base % n > 1 and not is_strong_probable_prime(n, base):
            return base
    return None


def is_small_prime(n):
    """Decides whether 0 <= n < BOUND is prime."""
    if n < 2:
        return False
    for p in BASES:
        if n % p == 0:
            return n == p
    return witness(n, BASES) is None


def is_probable_prime(n):
    """Decides below BOUND; above it, whether there is hope of a proof."""
    if n < BOUND:
        return is_small_prime(n)
    return n % 2 == 1 and witness(n, BASES) is None


def jacobi(a, n):
    a %= n
    result = 1
    while a:
        while a % 2 == 0:
            a //= 2
            if n % 8 in (3, 5):
                result = -result
        a, n = n, a
        if a % 4 == 3 and n % 4 == 3:
            result = -result
        a %= n
    return result if n == 1 else 0


def lucas_v(p, q, k, n):
    """Returns V_k mod n of the Lucas sequence with these parameters."""
    low, high, power = 2, p % n, 1
    for bit in bin(k)[2:] if k else "":
        middle = (low * high - p * power) % n
        if bit == "0":
            low, high, power = (low * low - 2 * power) % n, middle, power * power % n
        else:
            low, high = middle, (high * high - 2 * power * q) % n
            power = power * power * q % n
    return low
