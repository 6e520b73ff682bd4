package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/functions/planner"
)

// Compile checks the condition of a step of the type check. It sees the steps before it that are jobs, and the parameters.
func (d *Definition) Compile(s Step) (*planner.Check, error) {
	names := d.Seen(s)
	var parameters []string
	for _, p := range d.Parameters {
		parameters = append(parameters, p.Name)
	}
	check, err := planner.CompileCheck(s.Check.When, names, parameters)
	var mistake *planner.RuleError
	if errors.As(err, &mistake) {
		return nil, wrong(s.field("when"), mistake.Hint, "%s", place(mistake))
	}
	if err != nil {
		return nil, err
	}
	if check.Metrics() && slices.ContainsFunc(check.Steps(), func(name string) bool { return d.Step(name).Rolling() }) {
		return nil, wrong(s.field("when"), "compute with answers alone", "a rolling step has an answer and no metrics")
	}
	return check, nil
}

func place(mistake *planner.RuleError) string {
	if mistake.Line == 0 {
		return mistake.Detail
	}
	return fmt.Sprintf("line %d, column %d: %s", mistake.Line, mistake.Column, mistake.Detail)
}

// Seen are the steps before a check or a report whose answers it sees.
func (d *Definition) Seen(s Step) []string {
	return slices.DeleteFunc(d.Before(s), func(name string) bool { return !d.Step(name).Answers() })
}

// Step is the step of that name; the zero value: there is none.
func (d *Definition) Step(name string) Step {
	i := slices.IndexFunc(d.Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Step{}
	}
	return d.Steps[i]
}

// Number is where a step stands in the order; -1: there is none.
func (d *Definition) Number(name string) int {
	return slices.IndexFunc(d.Steps, func(s Step) bool { return s.Name == name })
}

// Outcome is what a check came to.
type Outcome struct {
	Holds bool
	Why   string // where it does not
}

// maxShown is how much of an answer a message shows, in bytes.
const maxShown = 300

// Decide tells whether the condition of a check holds. One that cannot be decided does not hold.
func (s Step) Decide(ctx context.Context, check *planner.Check, results map[string]planner.StepResult, values Values) Outcome {
	parameters := map[string]any{}
	for name, v := range values {
		parameters[name] = v.Seen()
	}
	holds, err := check.Holds(ctx, results, parameters)
	if err != nil {
		return Outcome{Why: "the check could not be decided: " + err.Error()}
	}
	if holds {
		return Outcome{Holds: true}
	}
	why := s.Check.Message
	if why == "" {
		why = "the check does not hold: " + s.Check.When
	}
	for _, name := range check.Steps() {
		why += fmt.Sprintf("; steps.%s.answer is %s", name, shownAnswer(results[name].Answer))
	}
	return Outcome{Why: why}
}

func shownAnswer(answer json.RawMessage) string {
	switch {
	case len(answer) == 0:
		return "null"
	case len(answer) > maxShown:
		return strings.ToValidUTF8(string(answer[:maxShown]), "") + "…"
	default:
		return string(answer)
	}
}
