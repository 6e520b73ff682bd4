// The bench program measures Ostraka against simpler ways of doing the same, in one run on one machine, and prints one `name value`
// pair a line at the end. Ratios hold on a noisy machine, absolute times do not: compare ratios.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/devdb"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/wasm/runner"
)

// figure is one line of the result.
type figure struct {
	name  string
	value float64
}

// bench is what the measurements share.
type bench struct {
	dir         string // private and temporary
	binary      string // bin/ostraka
	databaseURL string
	shards      int64 // of the life-cycle comparison
	many        int64 // of the large job
	keptShards  int64 // of the jobs of which something is kept
	long        bool  // all sizes of jobs, up to ten million shards
	only        string
	runs        int
	base        string // file of figures that these are compared with
}

func main() {
	linux.MaybeLaunch() // this program is also what sandboxes are started from
	runner.MaybeRun()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	var b bench
	flag.StringVar(&b.binary, "binary", "bin/ostraka", "the program to measure")
	flag.Int64Var(&b.shards, "shards", 100_000, "shards of the life-cycle comparison")
	flag.Int64Var(&b.many, "many", 200_000, "shards of the large job; 0 leaves it out")
	flag.Int64Var(&b.keptShards, "kept", 30_000, "shards of the jobs that are archived and deleted")
	flag.BoolVar(&b.long, "long", false, "large jobs of 10,000 to 10,000,000 shards, which takes an hour")
	flag.IntVar(&b.runs, "runs", 1, "how often to measure everything; 4 and more can be compared with -base")
	flag.StringVar(&b.base, "base", "", "file of what an earlier run has printed, which this one is compared with")
	flag.StringVar(&b.only, "only", "", "measure only what has this in its name, for example \"shard\"")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "ostraka-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	db, err := devdb.Start(ctx, devdb.Options{Dir: filepath.Join(b.dir, "postgres"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopDatabase(db)) }()
	b.databaseURL = db.URL()
	return b.report(ctx)
}

// report measures, and prints the figures: as a table and beside those of before for people, and as lines for programs.
func (b *bench) report(ctx context.Context) error {
	var base samples
	if b.base != "" { // found to be no such file before anything is measured
		var err error
		if base, err = readSamples(b.base); err != nil {
			return err
		}
	}
	if b.long {
		b.many = longest
	}
	now := samples{}
	for range b.runs {
		figures, err := b.measure(ctx)
		if err != nil {
			return err
		}
		if err := writeTable(os.Stderr, figures); err != nil {
			return err
		}
		for _, f := range figures {
			fmt.Printf("%s %.4g\n", f.name, f.value)
			now[f.name] = append(now[f.name], f.value)
		}
	}
	if b.base == "" {
		return nil
	}
	return compare(os.Stderr, base, now)
}

// longest is the largest job with -long.
const longest = 10_000_000

// stopDatabase does not take its time from a context that was interrupted.
func stopDatabase(db *devdb.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return db.Stop(ctx)
}

// measure runs everything, one after the other.
func (b *bench) measure(ctx context.Context) ([]figure, error) {
	var all []figure
	for _, m := range []struct {
		name string
		run  func(context.Context) ([]figure, error)
	}{
		{"start of a shard", b.forks},
		{"calls", b.calls},
		{"python agents", b.python},
		{"life cycle", b.lifecycle},
		{"large job", b.large},
		{"kept and deleted", b.kept},
		{"viewers", b.watched},
		{"guardian", b.guardian},
		{"audit", b.audit},
		{"receipt", b.receipt},
		{"modules", b.modules},
		{"functions in wasm", b.wasmFunctions},
		{"rechecks", b.rechecks},
		{"killswitch", b.killswitch},
		{"monitor", b.monitor},
		{"idle polls", b.idle},
		{"starts", b.starts},
		{"rest", b.rest},
	} {
		if !strings.Contains(m.name, b.only) {
			continue
		}
		say("measuring: %s", m.name)
		figures, err := m.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("measuring the %s: %w", m.name, err)
		}
		all = append(all, figures...)
	}
	return all, nil
}

// say tells a person how far it is. Standard output is for figures.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
