package partition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// checkItem says why an item cannot be a shard's input. What it refuses would
// be read differently by different readers (duplicate keys, lone surrogates),
// or could not be stored (NUL), or is not JSON at all.
func checkItem(item []byte) *Error {
	if len(item) > MaxItemBytes {
		return &Error{
			Code:   CodeItemTooLarge,
			Detail: fmt.Sprintf("the item has %d bytes, and the limit is %d", len(item), MaxItemBytes),
			Hint:   "split it into several items",
		}
	}
	if err := checkJSON(item, MaxItemDepth); err != nil {
		return &Error{Code: CodeItemSyntax, Detail: err.Error(), Hint: "each item is one JSON value on one line, in UTF-8"}
	}
	return nil
}

// checkJSON refuses all but one JSON value without ambiguity, nested at most
// depth deep.
func checkJSON(text []byte, depth int) error {
	if !utf8.Valid(text) {
		return errors.New("the text is not valid UTF-8")
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return errors.New("the text contains a NUL byte")
	}
	if err := checkSyntax(text); err != nil {
		return err
	}
	if err := checkEscapes(text); err != nil {
		return err
	}
	tokens := json.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	return checkStructure(tokens, depth)
}

// checkSyntax unmarshals into nothing, for the sake of the message with its
// offset, which json.Valid does not have.
func checkSyntax(text []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(text, &any)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON at byte %d: %w", syntax.Offset, err)
	}
	return err
}

// checkEscapes looks at \u escapes, which the decoder would mend silently. The
// text is known to be valid JSON, so a backslash only occurs within a string
// and four hexadecimal digits follow \u.
func checkEscapes(text []byte) error {
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i < len(text); {
		unit, size := escapeAt(text[i:])
		switch {
		case unit == 0 && size == 6:
			return errors.New(`a string contains the NUL character (\u0000)`)
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return errors.New("a string contains a lone surrogate")
		case unit >= 0xD800 && unit <= 0xDBFF:
			low, lowSize := escapeAt(text[i+size:])
			if low < 0xDC00 || low > 0xDFFF {
				return errors.New("a string contains a lone surrogate")
			}
			size += lowSize
		}
		next := bytes.IndexByte(text[i+size:], '\\')
		if next < 0 {
			return nil
		}
		i += size + next
	}
	return nil
}

// escapeAt returns the UTF-16 unit of the \u escape that text begins with, and
// the length of the escape; for anything else 0 and a length that is not 6.
func escapeAt(text []byte) (unit uint64, size int) {
	if len(text) < 2 || text[0] != '\\' {
		return 0, 0
	}
	if text[1] != 'u' {
		return 0, 2
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0, 2
	}
	return unit, 6
}

func checkStructure(tokens *json.Decoder, depth int) error {
	var open []map[string]bool // nil for an array; for an object its keys so far
	isKey := false
	for {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch delim, _ := token.(json.Delim); {
		case delim == '{' || delim == '[':
			if len(open) == depth {
				return fmt.Errorf("arrays and objects nest deeper than %d", depth)
			}
			open = append(open, keysOf(delim))
		case delim == '}' || delim == ']':
			open = open[:len(open)-1]
		case isKey:
			keys, key := open[len(open)-1], token.(string)
			if keys[key] {
				return fmt.Errorf("the key %s occurs twice in one object", quoted(key))
			}
			keys[key] = true
			isKey = false
			continue
		}
		isKey = len(open) > 0 && open[len(open)-1] != nil
	}
}

func keysOf(delim json.Delim) map[string]bool {
	if delim == '{' {
		return map[string]bool{}
	}
	return nil
}
