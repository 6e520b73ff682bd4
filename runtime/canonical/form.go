package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Form brings one JSON document into its only permitted form: for programs that
// print JSON as their language does. What [Valid] refuses is refused; integers
// stay exact, and a number with a fraction or an exponent is a float.
func Form(b []byte, maxBytes int) ([]byte, error) {
	if err := Valid(b, maxBytes); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading a JSON document: %w", err)
	}
	form, err := putValue(nil, v)
	if err != nil {
		return nil, err
	}
	// The document may have grown: "\u00e9" shrinks, 1e2 becomes 100.0.
	if err := Check(form, len(form)); err != nil {
		return nil, err
	}
	return form, nil
}

func putValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return putString(b, v), nil
	case json.Number:
		return putNumber(b, v.String())
	case []any:
		return putArray(b, v)
	case map[string]any:
		return putObject(b, v)
	}
	return nil, fmt.Errorf("writing JSON: a value of type %T", v)
}

func putArray(b []byte, items []any) (_ []byte, err error) {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = putValue(b, item); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func putObject(b []byte, fields map[string]any) (_ []byte, err error) {
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(putString(b, key), ':')
		if b, err = putValue(b, fields[key]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func putNumber(b []byte, token string) ([]byte, error) {
	if !strings.ContainsAny(token, ".eE") {
		if token == "-0" {
			token = "0"
		}
		return append(b, token...), nil
	}
	f, err := strconv.ParseFloat(token, 64)
	if err != nil {
		return nil, fmt.Errorf("reading the number %.40s: %w", token, err)
	}
	return appendFloat(b, f), nil
}

// putString escapes what must be and nothing else, as Python does.
func putString(b []byte, s string) []byte {
	const escaped, letters = "\"\\\b\f\n\r\t", `"\bfnrt`
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if at := strings.IndexByte(escaped, c); at >= 0 {
			b = append(b, '\\', letters[at])
		} else if c < 0x20 {
			b = fmt.Appendf(b, `\u%04x`, c)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}
