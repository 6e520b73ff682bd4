package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/cmd/ostraka/internal/top"
)

const (
	// minTopInterval keeps one screen from asking a server more often than anybody reads.
	minTopInterval = 500 * time.Millisecond
	// maxTopInterval is where watching ends and a list would do.
	maxTopInterval = time.Hour
)

// topOptions are the flags of `ostraka top`.
type topOptions struct {
	sideFlag
	output   outputFlag
	terminal *terminal
	interval time.Duration
	once     bool
}

func newTop(t *terminal, server *serverFlags) *cobra.Command {
	o := &topOptions{sideFlag: sideFlag{server: server}, terminal: t}
	cmd := &cobra.Command{
		Use: "top", Short: "Watch jobs and agents live", Args: arguments(0),
		Long: `Watch the open jobs of a project, its agents and what they run, live on a terminal: how far each job is, how fast it was in
the last half minute and how long the rest would take at that rate. With --all and an operator's key: all projects and agents of
the installation, and what needs somebody.

q leaves, space pauses, r reads at once, the arrows scroll. Where the output is no terminal it is printed once.`,
		Example: `  ostraka top
  ostraka top --once
  OSTRAKA_KEY=ostraka_operator_… ostraka top --all --interval 5s`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o.register(f)
	o.output.register(f)
	f.DurationVar(&o.interval, "interval", 2*time.Second, "how long to wait between two readings")
	f.BoolVar(&o.once, "once", false, "print it once, as text")
	return cmd
}

func (o *topOptions) run(ctx context.Context) error {
	if o.interval < minTopInterval || o.interval > maxTopInterval {
		return usageError("--interval %v: choose %v to %v", o.interval, minTopInterval, maxTopInterval)
	}
	if err := o.output.check(); err != nil {
		return err
	}
	c, err := o.connect()
	if err != nil {
		return err
	}
	read := func(ctx context.Context) (top.Sample, error) { return readTop(ctx, c) }
	if o.all {
		read = func(ctx context.Context) (top.Sample, error) { return readTopOfAll(ctx, c) }
	}
	if o.once || o.output.json() || o.terminal.screen == nil {
		return o.print(ctx, read)
	}
	if err = top.Run(ctx, o.terminal.in, o.terminal.screen, o.interval, read); errors.Is(err, context.Canceled) {
		return &exitError{code: exitInterrupted, err: errors.New("stopped by Ctrl-C; q leaves too")}
	}
	return err
}

// print prints one sample.
func (o *topOptions) print(ctx context.Context, read top.Read) error {
	s, err := read(ctx)
	if err != nil {
		return err
	}
	new(top.Rates).Fill(&s)
	if o.output.json() {
		return writeValue(o.terminal.out, s)
	}
	heading, body := top.Lines(s)
	o.terminal.put("%s\n", strings.Join(append(append(heading, ""), body...), "\n"))
	return nil
}

// topTitle names what is looked at.
func topTitle(c *connection, what string) string { return fmt.Sprintf("%s at %s", plain(what), c.url) }
