package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// countValues counts the values of a JSON document, at every depth.
func countValues(v any) int {
	n := 1
	for _, value := range below(v) {
		n += countValues(value)
	}
	return n
}

// CountValues counts the values of JSON without white space between its tokens, at every depth, as it stands: a document of megabytes takes
// tens of times as much memory once it is read.
func CountValues(compact []byte) int {
	n, inText := 1, false
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == ',':
			n++
		case (c == '[' || c == '{') && i+1 < len(compact) && compact[i+1] != c+2: // ] is two after [, } is two after {
			n++
		}
	}
	return n
}

// below are the values that a value holds.
func below(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		all := make([]any, 0, len(v))
		for _, value := range v {
			all = append(all, value)
		}
		return all
	}
	return nil
}

// boundNumbers refuses numbers that are a lot of work to compare.
func boundNumbers(v any) error {
	if n, is := v.(json.Number); is {
		return boundNumber(n)
	}
	for _, value := range below(v) {
		if err := boundNumbers(value); err != nil {
			return err
		}
	}
	return nil
}

func boundNumber(n json.Number) error {
	_, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	power, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if len(n) > MaxNumber || err != nil || max(power, -power) > MaxNumber {
		return fmt.Errorf("the number %.20s… has more than %d characters or a power of ten beyond that; pass it as a string", n, MaxNumber)
	}
	return nil
}

// reference finds what would have a small schema stand for an endless one; empty: there is none.
func reference(v any) string {
	if object, is := v.(map[string]any); is {
		for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			if _, has := object[key]; has {
				return key
			}
		}
	}
	for _, value := range below(v) {
		if key := reference(value); key != "" {
			return key
		}
	}
	return ""
}

// clean makes a stranger's text fit for a line that people read.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
