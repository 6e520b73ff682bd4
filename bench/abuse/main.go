// The abuse program attacks a real server as one hostile participant could: a tenant, an agent, a submitter or a stranger. It prints a
// `name value` pair a line, and fails where one participant has harmed another. It speaks to addresses of this machine only, and each
// attack is bounded in count and time.
package main

import (
	"context"
	"errors"
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
	if noisy, err := maybeMakeNoise(); noisy {
		exitOn(err)
		return
	}
	exitOn(run())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "abuse:", err)
		os.Exit(1)
	}
}

func run() error {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/ostraka", "the program to attack")
	flag.StringVar(&o.only, "only", "", "make only the attacks that have this in their names")
	flag.BoolVar(&o.short, "short", false, "make the attacks small")
	flag.BoolVar(&o.strict, "strict", false, "fail for attacks too that are known to do harm")
	flag.Uint64Var(&o.seed, "seed", 1, "what malformed requests are made from")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	verdicts, err := o.attack(ctx)
	return errors.Join(err, judge(verdicts, o.strict))
}
