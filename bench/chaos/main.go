// The chaos program runs jobs on a whole installation (two servers, agents that execute, a Postgres) and kills its parts at random moments.
// Each job must end by itself with the exact answer, and its books must be in order. The same seed makes the same choices.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/wasm/runner"
)

func main() {
	linux.MaybeLaunch()
	runner.MaybeRun()
	var o options
	flag.StringVar(&o.binary, "binary", "bin/ostraka", "the program to break")
	flag.IntVar(&o.faults, "kills", 200, "how often something is killed, stopped, filled or cut off")
	flag.Int64Var(&o.shards, "shards", 3000, "shards of a job, of 20 kills each")
	flag.Uint64Var(&o.seed, "seed", 1, "what is broken, and when")
	flag.BoolVar(&o.containers, "containers", false, "have the servers execute shards in containers of a Docker daemon, and kill these too")
	flag.StringVar(&o.module, "module", ".", "where the program's sources are, to build it with a clock that can be stepped; empty: no clock is")
	flag.StringVar(&o.only, "only", "", "break only what has this in its name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o.say = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	t, err := o.run(ctx)
	t.print(os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}
