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
func (l language) mistakes(field string, issues *cel.Issues) error {
	const shown = 3
	all := issues.Errors()
	var list []error
	for _, mistake := range all[:min(len(all), shown)] {
		list = append(list, &RuleError{
			Field: field, Line: mistake.Location.Line(), Column: mistake.Location.Column() + 1,
			Detail: brief(mistake.Message), Hint: l.hint(mistake.Message),
		})
	}
	if more := len(all) - shown; more > 0 {
		list = append(list, fmt.Errorf("and %d more mistakes in %s", more, field))
	}
	return errors.Join(list...)
}

func (l language) hint(message string) string {
	switch {
	case strings.Contains(message, "undeclared reference"):
		return l.names
	case strings.Contains(message, "recursion"):
		return fmt.Sprintf("an expression nests at most %d deep, and a chain of operators counts: %s the values", MaxNesting, l.large)
	default:
		return "see https://cel.dev for the language"
	}
}

// brief keeps a message that quotes foreign values readable, and marks the cut.
func brief(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
