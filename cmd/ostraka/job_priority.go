package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// Priorities of jobs, as the server has them.
const (
	lowestPriority  = 1
	usualPriority   = 5
	highestPriority = 9
)

// priorityFlag is a job's priority.
type priorityFlag struct {
	priority int64
	set      *pflag.FlagSet
}

func (o *priorityFlag) register(f *pflag.FlagSet) {
	o.set = f
	f.Int64Var(&o.priority, "priority", usualPriority, "1 to 9: each step doubles the job's share of its project's turns; more than 5 takes an owner's key")
}

// request is the priority that was asked for; 0: none was.
func (o *priorityFlag) request() (int64, error) {
	if !o.set.Changed("priority") {
		return 0, nil
	}
	return o.priority, checkPriority("--priority", o.priority)
}

func checkPriority(what string, priority int64) error {
	if priority < lowestPriority || priority > highestPriority {
		return usageError("%s is %d: choose %d to %d", what, priority, lowestPriority, highestPriority)
	}
	return nil
}

func newJobSetPriority(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	var priority int64
	cmd := &cobra.Command{
		Use: "set-priority JOB --to PRIORITY", Short: "Change a job's share of its project's turns",
		Long: `Change how large a job's share of its project's turns is, from the next lease on. Jobs of one project take
turns: each step of priority, from 1 to 9, doubles a job's share, and none waits without end. More than 5,
which is usual, takes an owner's key. "ostraka job explain" shows the share.`,
		Example: "  ostraka job set-priority JOB --to 7",
		Args:    arguments(1), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error { return setPriority(cmd.Context(), o, args[0], priority) },
	}
	o.register(cmd.Flags())
	cmd.Flags().Int64Var(&priority, "to", usualPriority, "the new priority, 1 to 9")
	return cmd
}

func setPriority(ctx context.Context, o *jobOptions, job string, priority int64) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := checkPriority("--to", priority); err != nil {
		return err
	}
	c, id, err := o.server.connectAbout(ctx, "job", job)
	if err != nil {
		return err
	}
	doc, err := answer.Read[client.Job](c.SetJobPriority(ctx, c.project, id, client.JobPriority{Priority: priority}))
	if err != nil {
		return explain("changing the job's priority", err)
	}
	return showJob(o.terminal, &o.outputFlag, doc.Raw, doc.Value)
}
