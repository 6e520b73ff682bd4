package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// noKeyFile refuses the file of an API key where somebody means the key of a project's log: what asks no server would pass over it in silence.
func noKeyFile(cmd *cobra.Command) error {
	given := cmd.Flags().Lookup("key-file")
	if given == nil || !given.Changed {
		return nil
	}
	return &exitError{
		code: exitUsage, err: errors.New("--key-file is for your key to a server, and this command asks none"),
		hint: `the key of the project's log is given with --key "$(cat ` + shellWord(given.Value.String()) + `)"`,
	}
}
