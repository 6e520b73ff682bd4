// Package graph defines workflows, without their storage: it reads
// workflow.toml, its parameters and the integers in it, orders the steps,
// makes their jobs, and decides what a run does next.
//
// It is pure: it reads the given text and returns values or errors. All of that
// text is foreign, so all of it is bounded.
package graph

import (
	"fmt"

	"github.com/ostraka/ostraka/functions/partition"
)

// The limits of a workflow.
const (
	// MaxDefinitionBytes is the largest workflow.toml, in bytes: each version keeps one.
	MaxDefinitionBytes = 64 << 10
	// MaxSteps is how many steps a workflow has: a run looks at all of them whenever one ends.
	MaxSteps = 64
	// MaxParameters is how many parameters a workflow has.
	MaxParameters = 64
	// MaxFunctions is how many functions a workflow has, one for each step at most.
	MaxFunctions = MaxSteps
	// MaxModules is how many modules and planners lie in the folder of a workflow.
	MaxModules = 64
	// MaxFiles is how many files lie there as inputs.
	MaxFiles = 64
	// MaxRules is how many rules stand in a workflow; a project has 100.
	MaxRules = 32
	// MaxSchedules is how many schedules stand in a workflow; a project has 100.
	MaxSchedules = 16
	// MaxPathBytes is the longest path within the folder, in bytes.
	MaxPathBytes = 512
	// MaxEnum is how many values a parameter lists.
	MaxEnum = 64
	// MaxTextBytes is the longest value of a parameter that is text, and the longest description, in bytes.
	MaxTextBytes = 4 << 10
	// MaxExpressionBytes is the longest expression of an integer, in bytes, the values of its parameters included.
	MaxExpressionBytes = 4 << 10
	// MaxNesting is how deep the parentheses of an expression nest.
	MaxNesting = 16
	// MaxExpandedBytes is how much JSON the inputs and params of all steps become, with the values of a run in them; of one of them
	// partition.MaxSpecBytes.
	MaxExpandedBytes = 4 * partition.MaxSpecBytes
	// MaxBits is how large an integer becomes, on the way as well. It holds the 1,000 digits that a range may have.
	MaxBits = 3400
)

// Error says which field of a workflow is wrong, and what to do.
type Error struct {
	Field  string // as in workflow.toml, for example steps.search.range
	Detail string
	Hint   string
}

// Error tells where, what and what to do next.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Field, e.Detail, e.Hint) }

func wrong(field, hint, detail string, args ...any) error {
	return &Error{Field: field, Detail: fmt.Sprintf(detail, args...), Hint: hint}
}

// brief keeps a foreign text readable in a message.
func brief(text string) string {
	const most = 60
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q…", text[:most])
}
