package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// reexecution says which shards of a receipt are executed again.
type reexecution struct {
	amount string // a number, a percentage, or all
	folder string
	input  string
	python string
}

func (x *reexecution) register(f *pflag.FlagSet) {
	f.StringVar(&x.amount, "reexecute", "", "execute so many shards again, drawn by chance: a number, a percentage such as 1%, or all")
	f.StringVar(&x.folder, "function", "", "the function's folder or file, for --reexecute; it must be the version that the receipt names")
	f.StringVar(&x.input, "input", "", "the file that the shards were cut from, for --reexecute where they are no ranges and no grid")
	f.StringVar(&x.python, "python", "", pythonUsage)
}

func (x *reexecution) wanted() bool { return x.amount != "" }

func (x *reexecution) check() error {
	if (x.amount == "") != (x.folder == "") {
		return usageError("--reexecute and --function go together: which shards, and of what")
	}
	if x.input != "" && x.amount == "" {
		return usageError("--input is for --reexecute")
	}
	_, err := x.of(1)
	return err
}

// of is how many of so many shards are executed again.
func (x *reexecution) of(accepted int64) (int64, error) {
	percent, isPercent := strings.CutSuffix(x.amount, "%")
	switch {
	case x.amount == "":
		return 0, nil
	case x.amount == "all":
		return accepted, nil
	case isPercent:
		if p, err := strconv.ParseFloat(percent, 64); err == nil && p > 0 && p <= 100 {
			return min(accepted, int64(math.Ceil(float64(accepted)*p/100))), nil
		}
	default:
		if n, err := strconv.ParseInt(x.amount, 10, 64); err == nil && n > 0 {
			return min(accepted, n), nil
		}
	}
	return 0, usageError("--reexecute %q: give a number, a percentage such as 1%%, or all", x.amount)
}

// drawnShards are the shards that are executed again: so many of the lines that are still to come, each as likely as any other (selection
// sampling: Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S).
type drawnShards struct {
	wanted, left int64
	shards       []audit.ShardLine
}

// draw draws by chance which lines of a receipt are executed again: its maker cannot know.
func (x *reexecution) draw(said audit.Statement) (*drawnShards, error) {
	n, err := x.of(said.Shards.Accepted)
	return &drawnShards{wanted: n, left: said.Shards.Accepted}, err
}

// see takes the next line, if it is drawn.
func (d *drawnShards) see(shard audit.ShardLine) {
	if d.left > 0 && rand.Int64N(d.left) < d.wanted { //nolint:gosec // ChaCha8, seeded by the system: nobody else can know
		d.shards = append(d.shards, shard)
		d.wanted--
	}
	d.left--
}

// execute executes the drawn shards again and compares their outputs with those of the receipt. The sandbox is one of their own with
// walls around it, since the function may be a stranger's.
func (x *reexecution) execute(ctx context.Context, t *terminal, said audit.Statement, drawn *drawnShards) (done int64, err error) {
	if len(drawn.shards) == 0 {
		return 0, nil
	}
	b, err := x.pack(said)
	if err != nil {
		return 0, err
	}
	inputs, err := x.inputs(said, drawn.shards)
	if err != nil {
		return 0, err
	}
	sandbox, err := openSandbox(ctx, t, nil, isolation.Walls{}, x.python, b)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sandbox.close()) }()
	session, err := sandbox.Open(ctx, b, harness.Settings{Job: said.Job}) // the job is part of the seed
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	bar := newProgress(t, "executing again")
	defer bar.finish()
	for i, shard := range drawn.shards {
		result, err := session.Run(ctx, shard.Shard, inputs[i])
		if ctx.Err() != nil {
			return done, &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted: %d of %d shards gave the same output until then", done, len(drawn.shards))}
		}
		if err != nil {
			return done, fmt.Errorf("executing shard %d again: %w", shard.Shard, err)
		}
		if err := sameOutput(shard, inputs[i], result); err != nil {
			return done, err
		}
		done++
		bar.update(done, int64(len(drawn.shards)))
	}
	return done, nil
}

// pack packs the function that is executed again, which must be the one of the receipt.
func (x *reexecution) pack(said audit.Statement) (*bundle.Bundle, error) {
	if said.Validator != nil {
		return nil, usageError("a validator decides in this job which outputs are one answer, so that outputs may differ and be right: they are not compared by executing them again")
	}
	b, err := packFunction(x.folder)
	if err != nil {
		return nil, err
	}
	if f := said.Function; b.Digest != f.Digest {
		return nil, usageError("%s is not the version that the receipt is about: its bundle's SHA-256 is %s, and the receipt has %s of %s@%d", x.folder, b.Digest, f.Digest, f.Name, f.Version)
	}
	return b, nil
}

// sameOutput refuses a receipt if a shard ends differently here.
func sameOutput(shard audit.ShardLine, input []byte, here harness.Result) error {
	if here.Status != harness.StatusOK {
		return refused(fmt.Errorf("shard %d ends here with %q, and the receipt has an output of it%s", shard.Shard, here.Status, exceptionOf(here)))
	}
	if here.OutputDigest != shard.Output {
		return refused(fmt.Errorf("shard %d gives another output here: its SHA-256 is %s, and the receipt has %s (its input: %s)", shard.Shard, here.OutputDigest, shard.Output, shorten(string(input))))
	}
	return nil
}

func exceptionOf(r harness.Result) string {
	if r.Exception == nil {
		return ""
	}
	return ": " + plain(r.Exception.Type+": "+r.Exception.Message)
}

// shorten cuts a long text.
func shorten(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// inputs are the inputs of shards, which are in the order of their numbers.
func (x *reexecution) inputs(said audit.Statement, shards []audit.ShardLine) (inputs [][]byte, err error) {
	var spec partition.Spec
	if err := json.Unmarshal(said.Partition, &spec); err != nil {
		return nil, usageError("the receipt has only the digest of the partition, which is too long for it: its shards cannot be executed again here")
	}
	if n, known := spec.Count(); known && n != said.Shards.Total {
		return nil, refused(fmt.Errorf("its partition makes %d shards, and it is about %d", n, said.Shards.Total))
	}
	if spec.Files() {
		return nil, usageError("the shards are files of the project, which the receipt does not have: they cannot be executed again here")
	}
	if spec.Computed() {
		for _, s := range shards {
			input, _ := spec.Input(s.Shard)
			inputs = append(inputs, input)
		}
		return inputs, nil
	}
	return x.inputsOfFile(spec, shards)
}

// inputsOfFile cuts the shards again out of the file that they came from.
func (x *reexecution) inputsOfFile(spec partition.Spec, shards []audit.ShardLine) (inputs [][]byte, err error) {
	if x.input == "" {
		return nil, usageError("the shards were cut from a file: give it with --input")
	}
	file, err := os.Open(x.input)
	if err != nil {
		return nil, usageError("reading the input: %v", err)
	}
	defer file.Close()
	whole := sha256.New()
	reader := spec.Read(io.TeeReader(file, whole))
	for next := 0; ; {
		input, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, usageError("reading the input: %v", err)
		}
		if next < len(shards) && reader.Count()-1 == shards[next].Shard {
			inputs = append(inputs, append([]byte(nil), input...))
			next++
		}
	}
	if digest := hex.EncodeToString(whole.Sum(nil)); spec.Source() != "" && digest != spec.Source() {
		return nil, usageError("%s is not the file that the shards were cut from: its SHA-256 is %s, and the receipt has %s", x.input, digest, spec.Source())
	}
	if len(inputs) < len(shards) {
		return nil, usageError("%s has fewer shards than the receipt", x.input)
	}
	return inputs, nil
}
