package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Type is the type of a parameter, by its name in JSON Schema.
type Type string

// The types.
const (
	TypeInteger Type = "integer" // of any size
	TypeNumber  Type = "number"
	TypeString  Type = "string"
	TypeBoolean Type = "boolean"
)

// Parameter is a parameter of a workflow. Its fields are those of JSON Schema; help is the same as description.
type Parameter struct {
	Name    string
	Type    Type
	Help    string
	Default *Value // nil: the start of a run must give it
	Minimum *Value
	Maximum *Value
	Enum    []Value
}

// Value is a value of a parameter.
type Value struct {
	of      Type
	integer *big.Int
	number  float64
	text    string
	truth   bool
}

// Text is the value as it stands in a text: decimal digits where it is an integer.
func (v Value) Text() string {
	switch v.of {
	case TypeInteger:
		return v.integer.String()
	case TypeNumber:
		return strconv.FormatFloat(v.number, 'g', -1, 64)
	case TypeBoolean:
		return strconv.FormatBool(v.truth)
	default:
		return v.text
	}
}

// Seen is the value as an expression sees it: an integer beyond 64 bits is a decimal text, as it is in an answer.
func (v Value) Seen() any {
	switch v.of {
	case TypeInteger:
		if v.integer.IsInt64() {
			return v.integer.Int64()
		}
		return v.integer.String()
	case TypeNumber:
		return v.number
	case TypeBoolean:
		return v.truth
	default:
		return v.text
	}
}

// Literal is the value as it stands in JSON by itself.
func (v Value) Literal() json.RawMessage {
	if v.of == TypeString {
		return quoted(v.text)
	}
	return json.RawMessage(v.Text())
}

// JSON is the value as it is kept and shown: integers are decimal texts, so that no reader loses digits.
func (v Value) JSON() json.RawMessage {
	if v.of == TypeInteger {
		return quoted(v.integer.String())
	}
	return v.Literal()
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.JSON(), nil }

func quoted(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text always has a JSON form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Read reads a value of the parameter: JSON, or a text as it is typed at a prompt. Integers are written as Integer reads them.
func (p Parameter) Read(raw json.RawMessage) (Value, error) {
	v, err := readValue("parameters."+p.Name, p.Type, raw)
	if err != nil {
		return v, err
	}
	return v, p.check(v)
}

func readValue(field string, of Type, raw json.RawMessage) (v Value, err error) {
	v.of = of
	var text string
	if isText := json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"'; !isText {
		if of == TypeString {
			return v, wrong(field, "put it into quotation marks", "%s is no text", brief(string(raw)))
		}
		text = string(raw)
	}
	if len(text) > MaxTextBytes || !utf8.ValidString(text) {
		return v, wrong(field, "choose a shorter value", "the value has %d bytes, and the limit is %d of UTF-8", len(text), MaxTextBytes)
	}
	if strings.ContainsRune(text, 0) { // which Postgres cannot keep
		return v, wrong(field, "leave it out", "there is a NUL in the value")
	}
	switch of {
	case TypeInteger:
		v.integer, err = Integer(field, text)
	case TypeNumber:
		if v.number, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(v.number) || math.IsInf(v.number, 0) {
			return v, wrong(field, "write for example 0.25", "%s is no number", brief(text))
		}
	case TypeBoolean:
		if v.truth = text == "true"; !v.truth && text != "false" {
			return v, wrong(field, "write true or false", "%s is neither", brief(text))
		}
	case TypeString:
		v.text = text
	}
	return v, err
}

// check refuses a value that the parameter does not allow.
func (p Parameter) check(v Value) error {
	field := "parameters." + p.Name
	if p.Minimum != nil && v.compare(*p.Minimum) < 0 {
		return wrong(field, "choose a larger value", "%s is less than the minimum, %s", brief(v.Text()), p.Minimum.Text())
	}
	if p.Maximum != nil && v.compare(*p.Maximum) > 0 {
		return wrong(field, "choose a smaller value", "%s is more than the maximum, %s", brief(v.Text()), p.Maximum.Text())
	}
	if len(p.Enum) > 0 && !slices.ContainsFunc(p.Enum, func(one Value) bool { return one.Text() == v.Text() }) {
		var texts []string
		for _, one := range p.Enum {
			texts = append(texts, one.Text())
		}
		return wrong(field, "choose one of "+strings.Join(texts, ", "), "%s is none of the values", brief(v.Text()))
	}
	return nil
}

// compare compares two values of one type that has an order.
func (v Value) compare(other Value) int {
	if v.of == TypeInteger {
		return v.integer.Cmp(other.integer)
	}
	switch {
	case v.number < other.number:
		return -1
	case v.number > other.number:
		return 1
	default:
		return 0
	}
}

// parameterTable is a parameter as workflow.toml has it.
type parameterTable struct {
	Type        Type   `toml:"type"`
	Description string `toml:"description"`
	Help        string `toml:"help"`
	Default     any    `toml:"default"`
	Minimum     any    `toml:"minimum"`
	Maximum     any    `toml:"maximum"`
	Enum        []any  `toml:"enum"`
}

func (t parameterTable) parameter(name string) (p Parameter, err error) {
	field := "parameters." + name
	p = Parameter{Name: name, Type: t.Type, Help: t.Help + t.Description}
	switch t.Type {
	case TypeInteger, TypeNumber:
	case TypeString, TypeBoolean:
		if t.Minimum != nil || t.Maximum != nil {
			return p, wrong(field, "leave minimum and maximum out", "a %s has no order", t.Type)
		}
	default:
		return p, wrong(field+".type", "choose integer, number, string or boolean", "there is no type %s", brief(string(t.Type)))
	}
	if t.Help != "" && t.Description != "" {
		return p, wrong(field, "write one of them", "help and description are the same")
	}
	if len(p.Help) > MaxTextBytes || len(t.Enum) > MaxEnum {
		return p, wrong(field, "write less", "a description has at most %d bytes, and enum at most %d values", MaxTextBytes, MaxEnum)
	}
	if err := checkText(field, p.Help); err != nil {
		return p, err
	}
	for _, one := range t.Enum {
		v, err := valueOf(field+".enum", t.Type, one)
		if err != nil {
			return p, err
		}
		p.Enum = append(p.Enum, *v)
	}
	for _, one := range []struct {
		name string
		from any
		to   **Value
	}{{"minimum", t.Minimum, &p.Minimum}, {"maximum", t.Maximum, &p.Maximum}, {"default", t.Default, &p.Default}} {
		if *one.to, err = valueOf(field+"."+one.name, t.Type, one.from); err != nil {
			return p, err
		}
	}
	if p.Default == nil {
		return p, nil
	}
	return p, p.check(*p.Default)
}

// valueOf reads a value that stands in TOML; nil: there is none.
func valueOf(field string, of Type, from any) (*Value, error) {
	if from == nil {
		return nil, nil
	}
	var raw json.RawMessage
	switch x := from.(type) {
	case string:
		raw = quoted(x)
	case int64, bool, float64:
		raw = json.RawMessage(fmt.Sprint(x))
	default:
		return nil, wrong(field, "write one value", "a %s is no table and no list", of)
	}
	v, err := readValue(field, of, raw)
	return &v, err
}

// Values are those of a run, by the names of the parameters.
type Values map[string]Value

// Values fills in what is not given, and refuses what there is no parameter for.
func (d *Definition) Values(given map[string]json.RawMessage) (Values, error) {
	values := Values{}
	for name := range given {
		if !slices.ContainsFunc(d.Parameters, func(p Parameter) bool { return p.Name == name }) {
			return nil, wrong("parameters", "ostraka workflow show lists the parameters", "there is no parameter %s", brief(name))
		}
	}
	for _, p := range d.Parameters {
		raw, found := given[p.Name]
		if !found && p.Default == nil {
			return nil, wrong("parameters."+p.Name, "give a value: --param "+p.Name+"=VALUE", "the parameter has no default")
		}
		if !found {
			values[p.Name] = *p.Default
			continue
		}
		v, err := p.Read(raw)
		if err != nil {
			return nil, err
		}
		values[p.Name] = v
	}
	return values, nil
}
