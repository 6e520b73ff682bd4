package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/ostraka/ostraka/runtime/expression"
)

// Check is a condition over what the steps of a workflow came to. It is an
// expression in the language of rules, of type bool, and sees these names:
//
//	steps.NAME.answer      the answer of the step's job
//	steps.NAME.metrics.…   see Metrics
//	parameters.NAME        a parameter of the run
//
// Numbers are what they are in aggregate.value. It may be used by several
// goroutines at once.
type Check struct {
	program cel.Program
	steps   []string
	params  []string
}

// StepResult is what a step came to.
type StepResult struct {
	Answer  json.RawMessage
	Metrics Metrics
}

// checkField is the field that errors name.
const checkField = "when"

var checks = language{
	cost: CostLimit, field: "steps.search.answer.x", value: "steps.NAME.answer",
	names: "there are steps.NAME.answer and steps.NAME.metrics.… of the steps of the type map that come before by needs, and parameters.NAME",
	large: "let the aggregator prepare", short: "compute the values in the aggregators", try: "the answers of the steps",
}

// CompileCheck checks a condition over the results of these steps and over these
// parameters. What is wrong with it is a *RuleError with its line and column, or
// several.
func CompileCheck(text string, steps, parameters []string) (*Check, error) {
	var variables []cel.EnvOption
	for _, name := range steps {
		variables = append(variables, cel.Variable("steps."+name+".answer", cel.DynType))
		for metric, value := range (Metrics{}).named() {
			variables = append(variables, cel.Variable("steps."+name+"."+metric, typeOf(value)))
		}
	}
	for _, name := range parameters {
		variables = append(variables, cel.Variable("parameters."+name, cel.DynType))
	}
	env, err := expression.Environment(variables...)
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	program, err := checks.compile(env, checkField, text, cel.BoolType)
	if err != nil {
		return nil, err
	}
	return &Check{program: program, steps: steps, params: parameters}, nil
}

// Holds tells whether the condition holds. results has each of the steps, and
// parameters values of the types that CEL has.
func (c *Check) Holds(ctx context.Context, results map[string]StepResult, parameters map[string]any) (bool, error) {
	inputs := map[string]any{}
	for _, name := range c.steps {
		r := results[name]
		value, err := fromJSON(r.Answer)
		if err != nil {
			return false, fmt.Errorf("reading the answer of step %s: %w", name, err)
		}
		inputs["steps."+name+".answer"] = value
		for metric, value := range r.Metrics.named() {
			inputs["steps."+name+"."+metric] = value
		}
	}
	for _, name := range c.params {
		inputs["parameters."+name] = parameters[name]
	}
	got, _, err := c.program.ContextEval(ctx, inputs)
	if err != nil {
		return false, checks.failed(checkField, err)
	}
	holds, ok := got.(types.Bool)
	if !ok {
		return false, fmt.Errorf("%s: the expression gave %s, not bool: compare it with something", checkField, got.Type().TypeName())
	}
	return bool(holds), nil
}

// NamesMetrics tells whether a condition may see metrics: they cost more to
// make than answers do.
func NamesMetrics(text string) bool { return strings.Contains(text, "metrics") }
