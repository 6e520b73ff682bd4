package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newModule(t *terminal, server *serverFlags) *cobra.Command {
	return noun("module", "WASM modules: aggregators, validators, heuristics and planners",
		newModulePush(t, server), newModuleList(t, server), newModuleShow(t, server),
		newModuleTrial(t), newModuleTestRun(t, server), newModuleRuns(t, server), newModuleDeprecate(t, server))
}

// modulePushOptions are the flags of `ostraka module push`.
type modulePushOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	file     string
	name     string
	kind     string
}

func newModulePush(t *terminal, server *serverFlags) *cobra.Command {
	o := &modulePushOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "push FILE --name NAME", Short: "Push a WASM module as a new version",
		Long: "Push a module: a WASI preview 1 command that speaks ostraka-wasm/1. It is checked before it is kept.",
		Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return o.run(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.name, "name", "", "what to call it")
	cmd.Flags().StringVar(&o.kind, "kind", "aggregator", "what it does: aggregator, heuristic, planner or validator")
	return cmd
}

func (o *modulePushOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.name == "" {
		return usageError("what is the module called? give --name")
	}
	f, err := os.Open(o.file)
	if err != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("reading the module: %w", err)}
	}
	defer f.Close()
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	doc, err := answer.Read[client.Module](c.PushModuleWithBody(ctx, c.project,
		&client.PushModuleParams{Name: o.name, Kind: new(client.PushModuleParamsKind(o.kind))}, "application/wasm", f))
	if err != nil {
		return explain("pushing the module", err)
	}
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	m := doc.Value
	if doc.Status == http.StatusOK {
		o.terminal.say("this is version %d already", m.Version)
	}
	_, err = fmt.Fprintf(o.terminal.out, "%s version %d  %s\n", m.Name, m.Version, m.Digest)
	return err
}

func newModuleList(t *terminal, server *serverFlags) *cobra.Command {
	return newList(server, "List modules, the newest version of each", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing modules", []string{"NAME", "VERSION", "KIND", "DIGEST", "BYTES", "CREATED"},
			func(m client.Module) []string {
				return []string{m.Name, strconv.FormatInt(m.Version, 10), m.Kind, shortDigest(m.Digest), strconv.FormatInt(m.Size, 10), shortTime(m.CreatedAt)}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListModules(ctx, c.project, &client.ListModulesParams{Cursor: cursor, Limit: size})
			})
	})
}

func newModuleShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "show NAME", Aliases: []string{"get"}, Short: "Show a module and what it says about itself", Args: arguments(1), ValidArgsFunction: server.complete(moduleNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Module](c.GetModule(cmd.Context(), c.project, args[0], &client.GetModuleParams{}))
			if err != nil {
				return explain("getting the module "+args[0], err)
			}
			m := doc.Value
			return printOne(t, &output, doc.Raw, [][2]string{
				{"name", m.Name},
				{"version", strconv.FormatInt(m.Version, 10)},
				{"kind", m.Kind},
				{"digest", m.Digest},
				{"bytes", strconv.FormatInt(m.Size, 10)},
				{"created", shortTime(m.CreatedAt)},
				{"describes", describedByServer(m.Description)},
				{"parameters", schemaOf(m.Description)},
				{"deprecated", deprecated(m)},
			})
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func describedByServer(d *client.Description) string {
	if d == nil {
		return ""
	}
	text := d.Name + " " + d.Version
	if d.Summary != "" {
		text += ": " + d.Summary
	}
	return plain(text)
}

// schemaOf is the JSON Schema of a module's parameters.
func schemaOf(d *client.Description) string {
	if d == nil {
		return ""
	}
	return plain(string(d.Params))
}

// deprecated says since when new jobs may not use a module, and why.
func deprecated(m client.Module) string {
	if m.DeprecatedAt == nil {
		return ""
	}
	return shortTime(*m.DeprecatedAt) + " " + plain(m.Deprecation)
}
