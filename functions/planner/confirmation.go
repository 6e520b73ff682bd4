package planner

import (
	"context"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/expression"
)

// Confirmation is a condition over the output of a shard: the results that
// fulfil it matter, and are executed again before they count. It is an
// expression in the language of rules, of type bool, and sees one name:
//
//	output    what the function returned
//
// Numbers are what they are in aggregate.value. It may be used by several
// goroutines at once.
type Confirmation struct{ program cel.Program }

// confirmField is the field that errors name.
const confirmField = "confirm"

// CompileConfirmation checks a condition. What is wrong with it is a *RuleError
// with its line and column, or several.
func CompileConfirmation(text string) (*Confirmation, error) {
	env, err := expression.Environment(cel.Variable("output", cel.DynType))
	if err != nil {
		return nil, fmt.Errorf("preparing CEL: %w", err)
	}
	program, err := confirmations.compile(env, confirmField, text, cel.BoolType)
	if err != nil {
		return nil, err
	}
	return &Confirmation{program}, nil
}

// Matters says whether an output fulfils the condition. An error says why that
// cannot be told, and what to do; the result is to be taken to matter then.
func (c *Confirmation) Matters(ctx context.Context, output []byte) (bool, error) {
	value, err := readOutput(output)
	if err != nil {
		return false, err
	}
	got, _, err := c.program.ContextEval(ctx, map[string]any{"output": value})
	if err != nil {
		return false, confirmations.failed(confirmField, err)
	}
	matters, ok := got.(types.Bool)
	if !ok {
		return false, fmt.Errorf("%s: the expression gave %s, not bool: compare it with something", confirmField, got.Type().TypeName())
	}
	return bool(matters), nil
}

func readOutput(output []byte) (any, error) {
	if len(output) > MaxConfirmedOutput {
		return nil, fmt.Errorf("%s: the output has %d bytes, and the expression sees one of at most %d: let the function return less", confirmField, len(output), MaxConfirmedOutput)
	}
	if err := canonical.Valid(output, MaxConfirmedOutput); err != nil {
		return nil, fmt.Errorf("%s: the output cannot be read: %w", confirmField, err)
	}
	return decode(output)
}

// language is what expressions of one kind may cost, and what to say of those
// that are wrong.
type language struct {
	cost  uint64
	names string // what there is to name
	field string // with has(…)
	value string // in which integers beyond 64 bits are strings
	large string // what to do instead of a large expression
	short string // what to do instead of a long one
	try   string // what to try it on
}

var rules = language{
	cost: CostLimit, names: knownNames, field: "aggregate.value.x", value: "aggregate.value",
	large: "let the aggregator prepare", short: "compute the value in the aggregator", try: "the job's aggregate",
}

var confirmations = language{
	cost: ConfirmCostLimit, names: "there is output, what the function returned", field: "output.x", value: "output",
	large: "let the function prepare", short: "compute the value in the function", try: "outputs of the function",
}

// failed says what to do about an expression that failed on a value.
func (l language) failed(field string, err error) error {
	text := expression.Brief(err.Error())
	for _, known := range []struct{ cause, hint string }{
		{"no such key", "has(" + l.field + ") tells whether a field is there"},
		{"cost limit exceeded", "the expression does too much work, " + l.large + " the values"},
		{"memory limit exceeded", "the expression makes too large values, " + l.large + " them"},
		{"interrupted", "the expression ran out of time, " + l.large + " the values"},
		{"overload", "check the types; in " + l.value + " an integer beyond 64 bits is a decimal string"},
		{"out of bounds", "size(x) tells how many there are"},
		{"division by zero", "test the divisor first"},
	} {
		if strings.Contains(text, known.cause) {
			return fmt.Errorf("%s: %s (%s)", field, text, known.hint)
		}
	}
	return fmt.Errorf("%s: %s (try the expression on %s)", field, text, l.try)
}
