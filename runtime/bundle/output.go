package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/wasm/schema"
)

// MaxFaultPlace is how much of the place of a fault its message has, in bytes: keys of outputs are a stranger's.
const MaxFaultPlace = 100

// Output is what the manifest says of the function's outputs.
type Output struct {
	// Schema is a JSON Schema that every output, of an item where the function takes those, holds to; one that does not is an error of the function.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// OutputSchema is a schema of outputs that was compiled. The nil schema takes every output.
type OutputSchema struct{ schema *schema.Schema }

// whatOutput is what a schema of outputs is for, in messages.
const whatOutput = "[output]"

// OutputSchema compiles the schema of the function's outputs; nil: there is none.
func (m *Manifest) OutputSchema() (*OutputSchema, error) {
	if m.Output == nil || len(m.Output.Schema) == 0 {
		return nil, nil //nolint:nilnil // the nil schema takes everything
	}
	text := m.Output.Schema
	if m.IsPerItem() { // it says what an item's result is
		text = slices.Concat([]byte(`{"type":"array","items":`), text, []byte(`}`))
	}
	compiled, err := schema.Compile(text, whatOutput)
	if err != nil {
		return nil, err
	}
	return &OutputSchema{compiled}, nil
}

// OutputFault says what is wrong with an output. Message is the same wherever it is looked at: it votes, as the message of an exception does.
type OutputFault struct {
	Message string
	Detail  string // for people: what was met, and what was wanted
}

// MaxOutputWork is how many steps the check of an output takes at most.
const MaxOutputWork = schema.MaxWork + schema.MaxPatternWork/schema.PatternSteps

// Work is how many steps the check of an output takes at most; 0 without a schema.
func (s *OutputSchema) Work(output []byte) int {
	if s == nil {
		return 0
	}
	size := sizeOf(output)
	if s.schema.Affords(size) != nil {
		return schema.MaxWork // it is counted, and not checked
	}
	return min(s.schema.Work(size), MaxOutputWork)
}

// sizeOf is the size of an output that has no white space between its tokens.
func sizeOf(output []byte) schema.Size {
	return schema.Size{Values: schema.CountValues(output), Bytes: len(output)}
}

// Check holds an output, canonical JSON, against the schema; nil: it is as the schema says.
func (s *OutputSchema) Check(output []byte) *OutputFault {
	if s == nil {
		return nil
	}
	faults, err := s.faults(output)
	if err != nil {
		return &OutputFault{Message: "the output cannot be held against [output.schema]: " + err.Error() + ": return less, or let the schema say less"}
	}
	if len(faults) == 0 {
		return nil
	}
	places, details := make([]string, len(faults)), make([]string, len(faults))
	for i, f := range faults {
		at := "output"
		if f.At != "" {
			at += "." + strings.ToValidUTF8(f.At[:min(len(f.At), MaxFaultPlace)], "")
		}
		places[i] = at + " (" + f.Keyword + ")"
		details[i] = at + ": " + f.Text
	}
	return &OutputFault{
		Message: "the output is not as [output.schema] says: " + strings.Join(places, ", "),
		Detail:  strings.Join(details, "\n"),
	}
}

// faults reads no output into memory that is too much to be checked.
func (s *OutputSchema) faults(output []byte) ([]schema.Fault, error) {
	if err := s.schema.Affords(sizeOf(output)); err != nil {
		return nil, err
	}
	value, err := schema.Read(output, "the output")
	if err != nil {
		return nil, err
	}
	return s.schema.Check(value)
}

type outputFile struct {
	Schema map[string]any `toml:"schema"`
}

// output reads the schema of outputs; JSON is what it is kept as.
func (o *outputFile) output() (*Output, error) {
	if o == nil || o.Schema == nil {
		return nil, nil //nolint:nilnil // no schema is no error
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(o.Schema); err != nil {
		return nil, fmt.Errorf("output.schema cannot be written as JSON: %w", err)
	}
	schemaText := bytes.TrimSpace(text.Bytes())
	if err := canonical.Valid(schemaText, schema.MaxBytes); err != nil { // how deep it is, for one
		return nil, fmt.Errorf("output.schema: %w", err)
	}
	return &Output{Schema: schemaText}, nil
}

// checkOutput refuses a schema that is none, or that would cost too much.
func (m *Manifest) checkOutput() error {
	if _, err := m.OutputSchema(); err != nil {
		return fmt.Errorf("output.schema: %w", err)
	}
	return nil
}
