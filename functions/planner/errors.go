package planner

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/ostraka/ostraka/runtime/expression"
)

// RuleError says which field of a rule is wrong, where, and what to do.
type RuleError = expression.Error

// knownNames helps where an expression names something else.
const knownNames = "there are job.id, job.function, job.version, job.state, job.depth, job.attempts, " +
	"job.shards.total, job.shards.accepted, job.shards.failed, aggregate.value, aggregate.count and metrics.…"

func (l language) mistakes(field string, issues *cel.Issues) error {
	return expression.Mistakes(field, issues, func(message string) (detail, hint string) { return expression.Brief(message), l.hint(message) })
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
