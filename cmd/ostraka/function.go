package main

import (
	"github.com/spf13/cobra"
)

func newFunction(t *terminal, server *serverFlags) *cobra.Command {
	return noun("function", "Python functions and their versions",
		newFunctionInit(t), newFunctionPush(t, server), newFunctionRun(t, server), newFunctionCheck(t, server), newFunctionCall(t, server), newFunctionList(t, server), newFunctionGet(t, server), newFunctionVersions(t, server), newFunctionReview(t, server))
}
