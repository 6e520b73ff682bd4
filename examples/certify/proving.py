"""Makes certificates in the format "[MPU - Primality Certificate]".

A step says "if these numbers are prime, so is n". It is looked for in this order: BLS3 (one large factor of n-1), BLS5 (factors of
n-1 that make a third of its digits), BLS15 (one large factor of n+1); all are of Brillhart, Lehmer and Selfridge, Math. Comp. 29 (1975).
Pratt's trees, of Lucas steps down to small primes, are made where they are asked for.
"""

from math import gcd, isqrt

from factoring import factors
from arithmetic import SMALL_END, is_small_prime, jacobi, lucas_v

# Bases that are tried for a factor: each fails with a probability of 1/q for a prime.
MAX_BASE = 200
# Lucas sequences that are tried: half of them are of use.
MAX_LUCAS = 60
# How deep a chain may be. Each step is at least one bit smaller.
MAX_DEPTH = 100


class Unproved(Exception):
    """No proof was found. The number may be prime all the same."""


class Composite(Exception):
    """A base shows that the number is composite."""


def certificate(n, form):
    """Returns the certificate of the probable prime n as a text."""
    steps = {}
    make = pratt if form == "pratt" else prove
    make(n, steps, 0)
    if not steps:
        steps[n] = ["Type Small", f"N {n}"]
    lines = ["[MPU - Primality Certificate]", "Version 1.0", "", "Proof for:", f"N {n}"]
    for number in sorted(steps, reverse=True):
        lines += ["", *steps[number]]
    return "\n".join(lines) + "\n"


def prove(n, steps, depth):
    """Adds the steps that prove n, or raises Unproved."""
    if n in steps:
        return
    if n < SMALL_END:
        if not is_small_prime(n):
            raise Unproved
        return
    if depth > MAX_DEPTH:
        raise Unproved
    for way in (minus_1, plus_1):
        mine = {}
        try:
            way(n, mine, depth)
        except Unproved:
            continue
        steps.update(mine)
        return
    raise Unproved


def base_for(n, q, start=2):
    """Returns the first a with a^(n-1) = 1 and gcd(a^((n-1)/q) - 1, n) = 1 modulo n."""
    for a in range(start, MAX_BASE):
        x = pow(a, (n - 1) // q, n)
        if pow(x, q, n) != 1:
            raise Composite
        g = gcd(x - 1, n)
        if g == 1:
            return a
        if g < n:
            raise Composite
    raise Unproved


def minus_1(n, steps, depth):
    """BLS3 or BLS5, whichever needs fewer factors."""
    proved = []

    def enough():
        return large_factor(proved, n, 1) or bls5_suffices(n, proved)

    for q in factors(n - 1, enough):
        try:
            prove(q, steps, depth + 1)
        except Unproved:
            continue
        proved.append(q)
        if enough():
            break
    large = large_factor(proved, n, 1)
    if large:
        steps[n] = ["Type BLS3", f"N {n}", f"Q {large}", f"A {bls3_base(n, large)}"]
    elif bls5_suffices(n, proved):
        steps[n] = bls5(n, [q for q in needed(n, proved) if q != 2])
    else:
        raise Unproved
    forget(steps, n)


def needed(n, proved):
    """Leaves out the factors that bls5 can do without, the smallest first."""
    kept = sorted(set(proved) | {2})
    for q in sorted(kept):
        rest = [k for k in kept if k != q]
        if q != 2 and bls5_suffices(n, rest):
            kept = rest
    return sorted(kept, reverse=True)


def forget(steps, root):
    """Takes out the steps that the root's do not rest on any more."""
    used, open_numbers = set(), [root]
    while open_numbers:
        n = open_numbers.pop()
        if n in steps and n not in used:
            used.add(n)
            open_numbers += [int(line.split()[1]) for line in steps[n] if line.startswith("Q")]
    for n in [n for n in steps if n not in used and n < root]:
        del steps[n]


def large_factor(proved, n, sign):
    """Returns an odd proved factor q of n - sign with 2q + sign > sqrt(n), or None."""
    for q in proved:
        if q > 2 and (2 * q + sign) ** 2 > n:
            return q
    return None


def bls3_base(n, q):
    for a in range(2, MAX_BASE):
        if jacobi(a, n) != -1:
            continue
        if pow(a, (n - 1) // 2, n) != n - 1:
            raise Composite
        if pow(a, (n - 1) // q // 2, n) != n - 1:
            return a
    raise Unproved


def bls5_suffices(n, proved):
    """Reports whether these primes, with 2, make enough of n-1 for theorem 5."""
    f, r = 1, n - 1
    for q in {2, *proved}:
        while r % q == 0:
            f, r = f * q, r // q
    s, rest = divmod(r, 2 * f)
    if n >= (f + 1) * (2 * f * f + (rest - 1) * f + 1):
        return False
    square = rest * rest - 8 * s
    return s == 0 or square < 0 or isqrt(square) ** 2 != square


def bls5(n, odd):
    lines = ["Type BLS5", f"N {n}"] + [f"Q[{i + 1}] {q}" for i, q in enumerate(odd)]
    for i, q in enumerate([2, *odd]):
        a = base_for(n, q)
        if a != 2:
            lines.append(f"A[{i}] {a}")
    return [*lines, "----"]


def plus_1(n, steps, depth):
    """BLS15: one factor of n+1 that is larger than half of the root of n."""
    proved = []
    for q in factors(n + 1, lambda: bool(proved)):
        if not large_factor([q], n, -1):
            continue
        try:
            prove(q, steps, depth + 1)
        except Unproved:
            continue
        proved.append(q)
        break
    if not proved:
        raise Unproved
    q = proved[0]
    for lq in range(-MAX_LUCAS, MAX_LUCAS):
        lp = 1
        d = lp * lp - 4 * lq
        if lq in (0, 1) or jacobi(d, n) != -1 or gcd(lq, n) != 1:
            continue
        if lucas_v(lp, lq, (n + 1) // 2, n) == 0 and lucas_v(lp, lq, (n + 1) // q // 2, n) != 0:
            steps[n] = ["Type BLS15", f"N {n}", f"Q {q}", f"LP {lp}", f"LQ {lq}"]
            return
    raise Unproved


def pratt(n, steps, depth):
    """Adds Lucas steps for n and for all that they rest on, down to primes that need none to be looked at: 2 and 3."""
    if n in steps or n < 5:
        return
    all_factors = []
    rest = n - 1
    for q in factors(n - 1, lambda: False):
        all_factors.append(q)
        while rest % q == 0:
            rest //= q
    if rest != 1 or depth > MAX_DEPTH:
        raise Unproved
    for q in all_factors:
        pratt(q, steps, depth + 1)
    for a in range(2, MAX_BASE):
        if pow(a, n - 1, n) != 1:
            raise Composite
        if all(pow(a, (n - 1) // q, n) != 1 for q in all_factors):
            lines = [f"Q[{i + 1}] {q}" for i, q in enumerate(sorted(all_factors))]
            steps[n] = ["Type Lucas", f"N {n}", *lines, f"A {a}"]
            return
    raise Unproved
