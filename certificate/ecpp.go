package certificate

import "math/big"

// ecpp: on y² = x³ + Ax + B modulo N the point (X, Y), multiplied by M/Q, is not the neutral one modulo any prime factor of N, and
// multiplied by M it is modulo every one. Then the curve modulo each prime factor p of N has a multiple of Q points, and as Q > (N^(1/4)+1)²
// that is more than a p ≤ √N allows (Hasse).
func (c *stepCheck) ecpp() error {
	n, q, m := c.N, c.value("Q", -1), c.value("M", -1)
	g, err := c.gcd(big.NewInt(6), n)
	if err != nil || g.Cmp(one) != 0 {
		return firstOf(err, fails("N has the factor 2 or 3"))
	}
	k, err := c.ecppSizes(m, q)
	if err != nil {
		return err
	}
	e := &curve{meter: c.meter, n: n, a: new(big.Int).Mod(c.value("A", -1), n), product: big.NewInt(1)}
	start := point{new(big.Int).Mod(c.value("X", -1), n), new(big.Int).Mod(c.value("Y", -1), n), big.NewInt(1)}
	if err := e.check(start, new(big.Int).Mod(c.value("B", -1), n)); err != nil {
		return err
	}
	u, err := e.multiply(start, k)
	if err != nil {
		return err
	}
	if u.z.Sign() == 0 {
		return fails("the point times M/Q is the neutral one")
	}
	v, err := e.multiply(u, q)
	if err != nil {
		return err
	}
	if v.z.Sign() != 0 {
		return fails("the point times M is not the neutral one")
	}
	// Every other point on the way had a z that no factor of N divides, so that no formula was used where it does not hold.
	if g, err = c.gcd(e.product, n); err != nil || g.Cmp(one) != 0 {
		return firstOf(err, fails("a point on the way is the neutral one modulo a factor of N"))
	}
	return nil
}

// ecppSizes checks M and Q, and returns M/Q.
func (c *stepCheck) ecppSizes(m, q *big.Int) (*big.Int, error) {
	n := c.N
	if q.Cmp(one) <= 0 || q.Cmp(n) >= 0 {
		return nil, fails("Q is not between 1 and N")
	}
	k, rest := new(big.Int).QuoRem(m, q, new(big.Int))
	if rest.Sign() != 0 || k.Cmp(one) <= 0 {
		return nil, fails("Q does not divide M, or is M")
	}
	// |M - N - 1| ≤ 2√N
	t := new(big.Int).Sub(m, n)
	t.Sub(t, one)
	if t.Mul(t, t).Cmp(new(big.Int).Lsh(n, 2)) > 0 {
		return nil, fails("M is farther from N+1 than 2√N, which no curve modulo a prime is")
	}
	// Q > (N^(1/4)+1)²: with the root rounded up it holds for the true one.
	root := new(big.Int).Sqrt(new(big.Int).Sqrt(n))
	root.Add(root, two)
	if q.Cmp(root.Mul(root, root)) <= 0 {
		return nil, fails("Q is not greater than (N^(1/4)+1)²")
	}
	return k, nil
}

// curve is y² = x³ + ax + b modulo n. product gathers what must have no factor with n in common.
type curve struct {
	*meter
	n, a, product *big.Int
}

// point has Jacobian coordinates: x/z², y/z³. The neutral one has z = 0.
type point struct{ x, y, z *big.Int }

func (e *curve) mul(a, b *big.Int) *big.Int {
	x := new(big.Int).Mul(a, b)
	return x.Mod(x, e.n)
}

func (e *curve) sub(a, b *big.Int) *big.Int {
	x := new(big.Int).Sub(a, b)
	return x.Mod(x, e.n)
}

// times is a small multiple.
func (e *curve) times(k int64, a *big.Int) *big.Int { return e.mul(big.NewInt(k), a) }

// check fails unless the curve is one modulo every factor of n, and the point is on it.
func (e *curve) check(p point, b *big.Int) error {
	cube := e.mul(e.mul(e.a, e.a), e.a)
	d := new(big.Int).Add(e.times(4, cube), e.times(27, e.mul(b, b)))
	if g, err := e.gcd(d.Mod(d, e.n), e.n); err != nil || g.Cmp(one) != 0 {
		return firstOf(err, fails("4A³+27B² and N have a common divisor"))
	}
	right := new(big.Int).Add(e.mul(e.mul(p.x, p.x), p.x), e.mul(e.a, p.x))
	right.Add(right, b).Mod(right, e.n)
	if e.mul(p.y, p.y).Cmp(right) != 0 {
		return fails("(X, Y) is not on the curve")
	}
	return nil
}

// must notes that x has no factor with n in common, which is looked at in the end.
func (e *curve) must(x *big.Int) { e.product = e.mul(e.product, x) }

func (e *curve) double(p point) point {
	z := e.mul(e.times(2, p.y), p.z)
	if z.Sign() == 0 {
		return point{big.NewInt(1), big.NewInt(1), z}
	}
	e.must(z)
	yy := e.mul(p.y, p.y)
	s := e.times(4, e.mul(p.x, yy))
	zz := e.mul(p.z, p.z)
	m := new(big.Int).Add(e.times(3, e.mul(p.x, p.x)), e.mul(e.a, e.mul(zz, zz)))
	m.Mod(m, e.n)
	x := e.sub(e.mul(m, m), e.times(2, s))
	y := e.sub(e.mul(m, e.sub(s, x)), e.times(8, e.mul(yy, yy)))
	return point{x, y, z}
}

func (e *curve) add(p, q point) point {
	switch {
	case p.z.Sign() == 0:
		return q
	case q.z.Sign() == 0:
		return p
	}
	pz, qz := e.mul(p.z, p.z), e.mul(q.z, q.z)
	u := e.mul(p.x, qz)
	s := e.mul(p.y, e.mul(qz, q.z))
	h := e.sub(e.mul(q.x, pz), u)
	r := e.sub(e.mul(q.y, e.mul(pz, p.z)), s)
	if h.Sign() == 0 { // the same x: the same point, or its inverse
		if r.Sign() == 0 {
			return e.double(p)
		}
		e.must(r)
		return point{big.NewInt(1), big.NewInt(1), h}
	}
	z := e.mul(h, e.mul(p.z, q.z))
	e.must(z)
	hh := e.mul(h, h)
	hhh := e.mul(h, hh)
	uhh := e.mul(u, hh)
	x := e.sub(e.sub(e.mul(r, r), hhh), e.times(2, uhh))
	y := e.sub(e.mul(r, e.sub(uhh, x)), e.mul(s, hhh))
	return point{x, y, z}
}

// multiply is the point added to itself k times.
func (e *curve) multiply(p point, k *big.Int) (point, error) {
	if err := e.products(35*k.BitLen(), e.n); err != nil {
		return p, err
	}
	sum := point{big.NewInt(1), big.NewInt(1), new(big.Int)}
	for i := k.BitLen() - 1; i >= 0; i-- {
		sum = e.double(sum)
		if k.Bit(i) == 1 {
			sum = e.add(sum, p)
		}
	}
	return sum, nil
}
