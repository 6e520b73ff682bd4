package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// defaultSilenceWait is how long a command waits for agents to confirm: those that hold a poll take a second or two, others a
// heartbeat.
const defaultSilenceWait = 20 * time.Second

func newKillswitch(t *terminal, server *serverFlags) *cobra.Command {
	return noun("killswitch", "Stop a function, a project or everything, everywhere, at once",
		newKillswitchOn(t, server), newKillswitchOff(t, server), newKillswitchStatus(t, server))
}

// switchFlags say what a switch holds.
type switchFlags struct {
	agentFlag
	server   *serverFlags
	function string
	yes      bool
}

func (o *switchFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.function, "function", "", "only this function of the project, or one version of it: NAME or NAME@VERSION")
	flags.StringVar(&o.text, "agent", "", "only on this agent")
	flags.BoolVar(&o.yes, "yes", false, "hold everything, of all projects; takes an operator's key")
}

// scope is what a switch holds.
type scope struct {
	kind     string
	agent    *uuid.UUID
	function string
	version  int64
}

// read reads the flags. Without --function and --project it is everything, which must be meant.
func (o *switchFlags) read(projectGiven bool) (s scope, c *connection, err error) {
	if s.agent, err = o.id(); err != nil {
		return s, nil, err
	}
	s.kind = "everything"
	switch {
	case o.function != "":
		s.kind = "function"
		name, number, versioned := strings.Cut(o.function, "@")
		s.function = name
		if versioned {
			if s.version, err = strconv.ParseInt(number, 10, 32); err != nil || s.version < 1 {
				return s, nil, usageError("--function %q: write NAME or NAME@VERSION", o.function)
			}
		}
	case projectGiven:
		s.kind = "project"
	case !o.yes && s.agent == nil:
		return s, nil, &exitError{
			code: exitUsage, err: fmt.Errorf("this is about everything, of all projects"),
			hint: "say --yes if you mean it; or name a --function, or a --project",
		}
	}
	if s.kind == "everything" {
		c, err = o.server.connect()
	} else {
		c, err = o.server.connectProject()
	}
	return s, c, err
}

func (s scope) on(ctx context.Context, c *connection, reason string, force bool) (*http.Response, error) {
	if s.kind == "everything" {
		return c.Kill(ctx, nil, client.NewKillSwitch{Scope: client.NewKillSwitchScopeEverything, Agent: s.agent, Reason: reason, Force: force})
	}
	return c.KillInProject(ctx, c.project, nil, client.NewProjectKillSwitch{
		Scope: client.NewProjectKillSwitchScope(s.kind), Agent: s.agent, Function: s.function, Version: s.version, Reason: reason, Force: force,
	})
}

func (s scope) off(ctx context.Context, c *connection) (*http.Response, error) {
	if s.kind == "everything" {
		return c.Release(ctx, nil, client.KillScope{Scope: client.KillScopeScopeEverything, Agent: s.agent})
	}
	return c.ReleaseInProject(ctx, c.project, nil, client.ProjectKillScope{
		Scope: client.ProjectKillScopeScope(s.kind), Agent: s.agent, Function: s.function, Version: s.version,
	})
}

func (s scope) status(ctx context.Context, c *connection, id uuid.UUID, wait time.Duration) (*http.Response, error) {
	text := new(wait.String())
	if s.kind == "everything" {
		return c.GetKillSwitch(ctx, id, &client.GetKillSwitchParams{Wait: text})
	}
	return c.GetProjectKillSwitch(ctx, c.project, id, &client.GetProjectKillSwitchParams{Wait: text})
}

// killOptions are the flags of commands that put a switch on.
type killOptions struct {
	outputFlag
	terminal *terminal
	reason   string
	force    bool
	wait     time.Duration
}

func (o *killOptions) register(flags *pflag.FlagSet) {
	o.outputFlag.register(flags)
	flags.StringVar(&o.reason, "reason", "", "why, for the people who meet it and for the audit log")
	flags.BoolVar(&o.force, "force", false, "take the leases back at once, without waiting for agents to send what is done")
	flags.DurationVar(&o.wait, "wait", defaultSilenceWait, "how long to wait until the agents have confirmed, at most 60s; 0: not at all")
}

func (o *killOptions) check() error {
	if o.wait < 0 || o.wait > time.Minute {
		return usageError("--wait is %v: wait for 0s to 60s", o.wait)
	}
	return o.outputFlag.check()
}

// kill puts a switch on and waits for silence.
func (o *killOptions) kill(ctx context.Context, c *connection, s scope) error {
	began := time.Now()
	doc, err := answer.Read[client.KillStatus](s.on(ctx, c, o.reason, o.force))
	if err != nil {
		return explain("putting the killswitch on", err)
	}
	if o.wait > 0 && !doc.Value.Silent {
		if doc, err = answer.Read[client.KillStatus](s.status(ctx, c, doc.Value.ID, o.wait)); err != nil {
			return explain("waiting for the agents; the killswitch is on", err)
		}
	}
	if err := printOne(o.terminal, &o.outputFlag, doc.Raw, switchFields(doc.Value)); err != nil {
		return err
	}
	if doc.Value.Silent {
		o.terminal.say("silent after %.1f s", time.Since(began).Seconds())
		return nil
	}
	if o.wait == 0 {
		return nil
	}
	return &exitError{
		code: exitTimeout, err: fmt.Errorf("the killswitch is on, and after %v %s not confirmed that nothing runs", o.wait, count(doc.Value.Unconfirmed, "agent")+" has"),
		hint: "nothing new is leased. ostraka killswitch status shows who is missing; --force takes their leases back, and an agent that is gone returns nothing",
	}
}

func newKillswitchOn(t *terminal, server *serverFlags) *cobra.Command {
	o, what := &killOptions{terminal: t}, &switchFlags{server: server}
	cmd := &cobra.Command{
		Use: "on", Short: "Stop something everywhere, and keep it from starting", Args: arguments(0),
		Long: `Stop a function (--function), a project (--project ID), or everything (--yes), everywhere or on one agent.

From then on nothing of it is lent. Agents end what of it they run, in the middle of a shard, send what is
done, return their leases and confirm: those that hold a poll open within two seconds, others with their
next heartbeat. The command waits for that. Agents that are away learn of it before they are lent anything.
Jobs stay as they are and go on when the switch is put off; ostraka job explain says that it holds them.`,
		Example: `  ostraka killswitch on --function primes --reason "it eats memory"
  ostraka killswitch on --project 0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77
  OSTRAKA_KEY=… ostraka killswitch on --yes --reason "CVE-2026-…"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			s, c, err := what.read(cmd.Flags().Changed("project"))
			if err != nil {
				return err
			}
			return o.kill(cmd.Context(), c, s)
		},
	}
	o.register(cmd.Flags())
	what.register(cmd.Flags())
	return cmd
}

func newKillswitchOff(t *terminal, server *serverFlags) *cobra.Command {
	what := &switchFlags{server: server}
	cmd := &cobra.Command{
		Use: "off", Short: "Let something that was stopped continue", Args: arguments(0),
		Long: "Put a switch off. It is named as it was put on; putting one off that is off does no harm.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, c, err := what.read(cmd.Flags().Changed("project"))
			if err != nil {
				return err
			}
			return release(cmd.Context(), t, c, s)
		},
	}
	what.register(cmd.Flags())
	return cmd
}

func release(ctx context.Context, t *terminal, c *connection, s scope) error {
	doc, err := answer.Read[client.Released](s.off(ctx, c))
	if err != nil {
		return explain("putting the killswitch off", err)
	}
	if doc.Value.WasOn {
		t.say("the killswitch is off: what it held is lent again")
	} else {
		t.say("this killswitch was not on; ostraka killswitch status lists those that are")
	}
	return nil
}

func newKillswitchStatus(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	side := sideFlag{server: server}
	cmd := &cobra.Command{
		Use: "status", Short: "List the switches that are on, and how far each has got", Args: arguments(0),
		Long: `List the switches that are on and hold something of the project; with --all, and an operator's key, all of
them. SILENT means that no lease of what it holds is open and every agent that was heard of in the last
minute has confirmed. -o json also names the agents that have not.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := side.connect()
			if err != nil {
				return err
			}
			return show(t, &listFlags{outputFlag: output}, "reading the killswitch", []string{"WHAT", "SILENT", "CONFIRMED", "MISSING", "AWAY", "LEASES", "SANDBOXES", "SINCE", "REASON"},
				func(k client.KillStatus) []string {
					return []string{
						switchName(k), yes(k.Silent), fmt.Sprintf("%d of %d", k.Confirmed, k.Agents), strconv.FormatInt(k.Unconfirmed, 10), strconv.FormatInt(k.Offline, 10),
						strconv.FormatInt(k.Leases, 10), strconv.FormatInt(k.Sandboxes, 10), shortTime(k.OnAt), k.Reason,
					}
				},
				func(*string, *int64) (*http.Response, error) {
					if side.all {
						return c.ListKillSwitches(cmd.Context())
					}
					return c.ListProjectKillSwitches(cmd.Context(), c.project)
				})
		},
	}
	output.register(cmd.Flags())
	side.register(cmd.Flags())
	return cmd
}

// switchName says what a switch holds.
func switchName(k client.KillStatus) string {
	name := "everything"
	switch {
	case k.Function != "" && k.Version != 0:
		name = fmt.Sprintf("function %s@%d", k.Function, k.Version)
	case k.Function != "":
		name = "function " + k.Function
	case k.Project != nil:
		name = "project " + k.Project.String()
	}
	if k.Agent != nil {
		name += " on agent " + k.Agent.String()
	}
	return name
}

func switchFields(k client.KillStatus) [][2]string {
	fields := [][2]string{
		{"killswitch", k.ID.String()},
		{"holds", switchName(k)},
		{"since", shortTime(k.OnAt)},
		{"by", k.OnBy},
		{"reason", k.Reason},
		{"silent", yes(k.Silent)},
		{"agents", fmt.Sprintf("%d of %d confirmed, %d missing, %d away", k.Confirmed, k.Agents, k.Unconfirmed, k.Offline)},
		{"leases", strconv.FormatInt(k.Leases, 10)},
	}
	for _, r := range k.Running {
		fields = append(fields, [2]string{"server", fmt.Sprintf("executes %d shards of %s version %d itself (job %s), since %s", r.Shards, r.Function, r.Version, r.Job, shortTime(r.StartedAt))})
	}
	for _, a := range k.Waiting {
		state := "missing"
		if !a.Seen {
			state = "away"
		}
		fields = append(fields, [2]string{state, fmt.Sprintf("%s (%s), heard of %s", a.Name, a.ID, sinceNow(a.LastSeenAt))})
	}
	return fields
}
