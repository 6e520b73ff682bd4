package graph

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// placeholder is a parameter within a text: {from}. Doubled braces stand for themselves.
var placeholder = regexp.MustCompile(`\{\{|\}\}|\{([^{}]*)\}|[{}]`)

// filler puts the values of parameters in the place of their names.
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

// json gives what stands in TOML its JSON form. A text that is nothing but {name} becomes the value itself, with its type.
func (f filler) json(from any) (json.RawMessage, error) {
	switch x := from.(type) {
	case string:
		if name, is := alone(x); is {
			v, err := f.value(name)
			return v.Literal(), err
		}
		text, err := f.text(x)
		return quoted(text), err
	case int64:
		return json.RawMessage(strconv.FormatInt(x, 10)), nil
	case bool:
		return json.RawMessage(strconv.FormatBool(x)), nil
	case float64:
		raw, err := json.Marshal(x)
		if err != nil {
			return nil, wrong(f.field, "choose another number", "JSON has no %v", x)
		}
		return raw, nil
	case []any:
		list := make([]json.RawMessage, len(x))
		for i, one := range x {
			var err error
			if list[i], err = f.json(one); err != nil {
				return nil, err
			}
		}
		return encode(list), nil
	case map[string]any:
		return f.object(x)
	default:
		return nil, wrong(f.field, "put it into quotation marks", "a %T has no JSON form", from)
	}
}

func (f filler) object(from map[string]any) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	for name, one := range from {
		raw, err := f.json(one)
		if err != nil {
			return nil, err
		}
		fields[name] = raw
	}
	return encode(fields), nil
}

// encode writes what is made of JSON.
func encode(of any) json.RawMessage {
	raw, err := json.Marshal(of)
	if err != nil { // the parts are valid JSON
		panic(err)
	}
	return raw
}

// alone tells whether a text is one placeholder and nothing else.
func alone(text string) (name string, is bool) {
	if len(text) < 3 || text[0] != '{' || text[len(text)-1] != '}' || strings.ContainsAny(text[1:len(text)-1], "{}") {
		return "", false
	}
	return text[1 : len(text)-1], true
}
