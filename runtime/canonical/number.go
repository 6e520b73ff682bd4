package canonical

import (
	"bytes"
	"math"
	"strconv"
)

// Python's repr prints a float with an exponent from here on, and below here.
const (
	exponentFrom  = 1e16
	exponentBelow = 1e-4
)

func (s *scanner) number() *Error {
	start := s.i
	integer, ok := s.numberToken()
	token := s.b[start:s.i]
	switch {
	case !ok && bytes.HasSuffix(token, []byte("-")) && bytes.HasPrefix(s.b[s.i:], []byte("I")):
		return s.fail(NotFinite, start, "JSON has no NaN and no infinity")
	case !ok:
		return s.fail(Syntax, s.i, "expected a digit")
	case integer && s.strict && string(token) == "-0":
		return s.fail(NumberForm, start, "the integer zero has no sign")
	case integer:
		return nil
	}
	return s.float(start, token)
}

// float checks a number with a fraction or an exponent.
func (s *scanner) float(start int, token []byte) *Error {
	f, err := strconv.ParseFloat(string(token), 64)
	if err != nil || math.IsInf(f, 0) {
		return s.fail(NotFinite, start, "%.40s is too large for a float; write it as an integer or as a string", token)
	}
	if !s.strict {
		return nil
	}
	var buf [32]byte
	if want := appendFloat(buf[:0], f); !bytes.Equal(want, token) {
		return s.fail(NumberForm, start, "the float %.40s is written %s in canonical JSON", token, want)
	}
	return nil
}

// numberToken moves past a number and reports whether it is an integer, and
// whether it is well formed.
func (s *scanner) numberToken() (integer, ok bool) {
	if s.at('-') {
		s.i++
	}
	if s.at('0') {
		s.i++
	} else if !s.digits() {
		return false, false
	}
	integer = true
	if s.at('.') {
		s.i++
		integer = false
		if !s.digits() {
			return false, false
		}
	}
	if s.at('e') || s.at('E') {
		s.i++
		integer = false
		if s.at('+') || s.at('-') {
			s.i++
		}
		if !s.digits() {
			return false, false
		}
	}
	return integer, true
}

func (s *scanner) at(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

// appendFloat prints f as Python's repr does: the shortest digits that read
// back as f.
func appendFloat(b []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs != 0 && (abs >= exponentFrom || abs < exponentBelow) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if bytes.IndexByte(b[start:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}
