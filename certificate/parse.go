package certificate

import (
	"bytes"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Header is the line that a certificate begins with.
const Header = "[MPU - Primality Certificate]"

// Certificate is what a text says. Nothing of it is proved before Verify.
type Certificate struct {
	N     *big.Int
	Steps []Step
	// Line is where the certificate begins in the text that it was read from.
	Line int
}

// Step is one "if these are prime, so is N" of a certificate.
type Step struct {
	Type   string // as it is written, for example BLS5
	N      *big.Int
	Line   int // of "Type"
	fields []field
	closed bool // by a line of dashes
}

// field is a line of a step: a name and a number.
type field struct {
	name  string // N, Q, …
	index int    // of Q[1]; -1 without one
	value *big.Int
	line  int
}

// Error says what is wrong with a certificate, and where.
type Error struct {
	Line int // the first one has the number 1
	Step string
	Err  error
}

func (e *Error) Error() string {
	if e.Step == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d, %s: %v", e.Line, e.Step, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

func wrong(line int, format string, args ...any) error {
	return &Error{Line: line, Err: fmt.Errorf(format, args...)}
}

// Split cuts a text into its certificates, each with the line at which it begins. What stands before the first one, such as what a program
// said while it was looking for a proof, is left out, as the format has it.
func Split(text []byte) (parts [][]byte, lines []int) {
	start, line := -1, 0
	for at := 0; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line++
		if trimmed(text[at:end]) == Header {
			if start >= 0 {
				parts = append(parts, text[start:at])
			}
			start, lines = at, append(lines, line)
		}
		at = end
	}
	if start >= 0 {
		parts = append(parts, text[start:])
	}
	return parts, lines
}

func trimmed(line []byte) string { return strings.TrimRight(string(line), " \t\r\n") }

// Parse reads one certificate, whose first line has the number given in what it came from.
func Parse(text []byte, first int) (Certificate, error) {
	if len(text) > MaxBytes {
		return Certificate{}, wrong(first, "the certificate has %d bytes, at most %d are read", len(text), MaxBytes)
	}
	p := parser{line: first, c: Certificate{Line: first}}
	for line := range bytes.Lines(text) {
		if err := p.take(trimmed(line)); err != nil {
			return Certificate{}, err
		}
		p.line++
	}
	return p.c, p.end()
}

// parser reads a certificate line by line.
type parser struct {
	c                        Certificate
	line                     int
	header, version, base    bool
	candidate, wantCandidate bool
}

var (
	plainField = regexp.MustCompile(`^([A-Z]{1,2})[ \t]+(-?(?:0|[1-9][0-9]*))$`)
	indexField = regexp.MustCompile(`^([QA])\[(0|[1-9][0-9]{0,3})\][ \t]+([1-9][0-9]*)$`)
)

func (p *parser) take(line string) error {
	switch {
	case line == "" || line[0] == '#':
		return nil
	case !p.header:
		if line != Header {
			return wrong(p.line, "this is no certificate: %q is expected", Header)
		}
		p.header = true
		return nil
	case p.wantCandidate:
		return p.takeCandidate(line)
	case strings.HasPrefix(line, "Type "):
		return p.begin(strings.TrimSpace(strings.TrimPrefix(line, "Type ")))
	case !p.candidate:
		return p.preamble(line)
	case line[0] == '-' && strings.Trim(line, "-") == "":
		return p.close()
	default:
		return p.takeField(line)
	}
}

// preamble reads what stands before the first step.
func (p *parser) preamble(line string) error {
	switch {
	case line == "Proof for:":
		p.wantCandidate = true
		return nil
	case strings.HasPrefix(line, "Version "):
		if line != "Version 1.0" || p.version {
			return wrong(p.line, "%.40q: version 1.0 of the format is read, and is named once", line)
		}
		p.version = true
		return nil
	case strings.HasPrefix(line, "Base "):
		if line != "Base 10" || p.base {
			return wrong(p.line, "%.40q: numbers to the base 10 are read, and it is named once", line)
		}
		p.base = true
		return nil
	}
	return wrong(p.line, "%.40q is not understood: \"Proof for:\" is expected", line)
}

func (p *parser) takeCandidate(line string) error {
	f, err := p.field(line)
	if err != nil {
		return err
	}
	if f.name != "N" || f.index >= 0 || f.value.Sign() <= 0 {
		return wrong(p.line, "after \"Proof for:\" comes the number, as N and its digits")
	}
	p.c.N, p.wantCandidate, p.candidate = f.value, false, true
	return nil
}

func (p *parser) begin(kind string) error {
	if !p.candidate {
		return wrong(p.line, "a step comes before the number that is proved: \"Proof for:\" is expected")
	}
	if _, known := theorems[kind]; !known {
		return wrong(p.line, "the type of step %.20q is not verified here: there are %s", kind, strings.Join(types(), ", "))
	}
	if len(p.c.Steps) == MaxSteps {
		return wrong(p.line, "there are more than %d steps", MaxSteps)
	}
	p.c.Steps = append(p.c.Steps, Step{Type: kind, Line: p.line})
	return nil
}

// close ends the steps that have any number of lines.
func (p *parser) close() error {
	s := p.last()
	if s == nil || s.closed || s.Type != "BLS5" {
		return wrong(p.line, "a line of dashes ends a BLS5 step, and there is none to end")
	}
	s.closed = true
	return nil
}

func (p *parser) last() *Step {
	if len(p.c.Steps) == 0 {
		return nil
	}
	return &p.c.Steps[len(p.c.Steps)-1]
}

func (p *parser) takeField(line string) error {
	s := p.last()
	if s == nil || s.closed {
		return wrong(p.line, "%.40q belongs to no step: \"Type …\" is expected", line)
	}
	f, err := p.field(line)
	if err != nil {
		return err
	}
	same := func(o field) bool { return o.name == f.name && o.index == f.index }
	if i := slices.IndexFunc(s.fields, same); i >= 0 {
		return wrong(p.line, "%s stands in the step already, on line %d", f.label(), s.fields[i].line)
	}
	if len(s.fields) > 2*MaxFactors+2 {
		return wrong(p.line, "the step rests on more than %d factors", MaxFactors)
	}
	s.fields = append(s.fields, f)
	if f.name == "N" && f.index < 0 {
		s.N = f.value
	}
	return nil
}

func (p *parser) field(line string) (field, error) {
	f := field{index: -1, line: p.line}
	var digits string
	if m := plainField.FindStringSubmatch(line); m != nil {
		f.name, digits = m[1], m[2]
	} else if m := indexField.FindStringSubmatch(line); m != nil {
		f.name, digits = m[1], m[3]
		f.index, _ = strconv.Atoi(m[2]) // four digits at most
	} else {
		return f, wrong(p.line, "%.40q is not understood: a name and a number in plain decimal digits are expected", line)
	}
	if len(strings.TrimPrefix(digits, "-")) > MaxDigits {
		return f, wrong(p.line, "%s has more than %d digits", f.label(), MaxDigits)
	}
	f.value, _ = new(big.Int).SetString(digits, 10) // digits alone
	return f, nil
}

func (f field) label() string {
	if f.index < 0 {
		return f.name
	}
	return fmt.Sprintf("%s[%d]", f.name, f.index)
}

func (p *parser) end() error {
	switch {
	case !p.header:
		return wrong(p.line, "this is no certificate: it does not begin with %q", Header)
	case !p.candidate:
		return wrong(p.line, "the certificate ends before \"Proof for:\" and the number")
	}
	proved := map[string]int{}
	for i := range p.c.Steps {
		s := &p.c.Steps[i]
		if err := s.check(); err != nil {
			return err
		}
		n := s.N.String()
		if before, twice := proved[n]; twice {
			return wrong(s.Line, "%s: the step on line %d proves that number already", s.label(), before)
		}
		proved[n] = s.Line
	}
	return nil
}
