package certificate

import "math/big"

// bases are the first 13 primes. No composite below bound is a strong pseudoprime to all of them (Sorenson and Webster, Math. Comp. 86
// (2017), arXiv:1509.00864). bound itself is composite and is one.
var (
	bases    = []int64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41}
	bound, _ = new(big.Int).SetString("3317044064679887385961981", 10)
)

// isSmallPrime decides whether n < bound is prime.
func (m *meter) isSmallPrime(n *big.Int) (bool, error) {
	if n.Cmp(two) < 0 || n.Cmp(bound) >= 0 {
		return false, nil
	}
	for _, base := range bases {
		b := big.NewInt(base)
		if new(big.Int).Mod(n, b).Sign() == 0 {
			return n.Cmp(b) == 0, nil
		}
		passes, err := m.strong(n, b)
		if !passes || err != nil {
			return false, err
		}
	}
	return true, nil
}

// strong reports whether the odd n > 2 is a strong probable prime to the base. One that is not is composite.
func (m *meter) strong(n, base *big.Int) (bool, error) {
	last := new(big.Int).Sub(n, one)
	s := last.TrailingZeroBits()
	x, err := m.exp(base, new(big.Int).Rsh(last, s), n)
	if err != nil {
		return false, err
	}
	if x.Cmp(one) == 0 || x.Cmp(last) == 0 {
		return true, nil
	}
	for range s - 1 {
		if x.Mod(x.Mul(x, x), n).Cmp(last) == 0 {
			return true, nil
		}
	}
	return false, m.products(int(s), n)
}

func (c *stepCheck) small() error {
	if c.N.Cmp(smallEnd) >= 0 {
		return fails("N is not below 2^64, where bases that are known decide: it needs a step of another type")
	}
	prime, err := c.isSmallPrime(c.N)
	if err == nil && !prime {
		return fails("N is not prime")
	}
	return err
}
