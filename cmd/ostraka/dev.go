//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/liar"
	"github.com/ostraka/ostraka/functions/archive"
)

const defaultListen = "127.0.0.1:8470"

// devOptions are the flags of `ostraka dev`.
type devOptions struct {
	terminal *terminal
	config   devConfig
	log      logFlags
}

func newDev(t *terminal) *cobra.Command {
	o := &devOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything on this machine: database, server and agents",
		Long: `Run everything on this machine until Ctrl-C: an embedded Postgres, the server and some agents.
It is the same program as in production, with throw-away keys.

A line "ready URL" on stdout says that work can be submitted. DIR/dev.json holds the
URL and the keys for programs, DIR/dev.env the same for a shell.`,
		Example: `  ostraka dev --data ./dev-data
  ostraka dev --agents 4 --liars 1      # one agent lies; watch it being caught
  ostraka dev --agents 6 --liars 2 --liar-kind patient --liar-after 100`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.config.Recheck.Optional = !cmd.Flags().Changed("recheck-sandbox")
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.config.Dir, "data", "", "folder to keep everything in; left out: a temporary one, removed at the end")
	f.StringVar(&o.config.Listen, "listen", defaultListen, "loopback address to serve on; port 0 takes one that is free, the next time with the same --data that one again")
	f.IntVar(&o.config.Agents, "agents", 2, "how many agents to run")
	f.IntVar(&o.config.Liars, "liars", 0, "how many of them lie, to see them caught")
	f.StringSliceVar(&o.config.LiarKinds, "liar-kind", []string{string(liar.Random)}, liarKindUsage+"; several, with commas, take turns")
	f.Int64Var(&o.config.LieAfter, "liar-after", 0, liarAfterUsage)
	f.Float64Var(&o.config.LieProbability, "liar-probability", defaultLieProbability, "how often a liar lies")
	f.DurationVar(&o.config.PackAfter, "pack-after", archive.DefaultPackAfter, packAfterUsage)
	f.StringVar(&o.config.DatabaseURL, "database-url", "", "Postgres to use instead of the embedded one (or OSTRAKA_DEV_DATABASE_URL; not the variable of ostraka server, so that trying things out never reaches its database)")
	o.config.Objects.registerS3(f)
	f.StringVar(&o.config.Python, "python", "", pythonUsage)
	o.config.Recheck.register(f, recheckLinux)
	o.config.Webhooks.register(f)
	o.log.register(f, "warn")
	return cmd
}

func (o *devOptions) run(ctx context.Context) (err error) {
	if err := o.complete(); err != nil {
		return err
	}
	o.config.Terminal = o.terminal
	d, err := startDev(ctx, o.config)
	if err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	d.awaitAgents(ctx)
	fmt.Fprintf(o.terminal.out, "ready %s\n", d.info.URL)
	var linkErr error
	if d.portal, linkErr = d.signInLink(ctx); linkErr != nil {
		o.terminal.say("making the link to the portal failed: %v", linkErr) // all else runs; ostraka open makes another
	}
	o.terminal.say("%s", d.banner(o.terminal.program))
	select {
	case <-ctx.Done():
		o.terminal.say("stopping (again to stop at once)")
	case err = <-d.server.failed:
	}
	if stopErr := d.stop(); err == nil && stopErr != nil {
		return fmt.Errorf("stopping: %w", stopErr)
	}
	return err
}

func (o *devOptions) complete() (err error) {
	c := &o.config
	if c.DatabaseURL == "" {
		c.DatabaseURL = o.terminal.env("OSTRAKA_DEV_DATABASE_URL")
	}
	if c.FollowupsOff, err = followupsOff(o.terminal); err != nil {
		return err
	}
	if err := c.Webhooks.complete(); err != nil {
		return err
	}
	switch {
	case c.Agents < 0 || c.Agents > maxDevAgents:
		return usageError("--agents is %d: run 0 to %d", c.Agents, maxDevAgents)
	case c.Liars < 0 || c.Liars > c.Agents:
		return usageError("--liars is %d: it is 0 to the number of agents, %d", c.Liars, c.Agents)
	case c.LieProbability < 0 || c.LieProbability > 1:
		return usageError("--liar-probability is %v: it is 0 to 1", c.LieProbability)
	}
	if err := checkPackAfter(c.PackAfter); err != nil {
		return err
	}
	for _, kind := range c.LiarKinds {
		if _, err := liar.New(liar.Options{Kind: liar.Kind(kind), After: c.LieAfter}); err != nil {
			return usageError("--liar-kind: %w", err)
		}
	}
	if err := loopback(c.Listen); err != nil {
		return err
	}
	if err := c.Objects.complete(o.terminal); err != nil {
		return err
	}
	if err := c.Recheck.complete(o.terminal); err != nil {
		return err
	}
	c.Recheck.Python.Python = c.Python
	c.Log, err = o.log.open(o.terminal)
	return err
}

// maxDevAgents is how many agents run on one machine for trying things out: each is a process, and an interpreter beside it.
const maxDevAgents = 64

// loopback refuses addresses that others can reach: the keys of `ostraka dev` are for trying things out, and its agents run
// functions at the weakest level of isolation.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return usageError("--listen %q is not an address: write HOST:PORT, for example %s", address, defaultListen)
	}
	if loopbackHost(host) {
		return nil
	}
	return &exitError{
		code: exitUsage, err: fmt.Errorf("--listen %s can be reached from outside, and ostraka dev is for this machine only", address),
		hint: "listen on 127.0.0.1, or run ostraka server",
	}
}

// followupsOff says whether follow-up jobs are switched off for the whole installation. It is what one reaches for when they run wild,
// so that a value which nobody can be sure about is refused.
func followupsOff(t *terminal) (bool, error) {
	value := t.env("DEMO_FOLLOWUP_ENABLED")
	if value == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return false, usageError("DEMO_FOLLOWUP_ENABLED is %q: 0 switches follow-ups off, 1 leaves them on", value)
	}
	return !on, nil
}
