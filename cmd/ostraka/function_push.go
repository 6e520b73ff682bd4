package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/signing"
)

// functionPushOptions are the flags of `ostraka function push`.
type functionPushOptions struct {
	outputFlag
	signingFlag
	terminal *terminal
	server   *serverFlags
	folder   string
	// unchecked leaves out whether agents can start the function.
	unchecked bool
}

func newFunctionPush(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionPushOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "push DIR",
		Short: "Push a function as a new version",
		Long: `Push a function: a folder with a function.toml, or one .py file. Versions never change:
pushing the same content again is the version that it is already. Jobs take the newest version, the one with
the highest number, unless --version names another.

Before that the function is read, not run, on this machine: what no agent can start (a syntax error, no handler) is refused,
and a module that is neither in the folder nor in Python's standard library is named.

Where the project has a signing key (ostraka signing-key), the function is signed with it here, and the
signature is sent along. The key itself is not.`,
		Example: "  ostraka function push examples/bpsw",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.folder = args[0]
			return o.run(cmd.Context())
		},
	}
	o.outputFlag.register(cmd.Flags())
	o.signingFlag.register(cmd.Flags(), "sign-with")
	cmd.Flags().BoolVar(&o.unchecked, "unchecked", false, "push it without looking whether agents can start it")
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
	key, err := o.key(o.terminal, c.project)
	if err != nil {
		return err
	}
	b, err := packFunction(o.folder)
	if err != nil {
		return err
	}
	if !o.unchecked {
		if err := checkStarts(ctx, o.terminal, b); err != nil {
			return err
		}
	}
	doc, err := pushBundle(ctx, c, b, key)
	if err != nil {
		return err
	}
	f := doc.Value
	if doc.Status == http.StatusOK {
		if err := sayKnown(ctx, o.terminal, c, f); err != nil {
			return err
		}
	}
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	_, err = fmt.Fprintf(o.terminal.out, "%s version %d  %s\n", f.Name, f.Version, f.Digest)
	return err
}

// sayKnown says which version a push came to that made none, and which one jobs take.
func sayKnown(ctx context.Context, t *terminal, c *connection, f client.FunctionVersion) error {
	doc, err := answer.Read[client.FunctionVersion](c.GetFunction(ctx, c.project, f.Name))
	if err != nil {
		return explain("finding the newest version of "+f.Name, err)
	}
	if newest := doc.Value.Version; newest != f.Version {
		t.say("this is version %d already, and not the newest: jobs take version %d unless --version %d says otherwise", f.Version, newest, f.Version)
		return nil
	}
	t.say("this is version %d already", f.Version)
	return nil
}

// pushFunction packs a folder, signs it where there is a key, and pushes it.
func pushFunction(ctx context.Context, c *connection, folder string, key ed25519.PrivateKey) (answer.Document[client.FunctionVersion], error) {
	b, err := packFunction(folder)
	if err != nil {
		return answer.Document[client.FunctionVersion]{}, err
	}
	return pushBundle(ctx, c, b, key)
}

func pushBundle(ctx context.Context, c *connection, b *bundle.Bundle, key ed25519.PrivateKey) (answer.Document[client.FunctionVersion], error) {
	params := &client.PushFunctionParams{}
	if key != nil {
		signature := signing.SignBundle(key, c.project, b.Manifest.Name, b.Digest)
		params.OstrakaSignature = new(base64.StdEncoding.EncodeToString(signature))
	}
	doc, err := answer.Read[client.FunctionVersion](
		c.PushFunctionWithBody(ctx, c.project, params, octetStream, bytes.NewReader(b.Archive())))
	return doc, explain("pushing "+b.Manifest.Name, err)
}

const octetStream = "application/octet-stream"
