// Package expression is shared by all expressions that people write in CEL: rules for follow-ups, conditions over outputs,
// rules of the guardian. It bounds the cost of compiling and evaluating one, and says where a mistake is. It is pure.
package expression

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
)

// MaxBytes is the largest expression, in bytes. Parsing costs time and memory in proportion.
const MaxBytes = 4 << 10

// MaxNesting is how deep an expression may nest. The time of type checking grows with the cube of the depth: 240 nested maps take ten
// seconds, 50 take some tens of milliseconds.
const MaxNesting = 50

// InterruptCheckFrequency is the number of steps of a comprehension between two looks at the context, the same as in Kubernetes: often
// enough to stop at once, with the largest values within a second, and seldom enough to cost nothing.
const InterruptCheckFrequency = 100

// RegexLimit bounds a regular expression, in instructions of its program. The work of a match is the length of the text times this
// number, and CEL does not count it in full: a{1000} is short to write.
const RegexLimit = 1000

// Error says which field is wrong, where, and what to do.
type Error struct {
	Field  string // as in the JSON form, for example then.partition
	Line   int    // within an expression, counted from 1; 0 when there is none
	Column int    // counted from 1
	Detail string
	Hint   string
}

// Error tells where, what and what to do next.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d, column %d", e.Line, e.Column)
	}
	fmt.Fprintf(&b, ": %s (%s)", e.Detail, e.Hint)
	return b.String()
}

// Environment is one in which these options hold, and the limits of all expressions. Nothing is added to CEL's standard functions:
// others, such as lists.range, can make large values at no cost.
func Environment(options ...cel.EnvOption) (*cel.Env, error) {
	return cel.NewEnv(append([]cel.EnvOption{
		cel.ParserExpressionSizeLimit(MaxBytes),
		cel.ParserRecursionLimit(MaxNesting),
		cel.RegexProgramSizeLimit(RegexLimit),
		cel.ClearMacros(), comprehensions(),
	}, options...)...)
}

// Mistakes shows the first few mistakes of an expression; the rest often follow from them. explain says what one of CEL's messages
// means, and what to do about it.
func Mistakes(field string, issues *cel.Issues, explain func(message string) (detail, hint string)) error {
	const shown = 3
	all := issues.Errors()
	var list []error
	for _, mistake := range all[:min(len(all), shown)] {
		detail, hint := explain(mistake.Message)
		list = append(list, &Error{Field: field, Line: mistake.Location.Line(), Column: mistake.Location.Column() + 1, Detail: detail, Hint: hint})
	}
	if more := len(all) - shown; more > 0 {
		list = append(list, fmt.Errorf("and %d more mistakes in %s", more, field))
	}
	return errors.Join(list...)
}

// Brief keeps a message that quotes foreign values readable, and marks the cut.
func Brief(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
