package graph

import "slices"

// set are the fields that a step has besides its name, its type and what it needs, in the order in which messages name them.
func (t stepTable) set() (names []string) {
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"when", t.When != ""},
		{"message", t.Message != ""},
		{"identity", t.Identity != nil},
		{"function", t.Function != ""},
		{"range", t.Range != nil},
		{"rolling", t.Rolling != nil},
		{"calibrate", t.Calibrate != nil},
		{"items", t.Items != nil},
		{"grid", t.Grid != nil},
		{"lines", t.Lines != nil},
		{"objects", t.Objects != nil},
		{"policy", t.Policy != nil},
		{"aggregator", t.Aggregator != nil},
		{"params", t.Params != nil},
		{"priority", t.Priority != 0},
		{"of", t.Of != ""},
		{"module", t.Module != ""},
		{"file", t.File != ""},
		{"validator", t.Validator != ""},
		{"validator_params", t.ValidatorParams != nil},
	} {
		if field.set {
			names = append(names, field.name)
		}
	}
	return names
}

// only refuses fields that a step of its type does not have.
func (t stepTable) only(s Step, allowed ...string) error {
	for _, name := range t.set() {
		if !slices.Contains(allowed, name) {
			return wrong(s.field(name), "leave it out, or choose another type", "a step of the type %s has no %s", s.Type, name)
		}
	}
	return nil
}
