package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

// jobRerunOptions are the flags of `ostraka job rerun`.
type jobRerunOptions struct {
	jobOptions
	wait    bool
	timeout time.Duration
	failed  bool
	version int64
}

func newJobRerun(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobRerunOptions{jobOptions: jobOptions{terminal: t, server: server}}
	cmd := &cobra.Command{
		Use: "rerun JOB", Short: "Run a job again, as a new one",
		Long: `Run a job once more: the same version of the function, the same input, verified and folded in the same
way, by the newest versions of its modules. It is a new job; the old one stays as it is. Agents with an incident in the old job, and the other
agents of their owners, have no part in the new one, so that this is what to do about an incident ("ostraka incident list").

With --failed only the shards that failed run again, by the newest version of the function or by that of --version: mend it, push it,
and run them. "ostraka job combine" then folds what both jobs have accepted to one answer, which --wait prints besides the new job; with -o json it prints the job alone.`,
		Example: "  ostraka job rerun JOB --wait\n" +
			"  ostraka job rerun JOB --failed --wait\n" +
			"  ostraka job rerun JOB --failed --version 3",
		Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	o.register(f)
	f.BoolVar(&o.wait, "wait", false, "wait until the new job ends")
	f.BoolVar(&o.failed, "failed", false, "only the shards that failed, by the newest version of the function")
	f.Int64Var(&o.version, "version", 0, "with --failed: by this version")
	f.DurationVar(&o.timeout, "timeout", 0, "how long to wait at most, for example 10m; the job goes on")
	return cmd
}

func (o *jobRerunOptions) run(ctx context.Context, job string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.timeout < 0 || o.timeout > 0 && !o.wait {
		return usageError("--timeout is how long to --wait")
	}
	if o.version != 0 && !o.failed {
		return usageError("--version goes with --failed: a job that runs again as a whole keeps its version")
	}
	c, id, err := o.server.connectAbout(ctx, "job", job)
	if err != nil {
		return err
	}
	old, err := getJob(ctx, c, id)
	if err != nil {
		return err
	}
	want := sameAgain(old.Value)
	if o.failed {
		if want.Partition, err = o.failedShards(ctx, c, old.Value); err != nil {
			return err
		}
		want.Version = o.version
	}
	return o.again(ctx, c, old.Value, want)
}

func (o *jobRerunOptions) again(ctx context.Context, c *connection, old client.Job, want client.JobRequest) error {
	submitted, err := submitJob(ctx, c, want, uuid.NewString())
	if err != nil {
		return err
	}
	warnStuck(ctx, o.terminal, c, submitted.Value.ID)
	if !o.wait {
		return showJob(o.terminal, &o.outputFlag, submitted.Raw, submitted.Value)
	}
	run := &jobRunOptions{outputFlag: o.outputFlag, terminal: o.terminal, server: o.server, function: old.Function, timeout: o.timeout}
	if err := run.await(ctx, c, submitted.Value.ID); err != nil || !o.failed || o.json() || old.Aggregator == nil {
		return err
	}
	return printCombined(ctx, o.terminal, &o.outputFlag, c, submitted.Value.ID)
}

// sameAgain asks for what a job was: where nothing was asked for that is said, too, since the function's newest version may say otherwise.
func sameAgain(old client.Job) client.JobRequest {
	r := client.JobRequest{
		Function: old.Function, Version: old.Version, Partition: old.Partition, RerunOf: &old.ID, Priority: min(old.Priority, usualPriority), // more is for an owner to say
		Policy: &client.PolicyRequest{
			Quorum: old.Policy.Quorum, None: old.Policy.None, TargetError: old.Policy.TargetError, AssumeHostile: old.Policy.AssumeHostile,
			Recheck: client.PolicyRequestRecheck(old.Policy.Recheck), MaxAttempts: old.Policy.MaxAttempts, Confirm: old.Policy.Confirm,
		},
		Validator:  &client.ValidatorRequest{Module: "none"},
		Aggregator: &client.AggregatorRequest{Module: "none"},
	}
	if old.Policy.AnswerError > 0 { // how it is kept is chosen again
		r.Policy.AnswerError, r.Policy.TargetError, r.Policy.Recheck = old.Policy.AnswerError, 0, ""
	}
	if v := old.Validator; v != nil {
		r.Validator = &client.ValidatorRequest{Module: v.Module, Params: v.Params, Certificate: v.Certificate}
	}
	if a := old.Aggregator; a != nil {
		r.Aggregator = &client.AggregatorRequest{Module: a.Module, Params: a.Params}
	}
	r.Heuristics = &client.HeuristicsPolicy{}
	for _, h := range old.Heuristics { // those of the project's policy come together with it
		r.Heuristics.Use = append(r.Heuristics.Use, client.HeuristicUse{Module: h.Module, On: client.HeuristicUseOnResults, Params: h.Params, Rules: h.Rules})
	}
	return r
}
