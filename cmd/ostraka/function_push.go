package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// functionPushOptions are the flags of `ostraka function push`.
type functionPushOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	folder   string
}

func newFunctionPush(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionPushOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "push DIR",
		Short: "Push a function as a new version",
		Long: `Push a function: a folder with a function.toml, or one .py file. Versions never change:
pushing the same content again is the version that it is already.`,
		Example: "  ostraka function push examples/bpsw",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.folder = args[0]
			return o.run(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *functionPushOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	doc, err := pushFunction(ctx, c, o.folder)
	if err != nil {
		return err
	}
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	f := doc.Value
	if doc.Status == http.StatusOK {
		o.terminal.say("this is version %d already", f.Version)
	}
	_, err = fmt.Fprintf(o.terminal.out, "%s version %d  %s\n", f.Name, f.Version, f.Digest)
	return err
}

// pushFunction packs a folder and pushes it.
func pushFunction(ctx context.Context, c *connection, folder string) (answer.Document[client.FunctionVersion], error) {
	b, err := bundle.Pack(folder)
	if err != nil {
		return answer.Document[client.FunctionVersion]{}, err
	}
	doc, err := answer.Read[client.FunctionVersion](
		c.PushFunctionWithBody(ctx, c.project, nil, octetStream, bytes.NewReader(b.Archive())))
	return doc, explain("pushing "+b.Manifest.Name, err)
}

const octetStream = "application/octet-stream"
