"""Proves an integer prime or composite, with evidence that can be checked in milliseconds.

Below 3317044064679887385961981 Miller-Rabin with the first 13 prime bases decides. From there on a prime gets a certificate in the public
format "[MPU - Primality Certificate]". A composite gets a factor, or a base to which it is no strong probable prime. What the function
can do neither for is an error, and no guess.
"""

from factoring import rho
from arithmetic import BASES, BOUND, TRIAL_PRIMES, witness
from proving import Composite, Unproved, certificate

# The most digits: what examples/modules/proved reads.
MAX_DIGITS = 308
# Bases that are tried on what may be composite. Numbers are known that pass all of the first 46.
WITNESSES = TRIAL_PRIMES[:100]
# Steps of Pollard's rho that are spent on a factor before a witness is taken.
FACTOR_STEPS = 1 << 13


def handler(item):
    """Takes an integer as a decimal string, or {"n": "...", "form": "pratt"}, and returns a statement about it."""
    n, form = read(item)
    for p in TRIAL_PRIMES:
        if p * p > n:
            break
        if n % p == 0 and n > p:
            return composite(n, "factor", p)
    if n < BOUND and form is None:
        return decide(n)
    base = witness(n, WITNESSES if n >= BOUND else BASES)
    if base is not None:
        return composite_by(n, base)
    try:
        return {"n": str(n), "verdict": "prime", "proof": "certificate", "certificate": certificate(n, form)}
    except Composite:
        base = witness(n, range(2, 1000))
        if base is not None:
            return composite_by(n, base)
    except Unproved:
        pass
    raise ValueError(
        f"no proof was found for {n}: it is probably prime, and neither n-1 nor n+1 could be factored far enough. "
        "Try ECPP (PARI or Math::Prime::Util), and verify what it makes with ostraka certificate verify"
    )


def read(item):
    form = None
    if isinstance(item, dict):
        if set(item) != {"n", "form"} or item["form"] != "pratt":
            raise ValueError('the item must be a string of decimal digits, or {"n": "...", "form": "pratt"}')
        item, form = item["n"], item["form"]
    if not isinstance(item, str) or not item.isascii() or not item.isdigit() or (item[0] == "0"):
        raise ValueError(f"the item must be a string of decimal digits without leading zeros, not {item!r:.80}")
    if len(item) > MAX_DIGITS:
        raise ValueError(f"the number has {len(item)} digits, at most {MAX_DIGITS} are proved")
    if item == "1":
        raise ValueError("1 is neither prime nor composite")
    return int(item), form


def decide(n):
    base = witness(n, BASES)
    if base is not None:
        return composite_by(n, base)
    return {"n": str(n), "verdict": "prime", "proof": "miller-rabin-13", "bases": list(BASES)}


def composite_by(n, base):
    factor = rho(n, steps=FACTOR_STEPS)
    if factor:
        return composite(n, "factor", min(factor, n // factor))
    return composite(n, "witness", base)


def composite(n, proof, evidence):
    return {"n": str(n), "verdict": "composite", "proof": proof, proof: str(evidence)}
