//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/wasm"
)

// moduleTestRunOptions are the flags of `ostraka module test-run`.
type moduleTestRunOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	name     string
	input    string
	params   string
}

func newModuleTestRun(t *terminal, server *serverFlags) *cobra.Command {
	o := &moduleTestRunOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "test-run NAME --input RECORDS", Short: "Try the newest version of a module on the server; nothing is kept",
		Args: arguments(1), ValidArgsFunction: server.complete(moduleNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.input, "input", "", "file of records, one a line; - reads standard input")
	cmd.Flags().StringVar(&o.params, "params", "", "the module's parameters, a JSON object; left out: the first example of its schema, or {}")
	return cmd
}

func (o *moduleTestRunOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.input == "" {
		return usageError("which records? give --input FILE")
	}
	params, err := paramsFlag(o.params)
	if err != nil {
		return err
	}
	records, err := readRecords(o.terminal, o.input)
	if err != nil {
		return err
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	query := &client.TryModuleParams{}
	if params != nil {
		query.Params = new(string(params))
	}
	doc, err := answer.Read[json.RawMessage](c.TryModuleWithBody(ctx, c.project, o.name, query, "application/x-ndjson", bytes.NewReader(records)))
	if err != nil {
		return explain("trying the module "+o.name, err)
	}
	var report wasm.Report
	if err := json.Unmarshal(doc.Raw, &report); err != nil {
		return fmt.Errorf("reading the report: %w", err)
	}
	return printReport(o.terminal, &o.outputFlag, report)
}

// readRecords reads a file of records, or standard input. A trial takes no more than this, here or there.
func readRecords(t *terminal, path string) ([]byte, error) {
	if path != "-" {
		return readArgument("the records", path)
	}
	b, err := io.ReadAll(io.LimitReader(t.in, registry.MaxTrialBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the records: %w", err)
	}
	if len(b) > registry.MaxTrialBytes {
		return nil, usageError("standard input has more than %d bytes of records: put them into a file", registry.MaxTrialBytes)
	}
	return b, nil
}
