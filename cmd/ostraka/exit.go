package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
)

// The exit codes. Scripts branch on them, so a code never changes its meaning.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitAuth        = 3
	exitNotFound    = 4
	exitUnreachable = 5
	exitRefused     = 6
	exitTimeout     = 124 // as timeout(1) does
	exitInterrupted = 130 // as a shell reports SIGINT
)

// exitCodes is the one table of them: help prints it.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitOK, "done"},
	{exitFailed, "the job failed, was cancelled or waits for a review; a check that the command makes found a fault, or not all of a bulk action was done; or something else went wrong here, such as a full disk"},
	{exitUsage, "the command line is wrong, or a file or folder that it names is not there"},
	{exitAuth, "no key, a key that is not valid, or one that may not do this"},
	{exitNotFound, "there is no such thing"},
	{exitUnreachable, "the server cannot be reached, or cannot answer now; a rate or a limit of the project is reached (429)"},
	{exitRefused, "the server refuses the request: invalid, too large, or in conflict with what there is"},
	{exitTimeout, "--timeout or --wait passed; the job goes on"},
	{exitInterrupted, "stopped by Ctrl-C"},
}

func exitCodeHelp() string {
	var b strings.Builder
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "  %3d  %s\n", c.code, c.meaning)
	}
	return b.String()
}

// exitError is an error with the exit code that it stands for and, where there is one, advice on what to do next.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError says that the command line is wrong. adviseHelp adds which command's help tells more.
func usageError(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// adviseHelp names the help of a command that was not used as it says, where there is no better advice.
func adviseHelp(cmd *cobra.Command, err error) error {
	var coded *exitError
	if errors.As(err, &coded) && coded.code == exitUsage && coded.hint == "" {
		return &exitError{code: exitUsage, err: err, hint: helpOf(cmd)}
	}
	return err
}

// helpOf is the advice to read the help of a command.
func helpOf(cmd *cobra.Command) string { return "see " + cmd.CommandPath() + " --help" }

// exitCode turns what a command returned into the process's exit code.
func exitCode(err error) int {
	var coded *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, agent.ErrNoAgent): // a folder that was named, as a flag can be wrong
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}

// hintOf is the advice that comes with an error, or nothing.
func hintOf(err error) string {
	var coded *exitError
	if errors.As(err, &coded) {
		return coded.hint
	}
	return ""
}
