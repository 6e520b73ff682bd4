"""Proves an integer prime or composite by Miller-Rabin with the first 13 primes.

No composite below BOUND is a strong pseudoprime to all of these bases, so
passing them is a proof (Sorenson and Webster, arXiv:1509.00864). BOUND itself
is composite and passes: from there on nothing would be proved.
"""

BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
BOUND = 3317044064679887385961981


def is_strong_probable_prime(n, base):
    """Reports whether the odd n > 2 is a strong probable prime to the base."""
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


def is_prime(n):
    """Decides whether 0 <= n < BOUND is prime."""
    if n < 2:
        return False
    for p in BASES:
        if n % p == 0:
            return n == p
    return all(is_strong_probable_prime(n, base) for base in BASES)


def handler(item):
    """Takes an integer as a decimal string and returns the proof."""
    if not isinstance(item, str) or not item.isascii() or not item.isdigit():
        raise ValueError(f"the item must be a string of decimal digits, not {item!r:.80}")
    if len(item) > len(str(BOUND)) or int(item) >= BOUND:
        raise ValueError(
            f"{item:.40} is not below {BOUND}: from there on, passing Miller-Rabin with the first 13 primes "
            "proves nothing (that number itself is composite and passes); it needs another method, such as ECPP"
        )
    n = int(item)
    return {
        "n": str(n),
        "prime": is_prime(n),
        "proof": "miller-rabin-13",
        "bases": list(BASES),
        "bound": str(BOUND),
    }
