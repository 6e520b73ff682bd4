// Package schema checks JSON against a JSON Schema where both come from strangers: the cost is bounded, and a schema names nothing
// outside of itself.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	// MaxBytes bounds a schema in bytes.
	MaxBytes = 16 << 10
	// MaxWork bounds the values in a schema times those in what is held
	// against it: with references refused, checking takes no more steps than
	// that. A step takes microseconds, and half a kilobyte if it finds a fault.
	MaxWork = 200_000
	// MaxPatternWork bounds the instructions of a schema's patterns times the
	// bytes of what is held against it: a pattern may take as many steps for a
	// byte as it has instructions, and such a step takes nanoseconds.
	MaxPatternWork = 200_000_000
	// PatternSteps is how many steps of a pattern count as one step of a check.
	PatternSteps = 250
	// MaxPatterns bounds the regular expressions of a schema in instructions,
	// all of them together and each twice, for it is compiled to be checked and
	// to be used: it may look at every byte of a value with every one.
	MaxPatterns = 2_000
	// MaxNumber bounds a number in a schema, and in what is checked against
	// one: its characters, and its power of ten. They are compared exactly, and
	// 1e999999 takes a second where a step takes microseconds.
	MaxNumber = 1_000
	// MaxFaults is how many faults are told at once.
	MaxFaults = 5

	// location is the URL of the one document that there is.
	location = "urn:ostraka:schema"
)

// Schema is a compiled schema.
type Schema struct {
	schema *jsonschema.Schema
	values int // in the schema
	steps  int // of all patterns, for each byte of a value
}

// nowhere refuses to load anything: a stranger's schema must not make the server
// read files or addresses.
type nowhere struct{}

// Load implements jsonschema.URLLoader.
func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the schema", clean(url))
}

// Compile reads a schema. what is what it is for, such as "the parameters".
func Compile(text []byte, what string) (*Schema, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the schema of %s is %d bytes; at most %d are allowed", what, len(text), MaxBytes)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", what, err)
	}
	if _, ok := document.(map[string]any); !ok {
		return nil, fmt.Errorf("the schema of %s is not an object", what)
	}
	if key := reference(document); key != "" {
		return nil, fmt.Errorf("the schema of %s uses %s; write out what it stands for", what, key)
	}
	if err := boundNumbers(document); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", what, err)
	}
	s := &Schema{values: countValues(document)}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nowhere{})
	c.UseRegexpEngine(s.compilePattern)
	if err := c.AddResource(location, document); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", what, err)
	}
	if s.schema, err = c.Compile(location); err != nil {
		return nil, fmt.Errorf("the schema of %s is not JSON Schema: %s", what, clean(err.Error()))
	}
	return s, nil
}

// compilePattern compiles regular expressions until they are too many. One
// that is short may stand for a program of millions of instructions.
func (s *Schema) compilePattern(pattern string) (jsonschema.Regexp, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	if s.steps += len(program.Inst); s.steps > MaxPatterns {
		return nil, fmt.Errorf("the patterns up to %q take more than %d instructions together; shorten the repetitions", pattern, MaxPatterns)
	}
	return regexp.Compile(pattern)
}

// Fault is one thing that is wrong with a value.
type Fault struct {
	At      string // where: names and numbers with points between; empty at the top
	Keyword string // of the schema, such as type or required
	Text    string // for people, with the value that was met
}

// Value is JSON that was read to be held against a schema.
type Value struct {
	value any
	size  Size
}

// Size is what the cost of a check goes by: it is the same on every machine.
type Size struct {
	Values int // at every depth
	Bytes  int // of the text
}

// Read reads JSON that is to be checked. what is what it is, such as "the parameters".
func Read(text []byte, what string) (Value, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return Value{}, fmt.Errorf("%s are not JSON: %w", what, err)
	}
	return Value{value: value, size: Size{Values: countValues(value), Bytes: len(text)}}, nil
}

// Work is how many steps the check of a value of a size takes at most, those of patterns among them.
func (s *Schema) Work(of Size) int {
	return of.Values*s.values + int((s.patternWork(of)+PatternSteps-1)/PatternSteps)
}

// patternWork has 64 bits on every machine.
func (s *Schema) patternWork(of Size) int64 { return int64(of.Bytes) * int64(s.steps) }

// Affords says why a value of a size is too much to be checked, if it is.
func (s *Schema) Affords(of Size) error {
	if of.Values*s.values > MaxWork {
		return fmt.Errorf("%d values are to be held against a schema of %d, and %d are checked at most, multiplied", of.Values, s.values, MaxWork)
	}
	if s.patternWork(of) > MaxPatternWork {
		return fmt.Errorf("%d bytes are to be held against patterns of %d instructions, and %d are checked at most, multiplied", of.Bytes, s.steps, MaxPatternWork)
	}
	return nil
}

// Values are how many values there are, at every depth: in the schema, and in v.
func (s *Schema) Values(v Value) (inSchema, inValue int) { return s.values, v.size.Values }

// Check says what is wrong with a value: the first faults in the order of their places, always the same ones, or an error where the check
// would take more than it may.
func (s *Schema) Check(v Value) ([]Fault, error) {
	if err := s.Affords(v.size); err != nil {
		return nil, err
	}
	if err := boundNumbers(v.value); err != nil {
		return nil, err
	}
	err := s.schema.Validate(v.value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, err
	}
	var all []Fault
	gather(invalid, message.NewPrinter(language.English), &all)
	slices.SortFunc(all, func(a, b Fault) int {
		return strings.Compare(a.At+"\x00"+a.Keyword+"\x00"+a.Text, b.At+"\x00"+b.Keyword+"\x00"+b.Text)
	})
	all = slices.Compact(all)
	return all[:min(len(all), MaxFaults)], nil
}

// gather lists the innermost faults.
func gather(e *jsonschema.ValidationError, p *message.Printer, to *[]Fault) {
	if len(e.Causes) == 0 {
		*to = append(*to, Fault{
			At: clean(strings.Join(e.InstanceLocation, ".")), Keyword: strings.Join(e.ErrorKind.KeywordPath(), "/"), Text: clean(e.ErrorKind.LocalizedString(p)),
		})
	}
	for _, cause := range e.Causes {
		gather(cause, p, to)
	}
}
