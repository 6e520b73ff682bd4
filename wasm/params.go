package wasm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ostraka/ostraka/wasm/schema"
)

// schema compiles the schema of the parameters; nil if there is none.
func (d Description) schema() (*schema.Schema, error) {
	if len(d.Params) == 0 {
		return nil, nil //nolint:nilnil // no schema is no error
	}
	return schema.Compile(d.Params, "the parameters")
}

// checkParams holds parameters against a schema. No parameters are {}.
func checkParams(s *schema.Schema, params json.RawMessage) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	value, err := schema.Read(params, "the parameters")
	if err != nil {
		return err
	}
	if inSchema, inValue := s.Values(value); inSchema*inValue > schema.MaxWork {
		return fmt.Errorf("the parameters have %d values and their schema %d; at most %d are checked, multiplied (let the schema say less about long lists, or pass less)", inValue, inSchema, schema.MaxWork)
	}
	faults, err := s.Check(value)
	if err != nil {
		return fmt.Errorf("the parameters: %w", err)
	}
	if len(faults) == 0 {
		return nil
	}
	complaints := make([]string, len(faults))
	for i, f := range faults {
		at := "at the top"
		if f.At != "" {
			at = "at " + f.At
		}
		complaints[i] = at + ": " + f.Text
	}
	return fmt.Errorf("the parameters are not what the module asks for: %s", strings.Join(complaints, "; "))
}
