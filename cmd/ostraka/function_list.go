package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

// functionListOptions are the flags of `ostraka function list` and `ostraka function versions`.
type functionListOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	name     string // of versions
}

func newFunctionList(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionListOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List functions, the newest version of each", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.register(cmd.Flags())
	return cmd
}

func newFunctionVersions(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionListOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "versions NAME", Short: "List the versions of a function", Args: arguments(1),
		ValidArgsFunction: server.complete(functionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *functionListOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	return show(o.terminal, &o.listFlags, "listing functions", []string{"NAME", "VERSION", "DIGEST", "BYTES", "CREATED"},
		func(f client.FunctionVersion) []string {
			return []string{f.Name, strconv.FormatInt(f.Version, 10), shortDigest(f.Digest), strconv.FormatInt(f.Size, 10), shortTime(f.CreatedAt)}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			if o.name == "" {
				return c.ListFunctions(ctx, c.project, &client.ListFunctionsParams{Cursor: cursor, Limit: size})
			}
			return c.ListFunctionVersions(ctx, c.project, o.name, &client.ListFunctionVersionsParams{Cursor: cursor, Limit: size})
		})
}
