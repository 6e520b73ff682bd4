package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// workflowPushOptions are the flags of `ostraka workflow push` and `ostraka workflow diff`.
type workflowPushOptions struct {
	outputFlag
	signingFlag
	terminal  *terminal
	server    *serverFlags
	folder    string
	dryRun    bool
	unchecked bool
}

func newWorkflowPush(t *terminal, server *serverFlags) *cobra.Command {
	o := &workflowPushOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "push DIR", Short: "Push a folder with a workflow.toml as a new version",
		Long: `Push a folder with a workflow.toml. What would change is shown first, a line each. Functions, modules
and files that have changed are pushed or stored; then one transaction makes the version, which names the digests of
all of them, and of the other modules that steps use. What has not changed makes no version. Runs that were started before keep to theirs.`,
		Example: "  ostraka workflow push examples/workflow-bpsw --dry-run\n  ostraka workflow push examples/workflow-bpsw",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.folder = args[0]
			return o.run(cmd.Context())
		},
	}
	o.outputFlag.register(cmd.Flags())
	o.signingFlag.register(cmd.Flags(), "sign-with")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change, and push nothing")
	cmd.Flags().BoolVar(&o.unchecked, "unchecked", false, "push it without looking whether agents can start the functions")
	return cmd
}

func newWorkflowDiff(t *terminal, server *serverFlags) *cobra.Command {
	o := &workflowPushOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "diff DIR", Short: "Show how a folder differs from what the server has",
		Long:    "Show how a folder differs from the newest version that the server has, a line each. The exit code is 1 where it does.",
		Example: "  ostraka workflow diff examples/workflow-bpsw",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.folder = args[0]
			return o.diff(cmd.Context())
		},
	}
	o.outputFlag.register(cmd.Flags())
	return cmd
}

// compare reads the folder, and what would change on the server.
func (o *workflowPushOptions) compare(ctx context.Context) (c *connection, folder *workflowFolder, changes []workflowChange, err error) {
	if err := o.check(); err != nil {
		return nil, nil, nil, err
	}
	if folder, err = readWorkflowFolder(o.folder); err != nil {
		return nil, nil, nil, err
	}
	if c, err = o.server.connectProject(); err != nil {
		return nil, nil, nil, err
	}
	changes, err = folder.compare(ctx, c)
	return c, folder, changes, err
}

func (o *workflowPushOptions) run(ctx context.Context) error {
	c, folder, changes, err := o.compare(ctx)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.print(folder, changes)
	}
	for _, change := range changes {
		o.terminal.say("%s", change.line())
	}
	key, err := o.key(o.terminal, c.project)
	if err != nil {
		return err
	}
	doc, err := o.push(ctx, c, folder, key)
	if err != nil {
		return err
	}
	if doc.Status == http.StatusOK {
		o.terminal.say("this is version %d already", doc.Value.Version)
	}
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	_, err = fmt.Fprintf(o.terminal.out, "%s version %d  %s\n", doc.Value.Name, doc.Value.Version, doc.Value.Digest)
	return err
}

// push pushes what the server does not have, and then the workflow.
func (o *workflowPushOptions) push(ctx context.Context, c *connection, folder *workflowFolder, key ed25519.PrivateKey) (doc answer.Document[client.WorkflowDetail], err error) {
	request := client.PushWorkflowRequest{Definition: folder.text, Functions: []client.WorkflowFunctionRequest{}}
	for _, name := range folder.names() {
		b := folder.bundles[name]
		if known, is := folder.known[name]; is && key == nil { // with a key it is pushed, so that it is signed for sure
			request.Functions = append(request.Functions, client.WorkflowFunctionRequest{Name: name, Function: known.Function, Version: known.Version})
			continue
		}
		if !o.unchecked {
			if err := checkStarts(ctx, o.terminal, b); err != nil {
				return doc, err
			}
		}
		f, err := pushBundle(ctx, c, b, key) // the same bundle is the version that it is already
		if err != nil {
			return doc, err
		}
		request.Functions = append(request.Functions, client.WorkflowFunctionRequest{Name: name, Function: f.Value.Name, Version: f.Value.Version})
	}
	if err := folder.pushParts(ctx, o.terminal, c, &request); err != nil {
		return doc, err
	}
	doc, err = answer.Read[client.WorkflowDetail](c.PushWorkflow(ctx, c.project, nil, request))
	return doc, explain("pushing the workflow "+folder.definition.Name, err)
}

func (o *workflowPushOptions) diff(ctx context.Context) error {
	_, folder, changes, err := o.compare(ctx)
	if err != nil {
		return err
	}
	if err := o.print(folder, changes); err != nil || len(changes) == 0 {
		return err
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("the folder differs from workflow %s on the server", folder.definition.Name), hint: "ostraka workflow push " + shellWord(o.folder) + " pushes it"}
}

func (o *workflowPushOptions) print(folder *workflowFolder, changes []workflowChange) error {
	if o.json() {
		if changes == nil {
			changes = []workflowChange{}
		}
		return writeValue(o.terminal.out, changes)
	}
	if len(changes) == 0 {
		o.terminal.say("nothing differs from the newest version of %s", folder.definition.Name)
	}
	for _, change := range changes {
		o.terminal.put("%s\n", change.line())
	}
	return nil
}
