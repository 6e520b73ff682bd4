package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/determinism"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/python"
)

// defaultCheckSample is how many shards are checked: enough for what depends on the input to show, few enough to wait for.
const defaultCheckSample = 8

// functionCheckOptions are the flags of `ostraka function check`.
type functionCheckOptions struct {
	outputFlag
	terminal  *terminal
	server    *serverFlags
	folder    string
	sample    int
	input     string
	rangeText string
	lines     string
	grid      []string
	files     []string
	shardSize string
	shardText string // --shard-bytes
	perShard  int64
	python    string
	asJSON    bool
	perItem   bool // the function takes items
}

func newFunctionCheck(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionCheckOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Find out whether a function gives the same result everywhere",
		Long: `Run some shards of a function twice on this machine, in the strongest sandbox that it allows: as an
agent does, and then with another hash seed, in another time zone, in the opposite order and in
other batches. What differs is shown value by value, with what is likely behind it, because
agents that differ honestly cannot be told from agents that cheat. The time and memory that the
shards took are shown beside the function's limits. No server is needed.

A function in a runtime runs in it where "runtime build" or "runtime import" made it on this machine, or the server has it, and once
more with the kernels of BLAS of other processors: which of its shards, and which operations of numpy, come to something else there.
Agents all have one kernel, so that alone fails no check.

Shards come from --range, --grid, --lines, --file or --input, cut as a job would cut them, or from a file
check.jsonl in the folder, one JSON value a line. Without any of them numbers, small ranges, texts and empty
objects are tried. A function over files finds those of --file in $OSTRAKA_INPUT, as if they were stored under
these names.

The exit code is 1 when a result differs or a shard fails.`,
		Example: `  ostraka function check examples/bpsw --range 2^64:2^64+10^6 --shard-size 5000
  ostraka function check resize --input photos.jsonl --sample 20 -o json
  ostraka function check examples/words --file texts=./corpus
  ostraka function check grep --lines access.log.gz --shard-size 1000`,
		Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.folder = args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.register(f)
	f.BoolVar(&o.asJSON, "json", false, "the same as -o json")
	f.IntVar(&o.sample, "sample", defaultCheckSample, "how many shards to run")
	f.StringVar(&o.input, "input", "", "file of one JSON value a line, each a shard, or an item of those that --shard-size puts into one; - is stdin")
	f.StringVar(&o.rangeText, "range", "", "FROM:TO, without TO itself; 2^64 and 2^64+10^6 are understood")
	f.StringVar(&o.lines, "lines", "", "text file, gzip or not, of whose lines --shard-size make a shard; - is stdin")
	f.StringArrayVar(&o.grid, "grid", nil, gridUsage)
	f.StringArrayVar(&o.files, "file", nil, "PATH or NAME=PATH, a file or a folder; several times: each file is a shard, which finds it in $OSTRAKA_INPUT")
	f.StringVar(&o.shardSize, "shard-size", "", "how many integers of the range, lines of the file or values of --input make a shard; chosen when left out")
	f.StringVar(&o.shardText, "shard-bytes", "", "how many bytes of whole --lines make a shard, instead of --shard-size")
	f.Int64Var(&o.perShard, "per-shard", 0, "how many of the files make a shard; the input is then a list")
	f.StringVar(&o.python, "python", "", pythonUsage)
	return cmd
}

// errDiffers says that the check found something. What it is has been printed.
var errDiffers = &exitError{code: exitFailed, err: errors.New("the function is not ready for machines of others: see above")}

func (o *functionCheckOptions) run(ctx context.Context) (err error) {
	if err := o.complete(); err != nil {
		return err
	}
	b, err := packFunction(o.folder)
	if err != nil {
		return err
	}
	sandbox, err := openSandbox(ctx, o.terminal, o.server, isolation.Walls{AllowProcess: true}, o.python, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sandbox.close()) }()
	var suspects []determinism.Suspect
	if sandbox.python != nil {
		if suspects, err = scanBundle(ctx, *sandbox.python, b); err != nil {
			return err
		}
	}
	report, err := o.check(ctx, b, sandbox)
	if err != nil {
		return err
	}
	out := checkReport{Function: b.Manifest.Name, Digest: b.Digest, Report: report, Limits: b.Manifest.Limits, Suspects: suspects}
	if out.Kernels, out.Operations, err = o.checkKernels(ctx, b, sandbox, report); err != nil {
		return err
	}
	if err := o.print(out); err != nil {
		return err
	}
	if report.Differing+report.Failing > 0 {
		return errDiffers
	}
	return nil
}

func (o *functionCheckOptions) complete() error {
	if o.asJSON {
		o.format = "json"
	}
	given := 0
	for _, flag := range []bool{o.rangeText != "", o.input != "", o.lines != "", len(o.grid) > 0, len(o.files) > 0} {
		if flag {
			given++
		}
	}
	switch {
	case o.sample < 1 || o.sample > determinism.MaxSamples:
		return usageError("--sample %d: check 1 to %d shards", o.sample, determinism.MaxSamples)
	case given > 1:
		return usageError("--range, --grid, --lines, --file and --input exclude one another")
	case o.rangeText == "" && o.lines == "" && o.input == "" && o.shardSize != "":
		return usageError("--shard-size is for a --range, --lines and --input")
	case o.lines == "" && o.shardText != "":
		return usageError("--shard-bytes is for --lines")
	case o.shardSize != "" && o.shardText != "":
		return usageError("--shard-size and --shard-bytes both say how many lines make a shard: give one of them")
	case len(o.files) == 0 && o.perShard != 0:
		return usageError("--per-shard is for --file")
	}
	return errors.Join(o.chooseShards(), o.outputFlag.check())
}

// chooseShards says how large a shard is where the command line does not, as for a job.
func (o *functionCheckOptions) chooseShards() (err error) {
	switch {
	case o.rangeText != "" && o.shardSize == "":
		o.shardSize, err = chooseSize(o.rangeText)
	case o.lines != "" && o.shardSize == "" && o.shardText == "":
		o.shardText = strconv.Itoa(partition.ChosenLineBytes)
	}
	return err
}

// check runs the samples.
func (o *functionCheckOptions) check(ctx context.Context, b *bundle.Bundle, sandbox isolation.Sandbox) (report determinism.Report, err error) {
	if o.perItem = b.Manifest.IsPerItem(); o.perItem && (len(o.grid) > 0 || len(o.files) > 0) {
		return report, usageError(`the function takes items (per = "item"), and a shard of --grid or --file has none: give --range, --lines or --input`)
	}
	files, err := o.findFiles(ctx)
	if err != nil {
		return report, err
	}
	open := func(ctx context.Context, settings harness.Settings) (determinism.Session, error) {
		session, err := sandbox.Open(ctx, b, settings)
		if err != nil || files == nil {
			return session, err
		}
		return &filesSession{Session: session, files: files}, nil
	}
	samples, err := o.samples(ctx, open, files)
	if err != nil {
		return report, err
	}
	bar := newProgress(o.terminal, b.Manifest.Name)
	bar.unit = "run"
	defer bar.finish()
	return determinism.Check{
		Open: open, Samples: samples,
		Progress: func(done, total int) { bar.update(int64(done), int64(total)) },
	}.Run(ctx)
}

// scanBundle reads the function's own source. Vendored packages and tests are others' business.
func scanBundle(ctx context.Context, tree python.Tree, b *bundle.Bundle) ([]determinism.Suspect, error) {
	files, err := sourceOf(b)
	if err != nil {
		return nil, err
	}
	return determinism.Scan(ctx, tree.Interpreter, files)
}
