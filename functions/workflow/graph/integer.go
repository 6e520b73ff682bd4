package graph

import (
	"math/big"
	"strings"
)

// integerHint shows how an integer is written.
const integerHint = "write for example 18446744073709551616, 2^64+10^9 or 3*(2^32-1)"

// Integer reads an integer as people write it: decimal digits, the operators
// +, -, * and ^ with their usual order, and parentheses. ^ is a power, whose
// exponent is not negative; 2^3^2 is 2^9, and -2^2 is -4.
func Integer(field, text string) (*big.Int, error) {
	if len(text) > MaxExpressionBytes {
		return nil, wrong(field, integerHint, "the integer is written in %d bytes, and the limit is %d", len(text), MaxExpressionBytes)
	}
	p := &integers{field: field, text: text, rest: text}
	x, err := p.sum(0)
	if err != nil {
		return nil, err
	}
	if p.peek() != 0 {
		return nil, p.no()
	}
	return x, nil
}

// integers reads one expression from its start to its end.
type integers struct {
	field, text, rest string
}

// peek is the next byte that is no space; 0 at the end.
func (p *integers) peek() byte {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// take takes the next byte if it is one of these.
func (p *integers) take(of string) (byte, bool) {
	c := p.peek()
	if c == 0 || strings.IndexByte(of, c) < 0 {
		return 0, false
	}
	p.rest = p.rest[1:]
	return c, true
}

func (p *integers) no() error {
	return wrong(p.field, integerHint, "%s is no integer", brief(p.text))
}

// fits refuses what is too large to continue with.
func (p *integers) fits(x *big.Int) (*big.Int, error) {
	if x.BitLen() > MaxBits {
		return nil, p.tooLarge()
	}
	return x, nil
}

func (p *integers) tooLarge() error {
	return wrong(p.field, "choose smaller numbers", "%s has more than %d bits", brief(p.text), MaxBits)
}

func (p *integers) sum(depth int) (*big.Int, error) {
	x, err := p.product(depth)
	for err == nil {
		operator, found := p.take("+-")
		if !found {
			return x, nil
		}
		var y *big.Int
		if y, err = p.product(depth); err != nil {
			return nil, err
		}
		if operator == '-' {
			y = new(big.Int).Neg(y)
		}
		x, err = p.fits(new(big.Int).Add(x, y))
	}
	return nil, err
}

func (p *integers) product(depth int) (*big.Int, error) {
	x, err := p.signed(depth)
	for err == nil {
		if _, found := p.take("*"); !found {
			return x, nil
		}
		var y *big.Int
		if y, err = p.signed(depth); err != nil {
			return nil, err
		}
		x, err = p.fits(new(big.Int).Mul(x, y))
	}
	return nil, err
}

func (p *integers) signed(depth int) (*big.Int, error) {
	if _, negative := p.take("-"); !negative {
		return p.power(depth)
	}
	x, err := p.power(depth)
	if err != nil {
		return nil, err
	}
	return new(big.Int).Neg(x), nil
}

func (p *integers) power(depth int) (*big.Int, error) {
	if depth > MaxNesting { // a chain of ^ nests as well
		return nil, wrong(p.field, "write it with fewer parentheses", "%s nests deeper than %d", brief(p.text), MaxNesting)
	}
	base, err := p.primary(depth)
	if err != nil {
		return nil, err
	}
	if _, found := p.take("^"); !found {
		return base, nil
	}
	exponent, err := p.power(depth + 1)
	if err != nil {
		return nil, err
	}
	return p.raise(base, exponent)
}

// raise refuses a power before it is computed: one of a base of b bits has at least (b-1) times the exponent.
func (p *integers) raise(base, exponent *big.Int) (*big.Int, error) {
	if exponent.Sign() < 0 {
		return nil, wrong(p.field, integerHint, "%s has a negative exponent", brief(p.text))
	}
	if base.BitLen() <= 1 { // -1, 0 and 1 to any power
		if exponent.Sign() == 0 || base.Sign() < 0 && exponent.Bit(0) == 0 {
			return big.NewInt(1), nil
		}
		return base, nil
	}
	if !exponent.IsInt64() || exponent.Int64() > MaxBits || exponent.Int64()*int64(base.BitLen()-1) > MaxBits {
		return nil, p.tooLarge()
	}
	return p.fits(new(big.Int).Exp(base, exponent, nil))
}

func (p *integers) primary(depth int) (*big.Int, error) {
	if _, open := p.take("("); open {
		if depth >= MaxNesting {
			return nil, wrong(p.field, "write it with fewer parentheses", "%s nests deeper than %d", brief(p.text), MaxNesting)
		}
		x, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		if _, closed := p.take(")"); !closed {
			return nil, p.no()
		}
		return x, nil
	}
	p.peek()
	n := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
	if n == 0 {
		return nil, p.no()
	}
	x, ok := new(big.Int).SetString(p.rest[:n], 10)
	if !ok {
		return nil, p.no()
	}
	p.rest = p.rest[n:]
	return p.fits(x)
}
