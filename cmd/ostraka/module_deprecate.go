package main

import (
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newModuleDeprecate(t *terminal, server *serverFlags) *cobra.Command {
	var reason string
	var undo bool
	cmd := &cobra.Command{
		Use: "deprecate NAME", Short: "Keep new jobs from using a module; jobs that use it continue",
		Args: arguments(1), ValidArgsFunction: server.complete(moduleNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			body := client.DeprecateModuleInputBody{Deprecated: !undo, Reason: reason}
			if _, err := answer.Read[client.Module](c.DeprecateModule(cmd.Context(), c.project, args[0], nil, body)); err != nil {
				return explain("deprecating the module "+args[0], err)
			}
			if undo {
				t.say("new jobs may use %s again", args[0])
			} else {
				t.say("new jobs may not use %s any more", args[0])
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, and what to use instead")
	cmd.Flags().BoolVar(&undo, "undo", false, "allow it again")
	return cmd
}
