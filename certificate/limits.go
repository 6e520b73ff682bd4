package certificate

import (
	"errors"
	"math/big"
)

// What a certificate may be. Whoever writes one may be hostile: without these bounds a small file could keep a verifier busy for days.
const (
	// MaxBytes bounds the text of a certificate, in bytes. A chain for 1,200 digits has about half of it.
	MaxBytes = 2 << 20
	// MaxDigits bounds a number, in decimal digits. A step for a number of that size takes a tenth of a second.
	MaxDigits = 1500
	// MaxSteps bounds the steps of a certificate. A chain for MaxDigits has some hundred.
	MaxSteps = 2000
	// MaxFactors bounds the prime factors that one step rests on. A number of MaxDigits has at most 600 different ones.
	MaxFactors = 600
	// MaxWork bounds what a certificate takes to verify, in products of two 64-bit words: about a minute of one core.
	MaxWork = 1 << 36
)

// ErrTooMuchWork says that a certificate would take more than MaxWork to verify. It may be right.
var ErrTooMuchWork = errors.New("verifying it takes more than 2^36 products of 64-bit words, which is the most that is spent on one certificate")

// meter counts down what may still be spent.
type meter struct{ left int64 }

// products takes so many modular products of numbers like n off what is left. A product and its reduction are 2 words².
func (m *meter) products(count int, n *big.Int) error {
	words := int64(n.BitLen()/64 + 1)
	m.left -= 2 * int64(count) * words * words
	if m.left < 0 {
		return ErrTooMuchWork
	}
	return nil
}

// exp is base^exponent mod n, for an exponent that is not negative.
func (m *meter) exp(base, exponent, n *big.Int) (*big.Int, error) {
	if err := m.products(exponent.BitLen()+exponent.BitLen()/4+8, n); err != nil {
		return nil, err
	}
	return new(big.Int).Exp(base, exponent, n), nil
}

// gcd is the greatest common divisor of the two, which are not negative.
func (m *meter) gcd(a, n *big.Int) (*big.Int, error) {
	if err := m.products(n.BitLen()/16+8, n); err != nil {
		return nil, err
	}
	return new(big.Int).GCD(nil, nil, a, n), nil
}
