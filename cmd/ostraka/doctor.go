//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// doctorWait is how long `ostraka doctor` waits for one part of the surroundings: longer than anything takes that is of use to a server.
const doctorWait = 15 * time.Second

// The states of what a doctor looks at.
const (
	healthOK   = "ok"
	healthWarn = "warn" // a server works, and somebody should look at it
	healthFail = "fail" // a server does not work
)

// diagnosis is what a doctor says of one thing.
type diagnosis struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do, where the state is not healthOK
}

func fine(check, format string, args ...any) diagnosis {
	return diagnosis{Check: check, State: healthOK, Detail: fmt.Sprintf(format, args...)}
}

func warned(check, fix, format string, args ...any) diagnosis {
	return diagnosis{Check: check, State: healthWarn, Detail: fmt.Sprintf(format, args...), Fix: fix}
}

func failed(check, fix, format string, args ...any) diagnosis {
	return diagnosis{Check: check, State: healthFail, Detail: fmt.Sprintf(format, args...), Fix: fix}
}

// doctorOptions are the flags of `ostraka doctor`: its own and those of a server.
type doctorOptions struct {
	outputFlag
	server serverOptions
}

func newDoctor(t *terminal) *cobra.Command {
	o := &doctorOptions{server: serverOptions{terminal: t}}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say what keeps a server from working here; exit code 1 where something does", Args: arguments(0),
		Long: `Look at everything that a server with the same flags, environment and file of settings would need: the
database, what its role may do, how far away it is and how far it is migrated, its clock, free space on the
disks, the object store (an object is written, read and removed), the sandbox for rechecks, and the TLS
certificate. Each line says ok, warn or fail, and what to do. Nothing is left behind but what a server
makes when it starts: the bucket, the folders, and the unpacked interpreter for rechecks.`,
		Example: `  ostraka doctor --config /etc/ostraka/server.toml
  OSTRAKA_DATABASE_URL=postgres://… ostraka doctor --blob-dir /var/lib/ostraka/objects -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.Flags()) },
	}
	o.register(cmd.Flags())
	o.server.register(cmd.Flags())
	return cmd
}

func (o *doctorOptions) run(ctx context.Context, flags *pflag.FlagSet) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.server.load(flags); err != nil {
		return err
	}
	config := o.server.config
	config.Log = slog.New(slog.DiscardHandler) // what is found is said in one line
	found := examine(ctx, config, o.server.listen)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := o.print(found); err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(d diagnosis) bool { return d.State == healthFail }) {
		return &exitError{code: exitFailed, err: errors.New("a server does not work like this"), hint: "fix what has failed, and run the command again"}
	}
	return nil
}

// examine looks at everything, and continues where something fails.
func examine(ctx context.Context, config serverConfig, listen string) []diagnosis {
	return slices.Concat(
		examineDatabase(ctx, config.DatabaseURL),
		examineDisks(config),
		examineObjects(ctx, config.Objects),
		examineTLS(config.Doors, listen, time.Now()),
		examineRechecks(ctx, config),
	)
}

func (o *doctorOptions) print(found []diagnosis) error {
	t := o.server.terminal
	if o.json() {
		return writeValue(t.out, found)
	}
	table := newTable(t.out, "CHECK", "STATE", "DETAIL", "WHAT TO DO")
	for _, d := range found {
		table.row(d.Check, d.State, d.Detail, firstOf(d.Fix, "-"))
	}
	return table.flush()
}
