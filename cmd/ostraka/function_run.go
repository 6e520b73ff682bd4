package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
)

// functionRunOptions are the flags of `ostraka function run`.
type functionRunOptions struct {
	outputFlag
	terminal  *terminal
	server    *serverFlags
	folder    string
	input     string
	rangeText string
	python    string
}

func newFunctionRun(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionRunOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "run DIR",
		Short: "Run a function once on this machine, and show what it gives",
		Long: `Run one shard of a function on this machine, as an agent does: in the strongest sandbox that the machine allows,
within the function's limits. The output goes to stdout, what the function writes and a traceback to stderr.
The output of a function that takes items (per = "item") is the list of their results. No server is needed. The exit code is 1 when the function fails.`,
		Example: `  ostraka function run ./collatz --range 1:100
  ostraka function run resize.py --input '{"width": 640}'
  ostraka function run grep --input - < shard.json`,
		Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.folder = args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.input, "input", "", "what the function gets, as JSON: a shard, or one item where it takes those; - reads it from stdin")
	f.StringVar(&o.rangeText, "range", "", "FROM:TO, without TO itself, as one shard; 2^64 and 2^64+10^6 are understood")
	f.StringVar(&o.python, "python", "", pythonUsage)
	return cmd
}

// errRunFailed says that the function failed. How has been printed.
var errRunFailed = &exitError{code: exitFailed, err: errors.New("the function failed: see above")}

func (o *functionRunOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	input, err := o.shard()
	if err != nil {
		return err
	}
	b, err := packFunction(o.folder)
	if err != nil {
		return err
	}
	if b.Manifest.IsPerItem() && o.rangeText == "" {
		input = slices.Concat([]byte("["), input, []byte("]"))
	}
	result, err := o.execute(ctx, b, input)
	if err != nil {
		return err
	}
	if err := o.print(result); err != nil {
		return err
	}
	if result.Status != harness.StatusOK {
		return errRunFailed
	}
	return nil
}

// shard is the input of the shard.
func (o *functionRunOptions) shard() ([]byte, error) {
	if (o.input == "") == (o.rangeText == "") {
		return nil, usageError("what does the function get? give --input JSON or --range FROM:TO")
	}
	if o.rangeText != "" {
		return wholeRange(o.rangeText)
	}
	text := []byte(o.input)
	if o.input == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(o.terminal.in, partition.MaxItemBytes+1)); err != nil {
			return nil, fmt.Errorf("reading the input: %w", err)
		}
	}
	text = bytes.TrimSpace(text)
	if len(text) > partition.MaxItemBytes {
		return nil, usageError("--input has more than %d bytes, which is as much as a shard may have", partition.MaxItemBytes)
	}
	if err := canonical.Valid(text, partition.MaxItemBytes); err != nil {
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("--input is not JSON: %w", err), hint: `quote it for the shell: --input '{"width": 640}', and a text as '"abc"'`}
	}
	return text, nil
}

// wholeRange is the one shard that a range makes when it is not cut.
func wholeRange(text string) ([]byte, error) {
	r, err := parseRange(text, "1")
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{"from": r.From, "to": r.To})
}

func (o *functionRunOptions) execute(ctx context.Context, b *bundle.Bundle, input []byte) (result harness.Result, err error) {
	sandbox, err := openSandbox(ctx, o.terminal, o.server, isolation.Walls{AllowProcess: true}, o.python, b)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, sandbox.close()) }()
	session, err := sandbox.Open(ctx, b, harness.Settings{})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return session.Run(ctx, 0, input)
}

// print shows a result: the output as data, and what people read beside it.
func (o *functionRunOptions) print(r harness.Result) error {
	if o.json() {
		return writeValue(o.terminal.out, r)
	}
	o.quote(r.StdoutTail)
	o.quote(r.StderrTail)
	if e := r.Exception; e != nil {
		o.quote(e.Traceback)
		o.terminal.say("%s: %s: %s", r.Status, plain(e.Type), plain(e.Message))
	}
	fuel := ""
	if r.Fuel > 0 {
		fuel = fmt.Sprintf(", %d units of fuel (meter %d)", r.Fuel, r.Meter)
	}
	o.terminal.say("%s after %s, %s of processor time, %s at its largest%s, isolation %s", r.Status,
		shortly(r.WallMicros), shortly(r.CPUMicros), sizeOf(r.PeakRSSBytes), fuel, plain(r.Isolation))
	if r.Status != harness.StatusOK {
		return nil
	}
	_, err := fmt.Fprintln(o.terminal.out, plain(r.Output))
	return err
}

// quote shows what a function wrote, line by line.
func (o *functionRunOptions) quote(text string) {
	for line := range strings.Lines(text) {
		o.terminal.say("  | %s", plain(strings.TrimSuffix(line, "\n")))
	}
}

func shortly(micros int64) time.Duration {
	return (time.Duration(micros) * time.Microsecond).Round(100 * time.Microsecond)
}
