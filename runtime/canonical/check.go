package canonical

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how many arrays and objects may enclose one another: deep enough
// for any real result, shallow enough that no recursive reader (Python, Go,
// Postgres, a browser) runs out of stack.
const MaxDepth = 64

// Check reports whether b is canonical JSON of at most maxBytes bytes. The
// error is always an *Error.
func Check(b []byte, maxBytes int) error { return scan(b, maxBytes, true) }

// Valid reports whether b is one JSON document of at most maxBytes bytes that
// every reader understands alike: UTF-8, no NUL, no lone surrogates, no
// duplicate keys, depth at most MaxDepth, no float that overflows. White space,
// key order and escapes are free. The error is always an *Error.
func Valid(b []byte, maxBytes int) error { return scan(b, maxBytes, false) }

// Digest returns the SHA-256 of b as 64 lower-case hex characters.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// IsDigest says whether a text could be a digest of this package.
func IsDigest(s string) bool {
	return len(s) == hex.EncodedLen(sha256.Size) && strings.Trim(s, "0123456789abcdef") == ""
}

func scan(b []byte, maxBytes int, strict bool) error {
	if len(b) > maxBytes {
		return &Error{TooLarge, maxBytes, fmt.Sprintf("%d bytes, at most %d are allowed", len(b), maxBytes)}
	}
	if !utf8.Valid(b) {
		return &Error{NotUTF8, firstInvalid(b), "the document must be UTF-8"}
	}
	s := scanner{b: b, strict: strict}
	if err := s.document(); err != nil {
		return err
	}
	return nil
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// key is an object key as it reads after unescaping, and where it stands.
type key struct {
	text   []byte
	offset int
}

// scanner walks a document once. In strict mode it holds one key per open
// object; otherwise all keys of the open objects, to find duplicates.
type scanner struct {
	b      []byte
	i      int
	depth  int
	strict bool
	keys   []key
}

func (s *scanner) fail(r Reason, at int, format string, args ...any) *Error {
	return &Error{r, at, fmt.Sprintf(format, args...)}
}

func (s *scanner) document() *Error {
	if err := s.value(); err != nil {
		return err
	}
	if err := s.space(); err != nil {
		return err
	}
	if s.i < len(s.b) {
		return s.fail(Syntax, s.i, "there is more after the end of the value")
	}
	return nil
}

// space skips white space, which strict documents do not have.
func (s *scanner) space() *Error {
	start := s.i
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
			continue
		}
		break
	}
	if s.strict && s.i > start {
		return s.fail(WhiteSpace, start, "canonical JSON has no white space between tokens")
	}
	return nil
}

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scanner) peek() (byte, *Error) {
	if err := s.space(); err != nil {
		return 0, err
	}
	if s.i == len(s.b) {
		return 0, nil
	}
	return s.b[s.i], nil
}

func (s *scanner) value() *Error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	switch {
	case c == '{':
		return s.nested(s.object)
	case c == '[':
		return s.nested(s.array)
	case c == '"':
		_, err := s.str()
		return err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	case c == 'N' || c == 'I':
		return s.fail(NotFinite, s.i, "JSON has no NaN and no infinity")
	case s.i == len(s.b):
		return s.fail(Syntax, s.i, "the document ends where a value should stand")
	}
	return s.fail(Syntax, s.i, "%q cannot start a value", rune(c))
}

func (s *scanner) nested(body func() *Error) *Error {
	if s.depth == MaxDepth {
		return s.fail(TooDeep, s.i, "nested deeper than %d arrays and objects", MaxDepth)
	}
	s.depth++
	s.i++
	err := body()
	s.depth--
	return err
}

func (s *scanner) literal(word string) *Error {
	if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
		return s.fail(Syntax, s.i, "expected %s", word)
	}
	s.i += len(word)
	return nil
}

func (s *scanner) array() *Error {
	if c, err := s.peek(); err != nil || c == ']' {
		s.i++
		return err
	}
	for {
		if err := s.value(); err != nil {
			return err
		}
		if done, err := s.next(']'); done || err != nil {
			return err
		}
	}
}

// next consumes a comma or the closing bracket and reports the latter.
func (s *scanner) next(closing byte) (bool, *Error) {
	c, err := s.peek()
	if err != nil {
		return false, err
	}
	if c != ',' && c != closing {
		return false, s.fail(Syntax, s.i, "expected a comma or %q", rune(closing))
	}
	s.i++
	return c == closing, nil
}

func (s *scanner) object() *Error {
	mark := len(s.keys)
	defer func() { s.keys = s.keys[:mark] }()
	if c, err := s.peek(); err != nil || c == '}' {
		s.i++
		return err
	}
	for {
		if err := s.member(mark); err != nil {
			return err
		}
		done, err := s.next('}')
		if err != nil {
			return err
		}
		if done {
			return s.unique(mark)
		}
	}
}

func (s *scanner) member(mark int) *Error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c != '"' {
		return s.fail(Syntax, s.i, "an object key must be a string")
	}
	k := key{offset: s.i}
	if k.text, err = s.str(); err != nil {
		return err
	}
	if err := s.remember(mark, k); err != nil {
		return err
	}
	if c, err = s.peek(); err != nil {
		return err
	}
	if c != ':' {
		return s.fail(Syntax, s.i, "expected a colon after the key")
	}
	s.i++
	return s.value()
}

// remember notes a key of the open object. UTF-8 sorts as its code points do,
// so comparing bytes is Python's order of str.
func (s *scanner) remember(mark int, k key) *Error {
	if !s.strict || len(s.keys) == mark {
		s.keys = push(s.keys, k)
		return nil
	}
	switch bytes.Compare(s.keys[mark].text, k.text) {
	case 0:
		return s.duplicate(k)
	case 1:
		return s.fail(KeyOrder, k.offset, "keys must ascend: %.40q stands before %.40q", s.keys[mark].text, k.text)
	}
	s.keys[mark] = k
	return nil
}

// push appends to a list that may become long: it doubles, where append by itself
// allocates five times what it ends with.
func push[T any](list []T, item T) []T {
	if len(list) == cap(list) {
		list = slices.Grow(list, max(8, len(list)))
	}
	return append(list, item)
}

func (s *scanner) unique(mark int) *Error {
	keys := s.keys[mark:]
	if len(keys) < 2 {
		return nil
	}
	slices.SortFunc(keys, func(a, b key) int { return bytes.Compare(a.text, b.text) })
	for i := 1; i < len(keys); i++ {
		if bytes.Equal(keys[i-1].text, keys[i].text) {
			return s.duplicate(keys[i])
		}
	}
	return nil
}

func (s *scanner) duplicate(k key) *Error {
	return s.fail(DuplicateKey, k.offset, "the key %.40q stands twice in one object", k.text)
}
