"""The strong Lucas probable prime test with Selfridge's parameters."""

from math import gcd


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


def selfridge_d(n):
    """Returns the first D of 5, -7, 9, -11, ... with (D/n) = -1.

    Returns 0 when a D on the way shows that n is composite. n is odd and not a
    square; for a square there would be no such D.
    """
    d = 5
    while True:
        symbol = jacobi(d, n)
        if symbol == -1:
            return d
        if symbol == 0 and gcd(d, n) < n:
            return 0
        d = -d - 2 if d > 0 else -d + 2


def is_strong_lucas_probable_prime(n):
    """Reports whether the odd n > 2, not a square, is a strong Lucas probable prime."""
    d = selfridge_d(n)
    if d == 0:
        return False
    q = (1 - d) // 4
    odd = n + 1
    s = (odd & -odd).bit_length() - 1
    odd >>= s
    u, v, qk = lucas(odd, d, q, n)
    if u == 0 or v == 0:
        return True
    for _ in range(s - 1):
        v = (v * v - 2 * qk) % n
        if v == 0:
            return True
        qk = qk * qk % n
    return False


def lucas(k, d, q, n):
    """Returns U_k, V_k and Q^k modulo the odd n, for P = 1 and k > 0."""
    u, v, qk = 1, 1, q % n
    for bit in bin(k)[3:]:
        u = u * v % n
        v = (v * v - 2 * qk) % n
        qk = qk * qk % n
        if bit == "1":
            u, v = u + v, v + d * u
            if u & 1:
                u += n
            if v & 1:
                v += n
            u, v = (u >> 1) % n, (v >> 1) % n
            qk = qk * q % n
    return u, v, qk
