package certificate

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// theorem is what a type of step rests on.
type theorem struct {
	source string
	fields []string // exactly these; nil: Q[1] and on, and what the rule says
	verify func(*stepCheck) error
}

// theorems are the types of steps. docs/certificates.md has what each says.
var theorems map[string]theorem

func init() { //nolint:gochecknoinits // a literal would refer to itself: the checks of steps ask for types
	theorems = map[string]theorem{
		"Small":       {"Miller-Rabin to the first 13 prime bases decides below 2^64 (Sorenson, Webster 2015)", []string{"N"}, (*stepCheck).small},
		"Pocklington": {"Pocklington 1914", []string{"N", "Q", "A"}, (*stepCheck).pocklington},
		"BLS3":        {"Brillhart, Lehmer, Selfridge 1975, theorem 3", []string{"N", "Q", "A"}, (*stepCheck).bls3},
		"BLS15":       {"Brillhart, Lehmer, Selfridge 1975, theorem 15", []string{"N", "Q", "LP", "LQ"}, (*stepCheck).bls15},
		"BLS5":        {"Brillhart, Lehmer, Selfridge 1975, theorem 5", nil, (*stepCheck).bls5},
		"Lucas":       {"Lucas 1891, Lehmer 1927 (a tree of these is Pratt's, 1975)", nil, (*stepCheck).lucas},
		"ECPP":        {"Goldwasser, Kilian 1986; Atkin, Morain 1993", []string{"N", "A", "B", "M", "Q", "X", "Y"}, (*stepCheck).ecpp},
	}
}

func types() []string { return slices.Sorted(maps.Keys(theorems)) }

func (s *Step) label() string {
	if s.N == nil {
		return s.Type + " step"
	}
	return s.Type + " step for " + short(s.N)
}

// short is a number for a message.
func short(n *big.Int) string {
	text := n.String()
	if len(text) <= 30 {
		return text
	}
	return fmt.Sprintf("%s…%s (%d digits)", text[:12], text[len(text)-8:], len(strings.TrimPrefix(text, "-")))
}

func (s *Step) value(name string, index int) *big.Int {
	for _, f := range s.fields {
		if f.name == name && f.index == index {
			return f.value
		}
	}
	return nil
}

// check holds the lines of a step against its type.
func (s *Step) check() error {
	want := theorems[s.Type].fields
	if want == nil {
		return s.checkFactors()
	}
	for _, f := range s.fields {
		if f.index >= 0 || !slices.Contains(want, f.name) {
			return wrong(f.line, "a %s step has no %s: it has %s", s.Type, f.label(), strings.Join(want, ", "))
		}
	}
	for _, name := range want {
		if s.value(name, -1) == nil {
			return wrong(s.Line, "the %s lacks %s", s.label(), name)
		}
	}
	return s.checkN()
}

func (s *Step) checkN() error {
	if s.N.Cmp(one) <= 0 {
		return wrong(s.Line, "the %s: a prime is greater than 1", s.label())
	}
	return nil
}

// checkFactors holds the lines of a step with any number of factors against its type: Q[1], Q[2] and so on without a gap, A of a Lucas
// step, and A[0] and on of a BLS5 step, in which 2 is Q[0].
func (s *Step) checkFactors() error {
	if s.N == nil {
		return wrong(s.Line, "the %s lacks N", s.label())
	}
	factors := 0
	for _, f := range s.fields {
		if f.name == "Q" && f.index > 0 {
			factors++
		}
	}
	for _, f := range s.fields {
		ok := f.name == "N" && f.index < 0 || f.name == "Q" && f.index > 0 && f.index <= factors
		if s.Type == "Lucas" {
			ok = ok || f.name == "A" && f.index < 0
		} else {
			ok = ok || f.name == "A" && f.index >= 0 && f.index <= factors
		}
		if !ok {
			return wrong(f.line, "%s does not fit into a %s step with %d factors Q[1], Q[2], …", f.label(), s.Type, factors)
		}
	}
	switch {
	case factors > MaxFactors:
		return wrong(s.Line, "the %s rests on %d factors, at most %d are read", s.label(), factors, MaxFactors)
	case s.Type == "Lucas" && s.value("A", -1) == nil:
		return wrong(s.Line, "the %s lacks A", s.label())
	case s.Type == "BLS5" && !s.closed:
		return wrong(s.Line, "the %s does not end with a line of dashes", s.label())
	}
	return s.checkN()
}

// factors are Q[1], Q[2] and so on.
func (s *Step) factors() (list []*big.Int) {
	for i := 1; ; i++ {
		q := s.value("Q", i)
		if q == nil {
			return list
		}
		list = append(list, q)
	}
}

// restsOn are the numbers that must be prime for the step to prove anything.
func (s *Step) restsOn() []*big.Int {
	if q := s.value("Q", -1); q != nil {
		return []*big.Int{q}
	}
	return s.factors()
}
