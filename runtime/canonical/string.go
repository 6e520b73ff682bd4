package canonical

import (
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"
)

// str consumes a string and returns its text after unescaping. Without escapes
// the text is a part of the document, not a copy.
func (s *scanner) str() ([]byte, *Error) {
	s.i++
	start := s.i
	for s.i < len(s.b) {
		c := s.b[s.i]
		switch {
		case c == '"':
			s.i++
			return s.b[start : s.i-1], nil
		case c == '\\':
			return s.escaped(append([]byte(nil), s.b[start:s.i]...))
		case c < 0x20:
			return nil, s.control(c)
		}
		s.i++
	}
	return nil, s.fail(Syntax, s.i, "the document ends inside a string")
}

func (s *scanner) control(c byte) *Error {
	if c == 0 {
		return s.fail(NUL, s.i, "NUL is not allowed in a string")
	}
	return s.fail(Syntax, s.i, "the control character %#02x must be escaped in a string", c)
}

// escaped continues str from the first backslash on, copying the text.
func (s *scanner) escaped(text []byte) ([]byte, *Error) {
	for s.i < len(s.b) {
		c := s.b[s.i]
		switch {
		case c == '"':
			s.i++
			return text, nil
		case c == '\\':
			r, err := s.escape()
			if err != nil {
				return nil, err
			}
			text = utf8.AppendRune(text, r)
		case c < 0x20:
			return nil, s.control(c)
		default:
			text = append(text, c)
			s.i++
		}
	}
	return nil, s.fail(Syntax, s.i, "the document ends inside a string")
}

// short maps the letter of a two-character escape to what it means.
var short = [256]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (s *scanner) escape() (rune, *Error) {
	at := s.i
	if at+1 >= len(s.b) {
		return 0, s.fail(Syntax, at, "the document ends inside an escape")
	}
	c := s.b[at+1]
	if c == 'u' {
		return s.unicode(at)
	}
	r := short[c]
	if r == 0 {
		return 0, s.fail(Syntax, at, "there is no escape \\%c", c)
	}
	if s.strict && c == '/' {
		return 0, s.fail(Escape, at, "a slash is not escaped in canonical JSON")
	}
	s.i += 2
	return r, nil
}

func (s *scanner) unicode(at int) (rune, *Error) {
	r, ok := s.hex4(at)
	if !ok {
		return 0, s.fail(Syntax, at, "\\u needs four hex digits")
	}
	s.i = at + 6
	switch {
	case r == 0:
		return 0, s.fail(NUL, at, "NUL is not allowed in a string")
	case utf16.IsSurrogate(r):
		low, ok := s.hex4(s.i)
		pair := utf16.DecodeRune(r, low)
		if !ok || pair == utf8.RuneError {
			return 0, s.fail(Surrogate, at, "half of a surrogate pair is not a character")
		}
		r, s.i = pair, s.i+6
	}
	if s.strict && !onlyForm(r, s.b[at:at+6]) {
		return 0, s.fail(Escape, at, "canonical JSON does not write U+%04X as %s", r, s.b[at:at+6])
	}
	return r, nil
}

// hex4 reads the \uXXXX at offset at.
func (s *scanner) hex4(at int) (rune, bool) {
	if at+6 > len(s.b) || s.b[at] != '\\' || s.b[at+1] != 'u' {
		return 0, false
	}
	var v [2]byte
	if _, err := hex.Decode(v[:], s.b[at+2:at+6]); err != nil {
		return 0, false
	}
	return rune(v[0])<<8 | rune(v[1]), true
}

// onlyForm reports whether Python writes r as this \u escape: control
// characters without a short escape, in lower-case hex.
func onlyForm(r rune, text []byte) bool {
	if r >= 0x20 {
		return false
	}
	switch r {
	case '\b', '\t', '\n', '\f', '\r':
		return false
	}
	return text[5] < 'A' || text[5] > 'F'
}
