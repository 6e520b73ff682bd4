package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// named is a kind of thing that people name by its name, and the API by its ID.
type named struct {
	noun, argument, example string
	names                   func(ctx context.Context, c *connection) ([]string, error) // suggestions for who completes a command
	find                    func(ctx context.Context, c *connection, text string) (uuid.UUID, error)
}

// about makes a command about one of them.
func (n named) about(server *serverFlags, verb, short string, do func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: verb + " " + n.argument, Short: short, Args: arguments(1), ValidArgsFunction: server.complete(n.names),
		Example: "  ostraka " + n.noun + " " + verb + " " + n.example,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			id, err := n.find(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return do(cmd.Context(), c, id, &output)
		},
	}
	output.register(cmd.Flags())
	return cmd
}
