package certificate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
)

// The verdicts and proofs of a statement, which examples/certify returns and examples/modules/proved judges.
const (
	Prime     = "prime"
	Composite = "composite"

	ByMillerRabin = "miller-rabin-13" // below bound: it passes the first 13 prime bases
	ByCertificate = "certificate"
	ByFactor      = "factor"
	ByWitness     = "witness" // a base to which it is no strong probable prime
)

// Statement is what a function says about a number.
type Statement struct {
	N           string `json:"n"`
	Verdict     string `json:"verdict"`
	Proof       string `json:"proof"`
	Bases       []int  `json:"bases,omitempty"`
	Certificate string `json:"certificate,omitempty"`
	Factor      string `json:"factor,omitempty"`
	Witness     string `json:"witness,omitempty"`
}

// Shown is a statement that holds.
type Shown struct {
	N       string `json:"n"`
	Digits  int    `json:"digits"`
	Verdict string `json:"verdict"`
	Theorem string `json:"theorem"`
	Proof   *Proof `json:"proof,omitempty"` // of a certificate
}

var plainNumber = regexp.MustCompile(`^[1-9][0-9]*$`)

// ParseStatement reads a statement. What it does not know it refuses: a field that nobody checks might be believed.
func ParseStatement(text []byte) (Statement, error) {
	var s Statement
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return s, fmt.Errorf("reading a statement about a number: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return s, errors.New("reading a statement about a number: something follows it")
	}
	return s, exactly(text, "n", "verdict", "proof", evidence[s.Proof])
}

// evidence is the field that each proof has beside the number, the verdict and its own name.
var evidence = map[string]string{ByMillerRabin: "bases", ByCertificate: "certificate", ByFactor: "factor", ByWitness: "witness"}

// exactly fails unless the object has these fields, each once. encoding/json takes "N" for "n", and the last of two: another reader may take
// the other one.
func exactly(text []byte, names ...string) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil { // the brace
		return err
	}
	var have []string
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		have = append(have, fmt.Sprint(name))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
	}
	slices.Sort(have)
	slices.Sort(names)
	if !slices.Equal(have, names) {
		return fmt.Errorf("reading a statement about a number: it has the fields %.200q, and %q are expected, each once", have, names)
	}
	return nil
}

// Verify shows that the statement holds, or says why it does not.
func (s Statement) Verify() (Shown, error) {
	n, err := number("n", s.N)
	if err != nil {
		return Shown{}, err
	}
	m := &meter{left: MaxWork}
	shown := Shown{N: s.N, Digits: len(s.N), Verdict: s.Verdict}
	switch s.Verdict + " by " + s.Proof {
	case Prime + " by " + ByMillerRabin:
		shown.Theorem = "no composite below 3317044064679887385961981 passes Miller-Rabin to the first 13 prime bases (Sorenson, Webster 2015)"
		err = s.millerRabin(n, m)
	case Prime + " by " + ByCertificate:
		shown.Theorem = "those of the certificate's steps"
		shown.Proof, err = s.certificate()
	case Composite + " by " + ByFactor:
		shown.Theorem = "a factor between 1 and the number divides it"
		err = s.factor(n)
	case Composite + " by " + ByWitness:
		shown.Theorem = "it is no strong probable prime to the base " + s.Witness + " (Miller 1976, Rabin 1980)"
		err = s.witness(n, m)
	default:
		err = fmt.Errorf("the verdict %.20q by %.20q is none that is known", s.Verdict, s.Proof)
	}
	if err != nil {
		return Shown{}, fmt.Errorf("%s is not shown to be %.20q: %w", short(n), s.Verdict, err)
	}
	return shown, nil
}

func number(name, text string) (*big.Int, error) {
	if len(text) > MaxDigits {
		return nil, fmt.Errorf("%s has more than %d digits", name, MaxDigits)
	}
	if !plainNumber.MatchString(text) {
		return nil, fmt.Errorf("%s %.40q is no number above 0 in plain decimal digits", name, text)
	}
	n, _ := new(big.Int).SetString(text, 10) // digits alone
	return n, nil
}

func (s Statement) millerRabin(n *big.Int, m *meter) error {
	if !slices.EqualFunc(s.Bases, bases, func(a int, b int64) bool { return int64(a) == b }) {
		return errors.New("its bases are not the first 13 primes")
	}
	if n.Cmp(bound) >= 0 {
		return fmt.Errorf("Miller-Rabin to the first 13 prime bases decides nothing from %s on, which passes and is composite", bound)
	}
	prime, err := m.isSmallPrime(n)
	if err == nil && !prime {
		err = errors.New("it does not pass")
	}
	return err
}

func (s Statement) certificate() (*Proof, error) {
	c, err := Parse([]byte(s.Certificate), 1)
	if err != nil {
		return nil, err
	}
	if c.N.String() != s.N {
		return nil, fmt.Errorf("the certificate is about %s", short(c.N))
	}
	p, err := c.Verify()
	return &p, err
}

func (s Statement) factor(n *big.Int) error {
	f, err := number("the factor", s.Factor)
	if err != nil {
		return err
	}
	if f.Cmp(one) <= 0 || f.Cmp(n) >= 0 || new(big.Int).Mod(n, f).Sign() != 0 {
		return fmt.Errorf("%s is no factor between 1 and the number", short(f))
	}
	return nil
}

func (s Statement) witness(n *big.Int, m *meter) error {
	w, err := number("the witness", s.Witness)
	if err != nil {
		return err
	}
	if n.Bit(0) == 0 || w.Cmp(one) <= 0 || w.Cmp(n) >= 0 {
		return errors.New("a witness is between 1 and an odd number")
	}
	passes, err := m.strong(n, w)
	if err == nil && passes {
		err = fmt.Errorf("it is a strong probable prime to the base %s", short(w))
	}
	return err
}
