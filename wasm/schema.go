package wasm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	// MaxSchema bounds the schema of a module's parameters in bytes.
	MaxSchema = 16 << 10
	// MaxSchemaWork bounds the values in a schema times those in parameters:
	// with references refused, checking takes no more steps than that. A step
	// takes microseconds, and half a kilobyte if it finds a fault.
	MaxSchemaWork = 200_000
	// MaxPatterns bounds the regular expressions of a schema in instructions,
	// all of them together and each twice, for it is compiled to be checked and
	// to be used: it may look at every byte of the parameters with every one.
	MaxPatterns = 2_000
	// MaxNumber bounds a number in a schema, and in parameters that are checked
	// against one: its characters, and its power of ten. They are compared
	// exactly, and 1e999999 takes a second where a step takes microseconds.
	MaxNumber = 1_000
	// maxComplaints is how many faults of parameters are told at once.
	maxComplaints = 5
	schemaURL     = "urn:module:params"
)

// paramsSchema is a compiled schema.
type paramsSchema struct {
	schema *jsonschema.Schema
	values int // in the schema
}

// nowhere refuses to load anything: a stranger's schema must not make the server
// read files or addresses.
type nowhere struct{}

// Load implements jsonschema.URLLoader.
func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the schema", clean(url))
}

// schema compiles the schema; nil if there is none.
func (d Description) schema() (*paramsSchema, error) {
	if len(d.Params) == 0 {
		return nil, nil //nolint:nilnil // no schema is no error
	}
	if len(d.Params) > MaxSchema {
		return nil, fmt.Errorf("the schema of the parameters is %d bytes; at most %d are allowed", len(d.Params), MaxSchema)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(d.Params))
	if err != nil {
		return nil, fmt.Errorf("the schema of the parameters: %w", err)
	}
	if _, ok := document.(map[string]any); !ok {
		return nil, fmt.Errorf("the schema of the parameters is not an object")
	}
	if err := refuseReferences(document); err != nil {
		return nil, err
	}
	if err := boundNumbers(document); err != nil {
		return nil, fmt.Errorf("the schema of the parameters: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nowhere{})
	c.UseRegexpEngine(boundedPatterns())
	if err := c.AddResource(schemaURL, document); err != nil {
		return nil, fmt.Errorf("the schema of the parameters: %w", err)
	}
	schema, err := c.Compile(schemaURL)
	if err != nil {
		return nil, fmt.Errorf("the schema of the parameters is not JSON Schema: %s", clean(err.Error()))
	}
	return &paramsSchema{schema, countValues(document)}, nil
}

// boundedPatterns compiles regular expressions until they are too many. One
// that is short may stand for a program of millions of instructions.
func boundedPatterns() jsonschema.RegexpEngine {
	total := 0
	return func(pattern string) (jsonschema.Regexp, error) {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if total += len(program.Inst); total > MaxPatterns {
			return nil, fmt.Errorf("the patterns up to %q take more than %d instructions together; shorten the repetitions", pattern, MaxPatterns)
		}
		return regexp.Compile(pattern)
	}
}

// countValues counts the values of a JSON document, at every depth.
func countValues(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			n += countValues(value)
		}
	case []any:
		for _, value := range v {
			n += countValues(value)
		}
	}
	return n
}

// boundNumbers refuses numbers that are a lot of work to compare.
func boundNumbers(v any) error {
	switch v := v.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(v.String()), "e")
		power, err := strconv.Atoi(cmp.Or(exponent, "0"))
		if len(v) > MaxNumber || err != nil || max(power, -power) > MaxNumber {
			return fmt.Errorf("the number %.20s… has more than %d characters or a power of ten beyond that; pass it as a string", v, MaxNumber)
		}
	case map[string]any:
		for _, value := range v {
			if err := boundNumbers(value); err != nil {
				return err
			}
		}
	case []any:
		for _, value := range v {
			if err := boundNumbers(value); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseReferences keeps a small schema from standing for an endless one.
func refuseReferences(v any) error {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef" {
				return fmt.Errorf("the schema of the parameters uses %s; write out what it stands for", key)
			}
			if err := refuseReferences(value); err != nil {
				return err
			}
		}
	case []any:
		for _, value := range v {
			if err := refuseReferences(value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *paramsSchema) check(params json.RawMessage) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(params))
	if err != nil {
		return fmt.Errorf("the parameters are not JSON: %w", err)
	}
	if n := countValues(value); n*s.values > MaxSchemaWork {
		return fmt.Errorf("the parameters have %d values and their schema %d; at most %d are checked, multiplied (let the schema say less about long lists, or pass less)", n, s.values, MaxSchemaWork)
	}
	if err := boundNumbers(value); err != nil {
		return fmt.Errorf("the parameters: %w", err)
	}
	err = s.schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	var complaints []string
	collect(invalid, message.NewPrinter(language.English), &complaints)
	return fmt.Errorf("the parameters are not what the module asks for: %s", clean(strings.Join(complaints, "; ")))
}

// collect gathers the innermost faults.
func collect(e *jsonschema.ValidationError, p *message.Printer, to *[]string) {
	if len(e.Causes) == 0 && len(*to) < maxComplaints {
		at := "at the top"
		if len(e.InstanceLocation) > 0 {
			at = "at " + strings.Join(e.InstanceLocation, ".")
		}
		*to = append(*to, at+": "+e.ErrorKind.LocalizedString(p))
	}
	for _, cause := range e.Causes {
		collect(cause, p, to)
	}
}
