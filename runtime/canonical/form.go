package canonical

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Form brings one JSON document into its only permitted form: for programs that
// print JSON as their language does. What [Valid] refuses is refused; integers
// stay exact, and a number with a fraction or an exponent is a float. The form
// may be longer than the document: 1e2 becomes 100.0.
func Form(b []byte, maxBytes int) ([]byte, error) {
	if err := Valid(b, maxBytes); err != nil {
		return nil, err
	}
	f := former{scanner: scanner{b: b}, out: make([]byte, 0, len(b))}
	if err := f.value(); err != nil {
		return nil, err
	}
	if err := Check(f.out, len(f.out)); err != nil {
		return nil, err
	}
	return f.out, nil
}

// former writes a valid document in its form while it reads it. It makes no tree
// of it, which would take fifty times the memory: it remembers where the members
// of the open objects stand in what it has written.
type former struct {
	scanner
	out     []byte
	members []span
	spare   []byte // for members that are put in order
}

// span is where a member, from its key on, stands in what was written.
type span struct{ from, to int }

func (f *former) value() *Error {
	c, err := f.peek()
	if err != nil {
		return err
	}
	switch c {
	case '{':
		return f.nested(f.object)
	case '[':
		return f.nested(f.array)
	case '"':
		return f.text()
	}
	from := f.i
	if err := f.scanner.value(); err != nil {
		return err
	}
	return f.scalar(from, f.b[from:f.i])
}

// scalar writes a number or a word that stands in a document.
func (f *former) scalar(at int, token []byte) *Error {
	word := token[0] == 't' || token[0] == 'f' || token[0] == 'n'
	if word || !bytes.ContainsAny(token, ".eE") {
		if string(token) == "-0" {
			token = token[1:]
		}
		f.out = append(f.out, token...)
		return nil
	}
	number, err := strconv.ParseFloat(string(token), 64)
	if err != nil {
		return f.fail(NotFinite, at, "%.40s is too large for a float", token)
	}
	f.out = appendFloat(f.out, number)
	return nil
}

func (f *former) array() *Error {
	f.out = append(f.out, '[')
	for {
		more, err := f.more(']')
		if err != nil || !more {
			return err
		}
		if err := f.value(); err != nil {
			return err
		}
	}
}

// more moves to the next item or member, or past the closing bracket.
func (f *former) more(closing byte) (bool, *Error) {
	c, err := f.peek()
	if err != nil {
		return false, err
	}
	if c == closing || c == ',' {
		f.i++
		f.out = append(f.out, c)
	}
	return c != closing, nil
}

func (f *former) object() *Error {
	f.out = append(f.out, '{')
	mark := len(f.members)
	defer func() { f.members = f.members[:mark] }()
	for {
		more, err := f.more('}')
		if err != nil {
			return err
		}
		if !more {
			f.arrange(f.members[mark:])
			return nil
		}
		from := len(f.out)
		if err := f.member(); err != nil {
			return err
		}
		f.members = push(f.members, span{from, len(f.out)})
	}
}

func (f *former) member() *Error {
	if _, err := f.peek(); err != nil {
		return err
	}
	if err := f.text(); err != nil {
		return err
	}
	if _, err := f.peek(); err != nil {
		return err
	}
	f.i++ // the colon
	f.out = append(f.out, ':')
	return f.value()
}

// arrange puts the members of an object, the last of what was written, in the
// order of their keys.
func (f *former) arrange(members []span) {
	byKey := func(a, b span) int { return compareKeys(f.out[a.from:], f.out[b.from:]) }
	if slices.IsSortedFunc(members, byKey) {
		return
	}
	at := members[0].from
	start := at
	f.spare = append(f.spare[:0], f.out[start:]...)
	slices.SortFunc(members, byKey)
	for i, m := range members {
		if i > 0 {
			f.out[at] = ','
			at++
		}
		at += copy(f.out[at:], f.spare[m.from-start:m.to-start])
	}
}

// compareKeys compares two keys that stand in their form at the starts of a and
// b, as the texts that they mean.
func compareKeys(a, b []byte) int {
	a, b = a[1:], b[1:]
	for {
		x, n := meaning(a)
		y, m := meaning(b)
		if x != y || x < 0 {
			return cmp.Compare(x, y)
		}
		a, b = a[n:], b[m:]
	}
}

// meaning is the next byte of a text in its form, and how many bytes it is
// written with; -1 is the end.
func meaning(b []byte) (int, int) {
	switch {
	case b[0] == '"':
		return -1, 1
	case b[0] != '\\':
		return int(b[0]), 1
	case b[1] != 'u':
		return int(short[b[1]]), 2
	}
	var c [1]byte
	_, _ = hex.Decode(c[:], b[4:6]) // we have written them
	return int(c[0]), 6
}

// text writes a string of the document.
func (f *former) text() *Error {
	f.out = append(f.out, '"')
	f.i++
	for from := f.i; f.i < len(f.b); {
		switch f.b[f.i] {
		case '"':
			f.out = append(f.out, f.b[from:f.i+1]...)
			f.i++
			return nil
		case '\\':
			f.out = append(f.out, f.b[from:f.i]...)
			r, err := f.escape()
			if err != nil {
				return err
			}
			f.out = appendRune(f.out, r)
			from = f.i
		default:
			f.i++
		}
	}
	return f.fail(Syntax, f.i, "the document ends inside a string")
}

// appendRune escapes what must be and nothing else, as Python does.
func appendRune(b []byte, r rune) []byte {
	const escaped, letters = "\"\\\b\f\n\r\t", `"\bfnrt`
	if at := strings.IndexRune(escaped, r); at >= 0 {
		return append(b, '\\', letters[at])
	}
	if r < 0x20 {
		return fmt.Appendf(b, `\u%04x`, r)
	}
	return utf8.AppendRune(b, r)
}
