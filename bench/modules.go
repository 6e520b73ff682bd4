package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"
)

const (
	// foldRecords is how many results the C example folds, each of about 120 bytes.
	foldRecords = 250_000
	// foldTries is how often each way is timed at least, in turns; the best counts, so that what else runs here does not.
	foldTries = 12
	// foldSettled is after how many further tries without a better time the best stands: on a machine with other work it takes many
	// until every way had the processors for itself.
	foldSettled = 12
	// foldMost ends the tries on a machine that never comes to rest.
	foldMost = 90
	// foldBetter is by how much a time must be better to count as that.
	foldBetter = 0.97
	// instancesFor is how long fresh instances are made of each language's example.
	instancesFor = 2 * time.Second
	examples     = "examples/modules"
)

// foldParams choose the field of the records that the C example adds up.
const foldParams = `{"field":"ms"}`

// foldHeader is what the native program reads first; the host makes its own.
const foldHeader = `{"ostraka":1,"kind":"aggregator","phase":"leaf","params":` + foldParams + `}` + "\n"

// modules measures the host of WASM modules: against the same C source built natively, with and without the meter, and how fast fresh
// instances come.
//
// wasm_fold_ratio is the time that the native program takes for some records, divided by the time that the host takes for the same
// with the module as it is committed. What each time holds:
//   - native: `cc -O2`, started afresh, reading the records from a file in the page cache as its stdin, at a runner's priority;
//   - host: Pool.Run of all of a server's work but compiling, which is once for each module: cutting and checking the records, sending
//     them through the pipe, a fresh instance, the meter, the output. The runner is warm from the second try on.
//
// The module is built with `clang -O2 -msimd128` (examples/modules/build.sh): sixteen bytes to a register, as every x86-64 and arm64
// has them, so that both have the same kind of instructions. The native program reads without a pipe, which is in its favour.
func (b *bench) modules(ctx context.Context) ([]figure, error) {
	native := filepath.Join(b.dir, "stats")
	if out, err := exec.CommandContext(ctx, "cc", "-O2", "-o", native, filepath.Join(examples, "stats", "stats.c")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the C example natively (is there a C compiler? apt-get install gcc libc6-dev): %w: %s", err, out)
	}
	module, err := os.ReadFile(filepath.Join(examples, "stats", "stats.wasm"))
	if err != nil {
		return nil, err
	}
	input := filepath.Join(b.dir, "records.jsonl")
	records, err := foldInput(input)
	if err != nil {
		return nil, fmt.Errorf("making records: %w", err)
	}
	pools := map[string]*wasm.Pool{}
	for _, name := range []string{"metered", "plain"} {
		p, err := wasm.NewPool(wasm.Options{CacheDir: filepath.Join(b.dir, name), Plain: name == "plain"})
		if err != nil {
			return nil, err
		}
		defer p.Close()
		pools[name] = p
	}
	best, err := bestFolds(ctx, native, input, pools, module, records)
	if err != nil {
		return nil, err
	}
	say("folding %d records in C: native %v, in a runner %v, without the meter %v", foldRecords, best["native"], best["metered"], best["plain"])
	figures := []figure{
		{"wasm_fold_ratio", best["native"].Seconds() / best["metered"].Seconds()},
		// By processor time: the clock also sees our own making of the records.
		{"meter_ratio", best["metered cpu"].Seconds() / best["plain cpu"].Seconds()},
	}
	instances, err := b.instances(ctx, pools["metered"])
	return append(figures, instances...), err
}

// bestFolds times every way in turns, until none has become better for a while.
func bestFolds(ctx context.Context, native, input string, pools map[string]*wasm.Pool, module, records []byte) (map[string]time.Duration, error) {
	best, settled := map[string]time.Duration{}, 0
	keep := func(name string, took time.Duration) {
		if best[name] == 0 || float64(took) < float64(best[name])*foldBetter {
			settled = 0
		}
		if best[name] == 0 || took < best[name] {
			best[name] = took
		}
	}
	for try := 0; try < foldTries || settled < foldSettled && try < foldMost; try++ {
		settled++
		began := time.Now()
		if err := foldNatively(ctx, native, input); err != nil {
			return nil, fmt.Errorf("folding natively: %w", err)
		}
		keep("native", time.Since(began))
		for name, pool := range pools {
			began := time.Now()
			stats, err := foldInRunner(ctx, pool, module, records)
			if err != nil {
				return nil, fmt.Errorf("folding in a runner, %s: %w", name, err)
			}
			keep(name, time.Since(began))
			keep(name+" cpu", stats.CPU)
		}
	}
	return best, nil
}

// foldInput makes the records: a file for the native program, and the same bytes for the host.
func foldInput(path string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(foldHeader)
	for i := range foldRecords {
		fmt.Fprintf(&b, `{"t":"item","id":"%d","result":{"function":"prove","host":"agent-%05d.example","ms":%d,"passed":true,"sample":[1,2,3]}}`+"\n", i, i%10_000, i%977)
	}
	return b.Bytes()[len(foldHeader):], os.WriteFile(path, b.Bytes(), 0o600)
}

// foldLines cuts the records.
func foldLines(records []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line := range bytes.Lines(records) {
			if !yield(line[:len(line)-1], nil) {
				return
			}
		}
	}
}

func foldNatively(ctx context.Context, program, input string) (err error) {
	f, err := os.Open(input)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	cmd := exec.CommandContext(ctx, program)
	cmd.Stdin = f
	if err := cmd.Start(); err != nil {
		return err
	}
	// On a machine with other work both must give way to it alike.
	err = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, runner.Niceness)
	return errors.Join(err, cmd.Wait())
}

func foldInRunner(ctx context.Context, pool *wasm.Pool, module, records []byte) (wasm.Stats, error) {
	header := wasm.Header{Kind: wasm.KindAggregator, Phase: wasm.PhaseLeaf, Project: "bench", Job: "bench", Params: []byte(foldParams)}
	stats, err := pool.Run(ctx, "bench", wasm.FromBytes(module), header, foldLines(records), func([]byte) error { return nil })
	if err == nil && stats.InLines != foldRecords {
		err = fmt.Errorf("%d records went in", stats.InLines)
	}
	return stats, err
}

// instances tells how many fresh instances a second run a batch without records, in each language, one after the other.
func (b *bench) instances(ctx context.Context, pool *wasm.Pool) ([]figure, error) {
	golang := filepath.Join(b.dir, "histogram.wasm")
	build := exec.CommandContext(ctx, "go", "build", "-o", golang, "./"+examples+"/histogram")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the Go example: %w: %s", err, out)
	}
	var figures []figure
	for _, example := range []struct {
		language, path string
		kind           wasm.Kind
		phase          wasm.Phase
	}{
		{"c", filepath.Join(examples, "stats", "stats.wasm"), wasm.KindAggregator, wasm.PhaseLeaf},
		{"rust", filepath.Join(examples, "agree", "agree.wasm"), wasm.KindValidator, wasm.PhaseRun},
		{"assemblyscript", filepath.Join(examples, "outlier", "outlier.wasm"), wasm.KindHeuristic, wasm.PhaseRun},
		{"go", golang, wasm.KindAggregator, wasm.PhaseLeaf},
	} {
		bytes, err := os.ReadFile(example.path)
		if err != nil {
			return nil, err
		}
		module, header := wasm.FromBytes(bytes), wasm.Header{Kind: example.kind, Phase: example.phase, Project: "bench", Job: "bench"}
		n, began := 0, time.Time{}
		for began.IsZero() || time.Since(began) < instancesFor {
			if _, err := pool.Run(ctx, "bench", module, header, nil, func([]byte) error { return nil }); err != nil {
				return nil, fmt.Errorf("running the example in %s: %w", example.language, err)
			}
			if began.IsZero() { // compiled, and its runner is warm
				began = time.Now()
				continue
			}
			n++
		}
		figures = append(figures, figure{"wasm_instances_per_s_" + example.language, float64(n) / time.Since(began).Seconds()})
	}
	return figures, nil
}
