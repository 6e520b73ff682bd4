package stepargs

import "github.com/ostraka/ostraka/functions"

// Shortens says whether a step is among those that a request may carry out: they are short, and of one job.
func Shortens(step functions.Step) bool {
	switch step.(type) {
	case VerifyArgs, AggregateArgs, MergeArgs, FinishArgs:
		return true
	default:
		return false
	}
}
