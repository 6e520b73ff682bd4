package registry

import (
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/planner"
)

// CheckExpression says what is wrong with a condition over outputs, and where. None at all is right.
func CheckExpression(confirm string) error {
	if confirm == "" {
		return nil
	}
	if _, err := planner.CompileConfirmation(confirm); err != nil {
		return &functions.Error{
			Kind: functions.KindInvalid, Code: "bad_confirm", Message: err.Error(), Err: err,
			Hint: "confirm is a CEL expression of type bool over output, for example output.longest > 500; docs/verification.md shows more",
		}
	}
	return nil
}
