package graph

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/ostraka/ostraka/functions/partition"
)

// Source is where the items of a job come from that are known only when a step before it has finished: the list that is its answer, or
// that stands in a field of it.
type Source struct {
	Step  string
	Field string // "": the answer itself
	// Flow has the items come while the step before still rolls: those of a job of it as soon as that has finished.
	Flow bool
	of   *Step // the step before, where they flow
}

// source reads items = { step = "search", field = "sample" }; nil: the input is of another form.
func (t stepTable) source(s Step) (*Source, error) {
	table, is := t.Items.(map[string]any)
	if !is || table["step"] == nil {
		return nil, nil
	}
	from := &Source{}
	const hint = `write for example items = { step = "search", field = "sample" }`
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if flow, is := table[name].(bool); is && name == "flow" {
			from.Flow = flow
			continue
		}
		text, is := table[name].(string)
		if !is || text == "" || len(text) > MaxTextBytes {
			return nil, wrong(s.field("items."+name), hint, "there is no name")
		}
		switch name {
		case "step":
			from.Step = text
		case "field":
			from.Field = text
		default:
			return nil, wrong(s.field("items"), hint, "besides step there are only field and flow, and no %s", brief(name))
		}
	}
	if !slices.Contains(s.Needs, from.Step) {
		return nil, wrong(s.field("needs"), "write it into needs", "the items come from the step %s, and the step does not need it", brief(from.Step))
	}
	return from, nil
}

// Items are what an answer has of items, a line each. What cannot be items is an *Error.
func (s Step) Items(answer json.RawMessage) (lines []byte, n int, err error) {
	from := s.Map.Source
	field := s.field("items")
	const hint = "have the step before it answer with a list of values"
	if from.Field != "" {
		var object map[string]json.RawMessage
		if json.Unmarshal(answer, &object) != nil || object[from.Field] == nil {
			return nil, 0, wrong(field, hint, "the answer of the step %s has no field %s", from.Step, brief(from.Field))
		}
		answer = object[from.Field]
	}
	var list []json.RawMessage
	if json.Unmarshal(answer, &list) != nil {
		return nil, 0, wrong(field, hint, "what the step %s answers is no list", from.Step)
	}
	if len(list) > partition.MaxShards {
		return nil, 0, wrong(field, "have it answer with fewer", "the step %s answers with %s items, and the limit is %d", from.Step, strconv.Itoa(len(list)), partition.MaxShards)
	}
	var b bytes.Buffer
	for _, one := range list {
		if err := json.Compact(&b, one); err != nil {
			return nil, 0, wrong(field, hint, "what the step %s answers is no JSON", from.Step)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), len(list), nil
}

// checkSources requires that a step has what other steps read from it.
func (d *Definition) checkSources() error {
	for _, s := range d.Steps {
		if from := s.Map.Source; from != nil && !d.Step(from.Step).Answers() {
			return wrong(s.field("items"), "name a step of the type map, prove or fold", "the step %s has no answer", brief(from.Step))
		}
		if err := d.checkFlow(s); err != nil {
			return err
		}
		if s.Type == StepFold && !d.Step(s.Fold.Of).IsJob() {
			return wrong(s.field("of"), "name a step of the type map or prove", "the step %s is no job", brief(s.Fold.Of))
		}
	}
	return nil
}
