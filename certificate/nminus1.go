package certificate

import "math/big"

// cofactor is (N + sign) / Q, where Q divides it.
func (c *stepCheck) cofactor(q *big.Int, sign int64) (*big.Int, error) {
	if q.Cmp(one) <= 0 {
		return nil, fails("Q is not greater than 1")
	}
	m, rest := new(big.Int).QuoRem(new(big.Int).Add(c.N, big.NewInt(sign)), q, new(big.Int))
	if rest.Sign() != 0 || m.Sign() <= 0 {
		return nil, fails("Q does not divide N%+d", sign)
	}
	return m, nil
}

// isCoprimeLess1 reports whether gcd(x - 1, N) = 1.
func (c *stepCheck) isCoprimeLess1(x *big.Int) (bool, error) {
	g, err := c.gcd(new(big.Int).Sub(new(big.Int).Add(x, c.N), one), c.N)
	return err == nil && g.Cmp(one) == 0, err
}

// fermat fails unless A^(N-1) mod N = 1.
func (c *stepCheck) fermat(a *big.Int, name string) error {
	x, err := c.exp(a, new(big.Int).Sub(c.N, one), c.N)
	if err == nil && x.Cmp(one) != 0 {
		return fails("%s^(N-1) mod N is not 1", name)
	}
	return err
}

func (c *stepCheck) base(a *big.Int, name string) error {
	if a.Cmp(one) <= 0 || a.Cmp(c.N) >= 0 {
		return fails("%s is not between 1 and N", name)
	}
	return nil
}

// odd fails for an even N.
func (c *stepCheck) odd() error {
	if c.N.Bit(0) == 0 {
		return fails("N is even")
	}
	return nil
}

// pocklington: N-1 = MQ with Q prime and M < Q. Every prime factor of N is 1 modulo Q, and so greater than the root of N.
func (c *stepCheck) pocklington() error {
	q, a := c.value("Q", -1), c.value("A", -1)
	if err := c.odd(); err != nil {
		return err
	}
	m, err := c.cofactor(q, -1)
	if err != nil {
		return err
	}
	if m.Cmp(q) >= 0 {
		return fails("Q is too small: M = (N-1)/Q is not less than Q")
	}
	if err := c.base(a, "A"); err != nil {
		return err
	}
	if err := c.fermat(a, "A"); err != nil {
		return err
	}
	x, err := c.exp(a, m, c.N)
	if err != nil {
		return err
	}
	if coprime, err := c.isCoprimeLess1(x); err != nil || !coprime {
		return firstOf(err, fails("A^M - 1 and N have a common divisor"))
	}
	return nil
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// largeOdd fails unless Q is odd and 2Q + sign exceeds the root of N.
func (c *stepCheck) largeOdd(q *big.Int, sign int64) error {
	if q.Bit(0) == 0 || q.Cmp(two) <= 0 {
		return fails("Q is not an odd number greater than 2")
	}
	double := new(big.Int).Add(new(big.Int).Lsh(q, 1), big.NewInt(sign))
	if double.Mul(double, double).Cmp(c.N) <= 0 {
		return fails("Q is too small: 2Q%+d is not greater than the square root of N", sign)
	}
	return nil
}

// bls3: N-1 = MQ with Q an odd prime, 2Q+1 > √N, A^((N-1)/2) = -1 and A^(M/2) ≠ -1 modulo N.
func (c *stepCheck) bls3() error {
	q, a := c.value("Q", -1), c.value("A", -1)
	if err := c.odd(); err != nil {
		return err
	}
	m, err := c.cofactor(q, -1)
	if err != nil {
		return err
	}
	if err := c.largeOdd(q, 1); err != nil {
		return err
	}
	if err := c.base(a, "A"); err != nil {
		return err
	}
	last := new(big.Int).Sub(c.N, one)
	x, err := c.exp(a, new(big.Int).Rsh(last, 1), c.N)
	if err != nil {
		return err
	}
	if x.Cmp(last) != 0 {
		return fails("A^((N-1)/2) mod N is not N-1")
	}
	if x, err = c.exp(a, m.Rsh(m, 1), c.N); err != nil {
		return err
	}
	if x.Cmp(last) == 0 {
		return fails("A^(M/2) mod N is N-1")
	}
	return nil
}

// factored divides the factors out of N-1, as often as they are in it, and returns the part that they make and the rest.
func (c *stepCheck) factored(factors []*big.Int) (f, r *big.Int, err error) {
	f, r = big.NewInt(1), new(big.Int).Sub(c.N, one)
	last := new(big.Int).Set(r)
	quotient, rest := new(big.Int), new(big.Int)
	for i, q := range factors {
		if q.Cmp(one) <= 0 || q.Cmp(last) >= 0 {
			return nil, nil, fails("the factor %s is not between 1 and N-1", short(q))
		}
		for _, other := range factors[:i] {
			if q.Cmp(other) == 0 {
				return nil, nil, fails("the factor %s is named twice", short(q))
			}
		}
		before := f.BitLen()
		for {
			quotient.QuoRem(r, q, rest)
			if rest.Sign() != 0 {
				break
			}
			f.Mul(f, q)
			r.Set(quotient)
		}
		if f.BitLen() == before {
			return nil, nil, fails("the factor %s does not divide N-1, or what the others leave of it", short(q))
		}
	}
	return f, r, nil
}

// lucas: N-1 is factored wholly, and A has the order N-1.
func (c *stepCheck) lucas() error {
	a, factors := c.value("A", -1), c.factors()
	_, r, err := c.factored(factors)
	if err != nil {
		return err
	}
	if r.Cmp(one) != 0 {
		return fails("N-1 has a part that no factor covers")
	}
	if err := c.base(a, "A"); err != nil {
		return err
	}
	if err := c.fermat(a, "A"); err != nil {
		return err
	}
	last := new(big.Int).Sub(c.N, one)
	for i, q := range factors {
		x, err := c.exp(a, new(big.Int).Quo(last, q), c.N)
		if err != nil {
			return err
		}
		if x.Cmp(one) == 0 {
			return fails("A^((N-1)/Q[%d]) mod N is 1", i+1)
		}
	}
	return nil
}

// bls5: N-1 = FR, F factored and even, coprime to R, and N < (F+1)(2F²+(r-1)F+1) where R = 2Fs + r; each factor has a base.
func (c *stepCheck) bls5() error {
	factors := append([]*big.Int{two}, c.factors()...)
	if err := c.odd(); err != nil {
		return err
	}
	f, r, err := c.factored(factors)
	if err != nil {
		return err
	}
	if err := c.bls5Size(f, r); err != nil {
		return err
	}
	last := new(big.Int).Sub(c.N, one)
	done := map[string]bool{} // bases that passed Fermat's test
	for i, q := range factors {
		name := field{name: "A", index: i}.label()
		a := c.value("A", i)
		if a == nil {
			a = two
		}
		if err := c.base(a, name); err != nil {
			return err
		}
		if !done[a.String()] {
			if err := c.fermat(a, name); err != nil {
				return err
			}
			done[a.String()] = true
		}
		x, err := c.exp(a, new(big.Int).Quo(last, q), c.N)
		if err != nil {
			return err
		}
		if coprime, err := c.isCoprimeLess1(x); err != nil || !coprime {
			return firstOf(err, fails("%s^((N-1)/Q[%d]) - 1 and N have a common divisor", name, i))
		}
	}
	return nil
}

// bls5Size checks that F is coprime to R, and large enough.
func (c *stepCheck) bls5Size(f, r *big.Int) error {
	if g, err := c.gcd(f, r); err != nil || g.Cmp(one) != 0 {
		return firstOf(err, fails("F and R = (N-1)/F have a common divisor"))
	}
	s, rest := new(big.Int).QuoRem(r, new(big.Int).Lsh(f, 1), new(big.Int))
	// (F+1)(2F²+(r-1)F+1)
	limit := new(big.Int).Mul(f, f)
	limit.Lsh(limit, 1)
	limit.Add(limit, new(big.Int).Mul(new(big.Int).Sub(rest, one), f))
	limit.Add(limit, one).Mul(limit, new(big.Int).Add(f, one))
	if c.N.Cmp(limit) >= 0 {
		return fails("the factors make too little of N-1: N is not less than (F+1)(2F²+(r-1)F+1)")
	}
	// s = 0, or r²-8s is no square.
	d := new(big.Int).Mul(rest, rest)
	d.Sub(d, new(big.Int).Lsh(s, 3))
	if s.Sign() != 0 && isSquare(d) {
		return fails("r²-8s is a square, so that N is composite")
	}
	return nil
}

func isSquare(n *big.Int) bool {
	if n.Sign() < 0 {
		return false
	}
	root := new(big.Int).Sqrt(n)
	return root.Mul(root, root).Cmp(n) == 0
}
