package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

const (
	// MaxDifferences is how many differences between two outputs are shown; the answer says when there are more.
	MaxDifferences = 20
	// MaxDifferenceText is the longest text of one side of a difference, in bytes of JSON. A longer one ends with …
	MaxDifferenceText = 200
)

// Difference is one place in which two outputs differ.
type Difference struct {
	Path      string `json:"path" doc:"Where: $ is the whole output, then .key and [index]."`
	Here      string `json:"here,omitempty" doc:"JSON of what this output has there. Left out: it has nothing there."`
	Reference string `json:"reference,omitempty" doc:"JSON of what the reference has there. Left out: it has nothing there."`
}

// comparison collects differences up to the limit.
type comparison struct {
	found []Difference
	more  bool
}

// differences compares two canonical JSON documents, in the order of their keys and indices. Numbers are compared as they are written:
// no parser bends them.
func differences(here, reference []byte) (found []Difference, more bool, err error) {
	a, err := decoded(here)
	if err != nil {
		return nil, false, err
	}
	b, err := decoded(reference)
	if err != nil {
		return nil, false, err
	}
	c := &comparison{}
	c.compare("$", a, b)
	return c.found, c.more, nil
}

func decoded(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("reading an output: %w", err)
	}
	return value, nil
}

func (c *comparison) compare(path string, here, reference any) {
	if c.more {
		return
	}
	switch a := here.(type) {
	case map[string]any:
		if b, same := reference.(map[string]any); same {
			c.objects(path, a, b)
			return
		}
	case []any:
		if b, same := reference.([]any); same {
			c.lists(path, a, b)
			return
		}
	case nil, bool, string, json.Number:
		switch reference.(type) {
		case map[string]any, []any:
		default:
			if here == reference {
				return
			}
		}
	}
	c.add(Difference{Path: path, Here: shortJSON(here), Reference: shortJSON(reference)})
}

func (c *comparison) objects(path string, here, reference map[string]any) {
	keys := slices.Sorted(maps.Keys(here))
	for _, k := range slices.Sorted(maps.Keys(reference)) {
		if _, both := here[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if c.more {
			return
		}
		a, inHere := here[k]
		b, inReference := reference[k]
		at := path + pathKey(k)
		switch {
		case !inReference:
			c.add(Difference{Path: at, Here: shortJSON(a)})
		case !inHere:
			c.add(Difference{Path: at, Reference: shortJSON(b)})
		default:
			c.compare(at, a, b)
		}
	}
}

func (c *comparison) lists(path string, here, reference []any) {
	for i := range max(len(here), len(reference)) {
		if c.more {
			return
		}
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(reference):
			c.add(Difference{Path: at, Here: shortJSON(here[i])})
		case i >= len(here):
			c.add(Difference{Path: at, Reference: shortJSON(reference[i])})
		default:
			c.compare(at, here[i], reference[i])
		}
	}
}

func (c *comparison) add(d Difference) {
	if len(c.found) >= MaxDifferences {
		c.more = true
		return
	}
	c.found = append(c.found, d)
}

// pathKey is a key as a step of a path: quoted where it is not a plain word, and shortened where it is long.
func pathKey(key string) string {
	plain := key != ""
	for _, r := range key {
		plain = plain && (r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if plain && len(key) <= MaxDifferenceText {
		return "." + key
	}
	return "[" + shortJSON(key) + "]"
}

// shortJSON is a value as JSON, shortened. What is shortened ends with an ellipsis.
func shortJSON(value any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return "?"
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(text) <= MaxDifferenceText {
		return string(text)
	}
	end := MaxDifferenceText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}
