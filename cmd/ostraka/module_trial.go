//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/wasm"
)

// moduleTrialOptions are the flags of `ostraka module test`.
type moduleTrialOptions struct {
	outputFlag
	terminal *terminal
	file     string
	kind     string
	input    string
	against  string
	params   string
	budget   int64
}

func newModuleTrial(t *terminal) *cobra.Command {
	o := &moduleTrialOptions{terminal: t}
	cmd := &cobra.Command{
		Use: "test FILE --kind KIND --input RECORDS", Short: "Try a module here, without a server, as the server would run it",
		Long: `Try a module here, without a server: in the same runner, with the same meter and limits.

The module runs on the records twice, and cut into other batches; an aggregator's
partials are merged in other shapes too. Whatever makes a difference is reported.
RECORDS is a file with one JSON value a line, as docs/modules.md has them for each
kind; for an aggregator the bare results will do. A dash reads standard input.`,
		Example: "  ostraka module test fold.wasm --kind aggregator --input results.jsonl --against expected.jsonl",
		Args:    arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return o.run(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.kind, "kind", string(wasm.KindAggregator), fmt.Sprintf("what it is for: one of %v", wasm.Kinds()))
	cmd.Flags().StringVar(&o.input, "input", "", "file of records, one a line")
	cmd.Flags().StringVar(&o.against, "against", "", "file with the lines that are expected")
	cmd.Flags().StringVar(&o.params, "params", "", "the module's parameters, a JSON object; left out: the first example of its schema, or {}")
	cmd.Flags().Int64Var(&o.budget, "budget", 0, "how many units a planner may plan; left out: 1000")
	return cmd
}

func (o *moduleTrialOptions) run(ctx context.Context) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	kind := wasm.Kind(o.kind)
	if !slices.Contains(wasm.Kinds(), kind) {
		return usageError("--kind %q: choose one of %v", o.kind, wasm.Kinds())
	}
	if o.input == "" {
		return usageError("which records? give --input FILE")
	}
	params, err := paramsFlag(o.params)
	if err != nil {
		return err
	}
	module, err := readArgument("the module", o.file)
	if err != nil {
		return err
	}
	records, err := readRecords(o.terminal, o.input)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ostraka-module-")
	if err != nil {
		return fmt.Errorf("making a directory for compiled code: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	pool, err := wasm.NewPool(wasm.Options{CacheDir: dir})
	if err != nil {
		return fmt.Errorf("preparing the module runner: %w", err)
	}
	defer pool.Close()
	trial := wasm.Trial{
		Use:  wasm.Use{Pool: pool, Project: "test", Job: "test", Params: params},
		Kind: kind, Records: wasm.SplitRecords(records), Budget: o.budget,
	}
	report, err := trial.Try(ctx, module)
	if err != nil {
		return trialError(err)
	}
	if err := o.compare(&report); err != nil {
		return err
	}
	return printReport(o.terminal, &o.outputFlag, report)
}

// compare holds the output against --against, if that was given and there is any.
func (o *moduleTrialOptions) compare(report *wasm.Report) error {
	if o.against == "" || !report.Passed() {
		return nil // what is wrong is known already
	}
	expected, err := readArgument("what is expected", o.against)
	if err != nil {
		return err
	}
	return report.Against(expected)
}

// trialError tells records that are not records from a machine that cannot run modules.
func trialError(err error) error {
	var record *wasm.RecordError
	if errors.As(err, &record) {
		return &exitError{code: exitUsage, err: fmt.Errorf("reading the records: %w", err), hint: "docs/modules.md has the records of each kind"}
	}
	return fmt.Errorf("trying the module: %w", err)
}

// readArgument reads a file that the command line names.
func readArgument(what, path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("reading %s: %w", what, err)}
	}
	return b, nil
}
