package planner

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
)

// RuleError says which field of a rule is wrong, where, and what to do.
type RuleError struct {
	Field  string // as in the rule's JSON form, for example then.partition
	Line   int    // within an expression, counted from 1; 0 when there is none
	Column int    // counted from 1
	Detail string
	Hint   string
}

// Error tells where, what and what to do next.
func (e *RuleError) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d, column %d", e.Line, e.Column)
	}
	fmt.Fprintf(&b, ": %s (%s)", e.Detail, e.Hint)
	return b.String()
}

// knownNames helps where an expression names something else.
const knownNames = "there are job.id, job.function, job.version, job.state, job.depth, job.attempts, " +
	"job.shards.total, job.shards.accepted, job.shards.failed, aggregate.value and aggregate.count"

// expressionErrors shows the first few mistakes; the rest often follow from
// them.
func expressionErrors(field string, issues *cel.Issues) error {
	const shown = 3
	all := issues.Errors()
	var list []error
	for _, mistake := range all[:min(len(all), shown)] {
		list = append(list, &RuleError{
			Field: field, Line: mistake.Location.Line(), Column: mistake.Location.Column() + 1,
			Detail: brief(mistake.Message), Hint: compileHint(mistake.Message),
		})
	}
	if more := len(all) - shown; more > 0 {
		list = append(list, fmt.Errorf("and %d more mistakes in %s", more, field))
	}
	return errors.Join(list...)
}

func compileHint(message string) string {
	switch {
	case strings.Contains(message, "undeclared reference"):
		return knownNames
	case strings.Contains(message, "recursion"):
		return fmt.Sprintf("an expression nests at most %d deep, and a chain of operators counts: let the aggregator prepare the values", MaxNesting)
	default:
		return "see https://cel.dev for the language"
	}
}

// evaluationError says what to do about an expression that failed on a job.
func evaluationError(field string, err error) error {
	text := brief(err.Error())
	for _, known := range []struct{ cause, hint string }{
		{"no such key", "has(aggregate.value.x) tells whether a field is there"},
		{"cost limit exceeded", "the expression does too much work, let the aggregator prepare the values"},
		{"memory limit exceeded", "the expression makes too large values, let the aggregator prepare them"},
		{"interrupted", "the expression ran out of time, let the aggregator prepare the values"},
		{"overload", "check the types; in aggregate.value an integer beyond 64 bits is a decimal string"},
		{"out of bounds", "size(x) tells how many there are"},
		{"division by zero", "test the divisor first"},
	} {
		if strings.Contains(text, known.cause) {
			return fmt.Errorf("%s: %s (%s)", field, text, known.hint)
		}
	}
	return fmt.Errorf("%s: %s (try the expression on the job's aggregate)", field, text)
}

// brief keeps a message that quotes foreign values readable, and marks the cut.
func brief(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
