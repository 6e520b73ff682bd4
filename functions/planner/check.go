package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
	steps   []string // that it names
	params  []string
	metrics bool // it names some
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
	c := &Check{program: program, params: parameters}
	return c, c.look(env, text, steps)
}

// look finds out which steps the condition names, and whether by their metrics.
func (c *Check) look(env *cel.Env, text string, steps []string) error {
	ast, issues := env.Compile(text)
	if issues.Err() != nil { // it has been compiled before
		return issues.Err()
	}
	named := map[string]bool{}
	for _, reference := range ast.NativeRep().ReferenceMap() {
		parts := strings.Split(reference.Name, ".")
		if len(parts) < 3 || parts[0] != "steps" {
			continue
		}
		named[parts[1]] = true
		c.metrics = c.metrics || parts[2] == "metrics"
	}
	c.steps = slices.DeleteFunc(slices.Clone(steps), func(name string) bool { return !named[name] })
	return nil
}

// Steps are those whose results the condition names.
func (c *Check) Steps() []string { return c.steps }

// Metrics tells whether the condition names metrics: they cost more to make than
// answers do.
func (c *Check) Metrics() bool { return c.metrics }

// Holds tells whether the condition holds. results has each of the steps that it
// names, and parameters values of the types that CEL has.
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
