package graph

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ostraka/ostraka/functions/partition"
)

// placeholder is a parameter within a text: {from}. Doubled braces stand for themselves.
var placeholder = regexp.MustCompile(`\{\{|\}\}|\{([^{}]*)\}|[{}]`)

// filler replaces the names of parameters by their values.
type filler struct {
	field  string
	values Values
}

// text fills a text.
func (f filler) text(text string) (string, error) { return f.fill(text, Value.Text) }

// integer fills an expression and computes it. Each value is taken as a whole: {a}^2 is the square of a, whatever its sign.
func (f filler) integer(from any) (*big.Int, error) {
	switch x := from.(type) {
	case int64:
		return big.NewInt(x), nil
	case string:
		text, err := f.fill(x, func(v Value) string { return "(" + v.Text() + ")" })
		if err != nil {
			return nil, err
		}
		return Integer(f.field, text)
	default:
		return nil, wrong(f.field, integerHint, "there is no integer")
	}
}

func (f filler) fill(text string, show func(Value) string) (string, error) {
	var b strings.Builder
	end := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[end:at[0]])
		end = at[1]
		switch found := text[at[0]:at[1]]; found {
		case "{{", "}}":
			b.WriteString(found[:1])
		case "{", "}":
			return "", wrong(f.field, "write {{ or }} for a brace itself", "a brace stands alone in %s", brief(text))
		default:
			v, err := f.value(text[at[2]:at[3]])
			if err != nil {
				return "", err
			}
			b.WriteString(show(v))
		}
		if b.Len() > MaxDefinitionBytes {
			return "", wrong(f.field, "choose shorter values", "the text becomes longer than %d bytes", MaxDefinitionBytes)
		}
	}
	b.WriteString(text[end:])
	return b.String(), nil
}

func (f filler) value(name string) (Value, error) {
	v, found := f.values[name]
	if !found {
		return v, wrong(f.field, "list it under [parameters], or write {{ and }} for the braces themselves", "there is no parameter %s", brief(name))
	}
	return v, nil
}

// verbatim is a text without placeholders.
type verbatim string

// expansion is what a template becomes in JSON, which is bounded while it is made: a parameter of 4 KiB may stand in it thousands of times.
type expansion struct {
	filler
	out  bytes.Buffer
	left *int // bytes that all templates of the definition may still become
}

// json gives what stands in TOML its JSON form, and takes its length from left.
func (f filler) json(from any, left *int) (json.RawMessage, error) {
	e := expansion{filler: f, left: left}
	if err := e.write(from, 0); err != nil {
		return nil, err
	}
	return e.out.Bytes(), nil
}

// write appends the JSON form of one value. A text that is nothing but {name} becomes the value itself, with its type. depth is how many
// lists and tables enclose it.
func (e *expansion) write(from any, depth int) error {
	switch x := from.(type) {
	case verbatim:
		return e.add(quoted(string(x)))
	case string:
		return e.writeText(x)
	case int64:
		return e.add(strconv.AppendInt(nil, x, 10))
	case bool:
		return e.add(strconv.AppendBool(nil, x))
	case float64:
		raw, err := json.Marshal(x)
		if err != nil {
			return wrong(e.field, "choose another number", "JSON has no %v", x)
		}
		return e.add(raw)
	case []any:
		return e.writeList(x, depth)
	case map[string]any:
		return e.writeTable(x, depth)
	default:
		return wrong(e.field, "put it into quotation marks", "a %T has no JSON form", from)
	}
}

func (e *expansion) writeText(text string) error {
	if name, is := alone(text); is {
		v, err := e.value(name)
		if err != nil {
			return err
		}
		return e.add(v.Literal())
	}
	filled, err := e.text(text)
	if err != nil {
		return err
	}
	return e.add(quoted(filled))
}

func (e *expansion) writeList(list []any, depth int) error {
	if depth == partition.MaxItemDepth {
		return e.tooDeep()
	}
	between := "["
	for _, one := range list {
		if err := e.add([]byte(between)); err != nil {
			return err
		}
		if err := e.write(one, depth+1); err != nil {
			return err
		}
		between = ","
	}
	return e.close(len(list), "[]")
}

func (e *expansion) writeTable(table map[string]any, depth int) error {
	if depth == partition.MaxItemDepth {
		return e.tooDeep()
	}
	between := "{"
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if err := e.add([]byte(between), quoted(name), []byte(":")); err != nil {
			return err
		}
		if err := e.write(table[name], depth+1); err != nil {
			return err
		}
		between = ","
	}
	return e.close(len(table), "{}")
}

// close ends a list or a table of n parts, whose brackets are both.
func (e *expansion) close(n int, both string) error {
	if n == 0 {
		return e.add([]byte(both))
	}
	return e.add([]byte(both[1:]))
}

func (e *expansion) tooDeep() error {
	return wrong(e.field, "write it flatter", "lists and tables nest deeper than %d", partition.MaxItemDepth)
}

// add appends what fits.
func (e *expansion) add(parts ...[]byte) error {
	const hint = "choose fewer or shorter values, or store the items as an object and give its digest"
	for _, part := range parts {
		if e.out.Len()+len(part) > partition.MaxSpecBytes {
			return wrong(e.field, hint, "the values become more than %d bytes of JSON", partition.MaxSpecBytes)
		}
		if *e.left -= len(part); *e.left < 0 {
			return wrong(e.field, hint, "the values of all steps become more than %d bytes of JSON", MaxExpandedBytes)
		}
		e.out.Write(part)
	}
	return nil
}

// alone tells whether a text is one placeholder and nothing else.
func alone(text string) (name string, is bool) {
	if len(text) < 3 || text[0] != '{' || text[len(text)-1] != '}' || strings.ContainsAny(text[1:len(text)-1], "{}") {
		return "", false
	}
	return text[1 : len(text)-1], true
}
