package certificate

import (
	"fmt"
	"math/big"
)

var (
	one      = big.NewInt(1)
	two      = big.NewInt(2)
	smallEnd = new(big.Int).Lsh(one, 64) // from here on a number needs a step of its own
)

// Proof is what was proved, and by what.
type Proof struct {
	N      string   `json:"n"`
	Digits int      `json:"digits"`
	Steps  []Proved `json:"steps,omitempty"` // in the order of the certificate
	Small  []string `json:"small,omitempty"` // primes below 2^64 that steps rest on: Miller-Rabin to the first 13 prime bases decides them
}

// Proved is a step that holds.
type Proved struct {
	Type    string   `json:"type"`
	Line    int      `json:"line"`
	N       string   `json:"n"`
	RestsOn []string `json:"rests_on,omitempty"`
	Theorem string   `json:"theorem"`
}

// stepCheck is the verification of one step.
type stepCheck struct {
	*Step
	*meter
}

// fails is why a step proves nothing. It does not say that N is composite.
func fails(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Verify proves that N is prime, or says which step does not. Every step must hold, needed or not.
func (c Certificate) Verify() (Proof, error) { return c.verify(&meter{left: MaxWork}) }

func (c Certificate) verify(m *meter) (Proof, error) {
	p := Proof{N: c.N.String(), Digits: len(c.N.String())}
	steps := map[string]*Step{}
	for i := range c.Steps {
		s := &c.Steps[i]
		rule := theorems[s.Type]
		if err := rule.verify(&stepCheck{s, m}); err != nil {
			return Proof{}, &Error{Line: s.Line, Step: s.label(), Err: err}
		}
		done := Proved{Type: s.Type, Line: s.Line, N: s.N.String(), Theorem: rule.source}
		for _, q := range s.restsOn() {
			done.RestsOn = append(done.RestsOn, q.String())
		}
		p.Steps = append(p.Steps, done)
		steps[s.N.String()] = s
	}
	small, err := c.tree(steps, m)
	p.Small = small
	if err != nil {
		return Proof{}, err
	}
	return p, nil
}

// tree follows the steps from N down to small primes, which it returns. Every step rests on smaller numbers, so that it ends.
func (c Certificate) tree(steps map[string]*Step, m *meter) (small []string, err error) {
	type need struct {
		n  *big.Int
		by *Step
	}
	seen := map[string]bool{}
	for open := []need{{n: c.N}}; len(open) > 0; {
		next := open[0]
		open = open[1:]
		key := next.n.String()
		if seen[key] {
			continue
		}
		seen[key] = true
		if s := steps[key]; s != nil {
			for _, q := range s.restsOn() {
				open = append(open, need{q, s})
			}
			continue
		}
		line, why := c.Line, "the number to prove"
		if next.by != nil {
			line, why = next.by.Line, "which the "+next.by.label()+" rests on"
		}
		if next.n.Cmp(smallEnd) >= 0 {
			return nil, wrong(line, "no step proves %s, %s", short(next.n), why)
		}
		prime, err := m.isSmallPrime(next.n)
		if err != nil {
			return nil, &Error{Line: line, Err: err}
		}
		if !prime {
			return nil, wrong(line, "%s, %s, is not prime", short(next.n), why)
		}
		small = append(small, key)
	}
	return small, nil
}
