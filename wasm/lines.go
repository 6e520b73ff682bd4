package wasm

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of what a module prints: canonical output of a
// function may be 64 deep and is wrapped a few times.
const MaxDepth = 128

// splitter cuts a module's stdout into lines and checks each.
type splitter struct {
	limits Limits
	out    func([]byte) error

	line  []byte // the line that is not complete yet
	lines int64
	bytes int64
	// bad is why the first line that is not JSON is not. What follows it is
	// read and dropped, so that the module may come to its end and tell more.
	bad error
}

// write takes a piece of stdout. An error means that the run must end: the
// runner should have kept the limits, or out refused a line.
func (s *splitter) write(chunk []byte) error {
	if s.bytes += int64(len(chunk)); s.bytes > s.limits.Output {
		return errOverLimit
	}
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			break
		}
		s.line = append(s.line, chunk[:i]...)
		chunk = chunk[i+1:]
		if err := s.emit(); err != nil {
			return err
		}
	}
	s.line = append(s.line, chunk...)
	if int64(len(s.line)) > s.limits.Line {
		return errOverLimit
	}
	return nil
}

// end takes a last line without a line end for a line.
func (s *splitter) end() error {
	if len(s.line) == 0 {
		return nil
	}
	return s.emit()
}

func (s *splitter) emit() error {
	line := s.line
	s.line = s.line[:0]
	if int64(len(line)) > s.limits.Line {
		return errOverLimit
	}
	if s.lines++; s.lines > MaxLines {
		return errTooManyLines
	}
	if s.bad != nil {
		return nil //nolint:nilerr // told when the module has come to its end
	}
	if err := checkJSON(line); err != nil {
		s.bad = fmt.Errorf("line %d of stdout %w", s.lines, err)
		return nil
	}
	return s.out(line)
}

// checkJSON tells what keeps a line from being one JSON value that every part
// of the system can hold: PostgreSQL stores neither NUL nor half a surrogate pair.
func checkJSON(line []byte) error {
	if !utf8.Valid(line) {
		return fmt.Errorf("is not UTF-8")
	}
	var v json.RawMessage
	if err := json.Unmarshal(line, &v); err != nil {
		return fmt.Errorf("is not JSON: %s", clean(err.Error()))
	}
	depth := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("is nested deeper than %d", MaxDepth)
			}
		case '}', ']':
			depth--
		case '"':
			n, err := checkString(line[i+1:])
			if err != nil {
				return err
			}
			i += n
		}
	}
	return nil
}

// checkString reads a valid JSON string after its opening quote and returns its
// length with the closing quote.
func checkString(b []byte) (int, error) {
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			i++
			if b[i] != 'u' {
				continue
			}
			unit := hex4(b[i+1:])
			i += 4
			switch {
			case unit == 0:
				return 0, fmt.Errorf("holds the character NUL")
			case unit >= 0xdc00 && unit <= 0xdfff:
				return 0, fmt.Errorf("holds half a surrogate pair")
			case unit >= 0xd800 && unit <= 0xdbff:
				if len(b) < i+7 || b[i+1] != '\\' || b[i+2] != 'u' || hex4(b[i+3:])>>10 != 0xdc00>>10 {
					return 0, fmt.Errorf("holds half a surrogate pair")
				}
				i += 6
			}
		}
	}
}

func hex4(b []byte) (unit uint16) {
	var raw [2]byte
	if _, err := hex.Decode(raw[:], b[:4]); err != nil {
		return 0xdc00 // not possible in valid JSON; refused as half a pair
	}
	return uint16(raw[0])<<8 | uint16(raw[1])
}

// feeder turns the header and the records into the module's stdin.
type feeder struct {
	header  []byte
	records iter.Seq2[[]byte, error]
	maxLine int64

	lines int64 // records, the header not counted
	bytes int64
}

var lineEnd = []byte{'\n'}

// all yields the bytes to send. The header is ours and is not counted.
func (f *feeder) all(yield func([]byte, error) bool) {
	if !yield(f.header, nil) || !yield(lineEnd, nil) || f.records == nil {
		return
	}
	for record, err := range f.records {
		if err == nil {
			err = f.check(record)
		}
		if err != nil {
			yield(nil, fmt.Errorf("record %d: %w", f.lines+1, err))
			return
		}
		f.lines++
		f.bytes += int64(len(record)) + 1
		if !yield(record, nil) || !yield(lineEnd, nil) {
			return
		}
	}
}

func (f *feeder) check(record []byte) error {
	if int64(len(record)) > f.maxLine {
		return fmt.Errorf("it is %d bytes; at most %d are allowed (pass large results by reference)", len(record), f.maxLine)
	}
	if bytes.IndexByte(record, '\n') >= 0 {
		return fmt.Errorf("it is more than one line")
	}
	return nil
}
