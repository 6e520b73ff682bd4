"""Finds prime factors: trial division, then Pollard's rho (Brent's form) and p-1, then elliptic curves.

Everything is done by counts and fixed starting points, never by a clock or by chance: every machine finds the same.
"""

from math import gcd, isqrt

from arithmetic import TRIAL_PRIMES, is_probable_prime, primes_below

# How far each method goes. Together they find nearly every factor up to 15 digits, and take about a minute at most for 100 digits.
RHO_STEPS = 1 << 15
P1_BOUND = 20000
# Bound of the first stage and number of curves, for factors of about 10, 15 and 20 digits.
CURVES = ((400, 10), (2000, 25), (11000, 40))

_PRIMES = primes_below(max(P1_BOUND, max(b for b, _ in CURVES) * 40))


def trial(n):
    """Divides small primes out of n and returns them with what is left."""
    found = []
    for p in TRIAL_PRIMES:
        if p * p > n:
            break
        if n % p == 0:
            found.append(p)
            while n % p == 0:
                n //= p
    if 1 < n < TRIAL_PRIMES[-1] ** 2:
        found.append(n)
        n = 1
    return found, n


def rho(n, c=1, steps=RHO_STEPS):
    """Returns a factor of the composite odd n, or None."""
    y, product, r, done = 2, 1, 1, 0
    while done < steps:
        x = y
        for _ in range(r):
            y = (y * y + c) % n
        k = 0
        while k < r and done < steps:
            start = y
            for _ in range(min(128, r - k)):
                y = (y * y + c) % n
                product = product * abs(x - y) % n
            g = gcd(product, n)
            if g == n:
                return _rho_slowly(n, c, x, start)
            if g > 1:
                return g
            k += 128
            done += 128
        r *= 2
    return None


def _rho_slowly(n, c, x, y):
    """Goes again over steps in which all factors of n were met."""
    while True:
        y = (y * y + c) % n
        g = gcd(abs(x - y), n)
        if g > 1:
            return g if g < n else None


def p_minus_1(n):
    """Returns a factor p of n for which p-1 has small factors only, or None."""
    x = 3
    for p in _PRIMES:
        if p > P1_BOUND:
            break
        power = p
        while power * p <= P1_BOUND:
            power *= p
        x = pow(x, power, n)
    g = gcd(x - 1, n)
    return g if 1 < g < n else None


def _add(p, q, difference, n):
    """Adds two points of a Montgomery curve of which the difference is known."""
    u, v = (p[0] - p[1]) * (q[0] + q[1]), (p[0] + p[1]) * (q[0] - q[1])
    return (u + v) ** 2 * difference[1] % n, (u - v) ** 2 * difference[0] % n


def _double(p, a24, n):
    s, d = (p[0] + p[1]) ** 2 % n, (p[0] - p[1]) ** 2 % n
    t = s - d
    return s * d % n, t * (d + a24 * t) % n


def _multiply(k, p, a24, n):
    if k == 1:
        return p
    low, high = p, _double(p, a24, n)
    for bit in bin(k)[3:]:
        if bit == "0":
            low, high = _double(low, a24, n), _add(low, high, p, n)
        else:
            low, high = _add(low, high, p, n), _double(high, a24, n)
    return low


def curve(n, sigma, bound):
    """Tries one elliptic curve (Suyama's, by its number), with a second stage up to 40 times the bound. Returns a factor or None."""
    u, v = (sigma * sigma - 5) % n, 4 * sigma % n
    x, z = pow(u, 3, n), pow(v, 3, n)
    below = 16 * x * v % n
    g = gcd(below, n)
    if g > 1:
        return g if g < n else None
    a24 = (v - u) ** 3 * (3 * u + v) * pow(below, -1, n) % n
    p = (x, z)
    i = 0
    while _PRIMES[i] <= bound:
        power = _PRIMES[i]
        while power * _PRIMES[i] <= bound:
            power *= _PRIMES[i]
        p = _multiply(power, p, a24, n)
        i += 1
    g = gcd(p[1], n)
    if g > 1:
        return g if g < n else None
    return _second_stage(n, p, a24, i, bound)


def _second_stage(n, p, a24, i, bound):
    """Looks for one more prime up to 40 times the bound, in giant steps of 210."""
    step = 210
    near = {}
    odd, two = p, _double(p, a24, n)
    before, here = p, _add(two, p, p, n)  # 1p, 3p
    near[1] = odd
    for j in range(3, step // 2 + 2, 2):
        near[j] = here
        before, here = here, _add(here, two, before, n)
    start = bound // step
    giant = _multiply(step, p, a24, n)
    last, at = _multiply(max(start - 1, 1), giant, a24, n), _multiply(max(start, 2), giant, a24, n)
    m, product = max(start, 2), 1
    while i < len(_PRIMES) and _PRIMES[i] <= 40 * bound:
        prime = _PRIMES[i]
        i += 1
        while prime > m * step + step // 2:
            last, at = at, _add(at, giant, last, n)
            m += 1
        q = near.get(abs(prime - m * step))
        if q:
            product = product * (at[0] * q[1] - q[0] * at[1]) % n
    g = gcd(product, n)
    return g if 1 < g < n else None


def split(n):
    """Returns a factor of the composite n that no small prime divides, or None when this is more work than the function does."""
    root = isqrt(n)
    if root * root == n:
        return root
    for c in (1, 3):
        factor = rho(n, c)
        if factor:
            return factor
    factor = p_minus_1(n)
    if factor:
        return factor
    sigma = 6
    for bound, curves in CURVES:
        for _ in range(curves):
            factor = curve(n, sigma, bound)
            if factor:
                return factor
            sigma += 1
    return None


def factors(n, enough):
    """Yields probable primes that divide n, each once, as they are found, until enough(found) holds or nothing more is found."""
    found, rest = trial(n)
    found.sort()
    yield from found
    open_parts = [rest] if rest > 1 else []
    seen = set(found)
    while open_parts and not enough():
        part = min(open_parts)
        open_parts.remove(part)
        if is_probable_prime(part):
            if part not in seen:
                seen.add(part)
                yield part
            continue
        factor = split(part)
        if factor:
            open_parts += [factor, part // factor]
