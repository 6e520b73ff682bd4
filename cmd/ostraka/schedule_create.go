package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
)

// maxScheduleBytes is the largest file of a schedule, in bytes, as the server takes it.
const maxScheduleBytes = 5 << 20

// scheduleCreateOptions are the flags of `ostraka schedule create`: the times, and those of `ostraka job run`.
type scheduleCreateOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags

	file    string
	request client.ScheduleRequest
	starts  string
	ends    string

	input      inputFlags
	policy     policyFlags
	priority   priorityFlag
	aggregator string
	version    int64
	ofJob      *pflag.FlagSet // those that a workflow says itself

	job      client.JobRequest
	workflow string
	params   []string
}

func newScheduleCreate(t *terminal, server *serverFlags) *cobra.Command {
	o := &scheduleCreateOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "create [NAME]", Short: "Have a job submitted, or a workflow started, later, again and again",
		Long: `Have a job submitted later, again and again: at the times of a cron expression (minute, hour, day of
the month, month, day of the week) by the clock of a time zone, or after so long again. What is
submitted is said as for ostraka job run, or all of it stands in a JSON file. With --workflow a run of a
workflow is started instead. One that stands in the folder of its workflow is made by ostraka workflow push.

A time that a clock jumps over comes once, when it has jumped; one that it shows twice comes once.`,
		Example: `  ostraka schedule create nightly --cron '0 3 * * *' --time-zone Europe/Berlin --function primes --range 0:10^6
  ostraka schedule create often --every 90m --function words --objects-prefix texts/ --overlap queue
  ostraka schedule create weekly --cron '0 3 * * 0' --workflow bpsw --param length=10^9
  ostraka schedule create -f nightly.json -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.request.Name = args[0]
			}
			return o.run(cmd.Context())
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func (o *scheduleCreateOptions) flags(f *pflag.FlagSet) {
	r := &o.request
	o.register(f)
	f.StringVarP(&o.file, "file", "f", "", "the schedule as JSON, instead of all other flags; - is stdin")
	f.StringVar(&r.Cron, "cron", "", "when: minute, hour, day of the month, month and day of the week")
	f.StringVar(&r.Every, "every", "", "when: after so long again, for example 6h; a minute at least")
	f.StringVar(&r.TimeZone, "time-zone", "", "whose clock --cron means, for example Europe/Berlin; UTC when left out")
	f.StringVar(&r.Jitter, "jitter", "", "by how much each time may be late on purpose, for example 5m; an hour at most")
	f.StringVar((*string)(&r.Overlap), "overlap", "", "where the job of an earlier time has not ended: skip the time, queue it, or cancel-other; left out: skip")
	f.StringVar((*string)(&r.CatchUp), "catch-up", "", "which missed times come: none, one or all; left out: none")
	f.StringVar(&o.starts, "starts", "", "no time is before, for example 2027-01-01T00:00:00Z")
	f.StringVar(&o.ends, "ends", "", "no time is after")
	f.BoolVar(&r.Paused, "paused", false, "no time comes until it is resumed")
	f.StringVar(&o.job.Function, "function", "", "the function to run")
	f.StringVar(&o.workflow, "workflow", "", "the workflow to start, instead of a function")
	f.StringArrayVar(&o.params, "param", nil, "NAME=VALUE, a parameter of the workflow")
	f.Int64Var(&o.version, "version", 0, "which version of the function or the workflow; left out: the newest at each time")
	o.ofJob = pflag.NewFlagSet("job", pflag.ContinueOnError)
	o.ofJob.StringVar(&o.aggregator, "aggregator", "", "what folds the results; left out: what the function says")
	o.input.register(o.terminal, o.ofJob)
	o.policy.register(o.ofJob)
	o.priority.register(o.ofJob)
	f.AddFlagSet(o.ofJob)
}

func (o *scheduleCreateOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.file != "" && o.request.Name != "" {
		return usageError("the name %q and -f %s are both given, and the name stands in the file: leave out one of them", o.request.Name, o.file)
	}
	if o.file == "" && o.request.Name == "" {
		return usageError("which schedule? give a NAME and flags, or a file with -f; - is stdin")
	}
	spec, err := o.readFile()
	if err != nil {
		return err
	}
	if spec == nil {
		if err := o.read(); err != nil {
			return err
		}
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	if spec == nil {
		if o.request.Job != nil {
			if err := o.input.store(ctx, o.terminal, c, &o.request.Job.Partition); err != nil {
				return err
			}
		}
		if spec, err = json.Marshal(o.request); err != nil {
			return fmt.Errorf("encoding the schedule: %w", err)
		}
	}
	doc, err := createSchedule(ctx, c, spec)
	if err != nil {
		return err
	}
	return showSchedule(o.terminal, &o.outputFlag, doc)
}

// readFile reads the schedule as it stands in a file; nil: none was given.
func (o *scheduleCreateOptions) readFile() ([]byte, error) {
	if o.file == "" {
		return nil, nil
	}
	return readJSONFile(o.terminal, o.file, "schedule", maxScheduleBytes)
}

// read makes the request of the flags; items are added when they are stored.
func (o *scheduleCreateOptions) read() (err error) {
	r := &o.request
	if (o.job.Function == "") == (o.workflow == "") {
		return usageError("what is to run? name it with --function, or with --workflow")
	}
	if r.Starts, err = momentFlag("--starts", o.starts); err != nil {
		return err
	}
	if r.Ends, err = momentFlag("--ends", o.ends); err != nil {
		return err
	}
	if o.workflow != "" {
		return o.readWorkflow()
	}
	if o.params != nil {
		return usageError("--param is for --workflow")
	}
	r.Job = &o.job
	r.Job.Version = o.version
	if r.Job.Policy, err = o.policy.request(); err != nil {
		return err
	}
	if r.Job.Priority, err = o.priority.request(); err != nil {
		return err
	}
	if o.aggregator != "" {
		r.Job.Aggregator = &client.AggregatorRequest{Module: o.aggregator}
	}
	r.Job.Partition, err = o.input.partition()
	return err
}

// readWorkflow makes the request of the flags that start a workflow.
func (o *scheduleCreateOptions) readWorkflow() error {
	parameters, err := parameterFlags(o.params)
	if err != nil {
		return err
	}
	var given []string
	o.ofJob.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			given = append(given, "--"+f.Name)
		}
	})
	if given != nil {
		return usageError("a workflow says itself what its steps run and how they are verified: leave out %s", strings.Join(given, ", "))
	}
	o.request.Workflow = &client.ScheduledWorkflow{Name: o.workflow, Version: o.version, Parameters: parameters}
	return nil
}

// momentFlag reads a moment; nil: none was given.
func momentFlag(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, usageError("%s %q is no moment: write for example 2027-01-01T00:00:00Z", flag, text)
	}
	return &at, nil
}
