package certificate

import "math/big"

// bls15: N+1 = MQ with Q an odd prime, 2Q-1 > √N, and a Lucas sequence whose discriminant is no square modulo N, with V_((N+1)/2) = 0 and
// V_(M/2) ≠ 0 modulo N.
func (c *stepCheck) bls15() error {
	q, p, r := c.value("Q", -1), c.value("LP", -1), c.value("LQ", -1)
	if err := c.odd(); err != nil {
		return err
	}
	m, err := c.cofactor(q, 1)
	if err != nil {
		return err
	}
	if err := c.largeOdd(q, -1); err != nil {
		return err
	}
	if q.Cmp(c.N) >= 0 {
		return fails("Q is not less than N")
	}
	if p.CmpAbs(c.N) >= 0 || r.CmpAbs(c.N) >= 0 {
		return fails("LP or LQ is not less than N")
	}
	d := new(big.Int).Mul(p, p)
	d.Sub(d, new(big.Int).Lsh(r, 2))
	if err := c.products(c.N.BitLen()/16+8, c.N); err != nil {
		return err
	}
	if big.Jacobi(new(big.Int).Mod(d, c.N), c.N) != -1 {
		return fails("the Jacobi symbol of LP²-4LQ and N is not -1")
	}
	half := new(big.Int).Add(c.N, one)
	v, err := c.lucasV(p, r, half.Rsh(half, 1))
	if err != nil {
		return err
	}
	if v.Sign() != 0 {
		return fails("V((N+1)/2) mod N is not 0")
	}
	if v, err = c.lucasV(p, r, m.Rsh(m, 1)); err != nil {
		return err
	}
	if v.Sign() == 0 {
		return fails("V(M/2) mod N is 0")
	}
	return nil
}

// lucasV is V_k mod N of the Lucas sequence with parameters p and q, from V_2k = V_k² - 2q^k and V_(2k+1) = V_k V_(k+1) - p q^k.
func (c *stepCheck) lucasV(p, q, k *big.Int) (*big.Int, error) {
	n := c.N
	if err := c.products(6*k.BitLen(), n); err != nil {
		return nil, err
	}
	low, high, power := big.NewInt(2), new(big.Int).Mod(p, n), big.NewInt(1) // V_j, V_(j+1), q^j for j = 0
	q = new(big.Int).Mod(q, n)
	pq, t := new(big.Int), new(big.Int)
	for i := k.BitLen() - 1; i >= 0; i-- {
		// V_(2j+1)
		pq.Mul(p, power)
		middle := new(big.Int).Mul(low, high)
		middle.Sub(middle, pq).Mod(middle, n)
		if k.Bit(i) == 0 {
			low.Mul(low, low).Sub(low, t.Lsh(power, 1)).Mod(low, n)
			high.Set(middle)
			power.Mul(power, power).Mod(power, n)
			continue
		}
		t.Mul(power, q).Lsh(t, 1)
		high.Mul(high, high).Sub(high, t).Mod(high, n)
		low.Set(middle)
		power.Mul(power, power).Mod(power, n).Mul(power, q).Mod(power, n)
	}
	return low.Mod(low, n), nil
}
