package submit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
	"github.com/ostraka/ostraka/wasm"
)

// The outcomes of a rule at the end of a job.
const (
	outcomeMade    = "made"    // its job follows
	outcomeSkipped = "skipped" // nothing follows; the reason says why
	outcomePlanned = "planned" // its planner asked for jobs
	outcomeStopped = "stopped" // its planner says that the chain is over
	outcomeTrying  = "trying"  // its planner could not be asked yet
	outcomeFailed  = "failed"  // its planner is at fault
)

// plannedFollowUp is a job of a planner's answer, with everything filled in that the planner left to the rule.
type plannedFollowUp struct {
	Key        string         `json:"key"`
	Function   string         `json:"function"`
	Version    int            `json:"version"`
	Partition  partition.Spec `json:"partition,omitzero"`
	Items      string         `json:"items,omitempty"` // JSON lines, where units were planned
	Quorum     int            `json:"quorum,omitempty"`
	Aggregator string         `json:"aggregator,omitempty"`
	Shards     int64          `json:"shards"`
}

func (p plannedFollowUp) newJob() functions.NewJob {
	want := functions.NewJob{Function: p.Function, Version: p.Version, Partition: p.Partition, Quorum: p.Quorum, Aggregator: p.Aggregator}
	if p.Items != "" {
		want.Items, want.Partition = []byte(p.Items), partition.Spec{Kind: partition.KindItems}
	}
	return want
}

// reply is what a planner has answered, or why it has not.
type reply struct {
	plan   wasm.Plan
	jobs   []plannedFollowUp
	digest string
	input  string
	fuel   int64
	runs   *registry.ModuleRuns
}

// chain is what a planner's answer is held against.
type chain struct {
	kept struct { // of this rule at the end of this job
		Outcome string
		Answer  []byte
		Tries   int
	}
	spent struct {
		Shards     int64
		Executions int64
		Fuel       int64
		FuelToday  int64
	}
	said     []saidRecord
	existing []followUpKey
}

// budget is what a planner may still ask for.
type budget struct{ jobs, shards, fuel int64 }

// left is what the limits leave to a rule, or why it is not asked.
func (c chain) left(rule planner.Rule) (budget, *planner.Skip) {
	made := 0
	for _, k := range c.existing {
		if k.Rule.String() == rule.ID {
			made++
		}
	}
	b := budget{
		jobs:   int64(min(rule.MaxJobs-made, planner.HardPlannerJobs-len(c.existing))),
		shards: min(planner.MaxChainShards-c.spent.Shards, planner.MaxChainExecutions-c.spent.Executions),
		fuel:   min(wasm.DefaultFuel, planner.MaxChainFuel-c.spent.Fuel, planner.MaxDayFuel-c.spent.FuelToday),
	}
	skip := func(reason planner.SkipReason, format string, args ...any) (budget, *planner.Skip) {
		return b, &planner.Skip{Rule: rule.ID, RuleName: rule.Name, Reason: reason, Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case b.jobs <= 0:
		return skip(planner.SkipCountLimit, "the rule has made %d follow-ups of its max_jobs of %d, and there are %d of at most %d under the root job", made, rule.MaxJobs, len(c.existing), planner.HardPlannerJobs)
	case c.spent.Shards >= planner.MaxChainShards:
		return skip(planner.SkipBudget, "the follow-ups under the root job have %d shards, and %d is the most where a planner makes more", c.spent.Shards, planner.MaxChainShards)
	case b.shards <= 0:
		return skip(planner.SkipBudget, "the jobs under the root job took %d executions, and %d is the most where a planner makes more", c.spent.Executions, planner.MaxChainExecutions)
	case c.spent.Fuel >= planner.MaxChainFuel:
		return skip(planner.SkipBudget, "planners have used %d units of fuel under the root job, and %d is the most", c.spent.Fuel, planner.MaxChainFuel)
	case b.fuel <= 0:
		return skip(planner.SkipBudget, "the project's planners have used %d units of fuel today, and %d is the most: go on tomorrow with ostraka job follow-up JOB", c.spent.FuelToday, planner.MaxDayFuel)
	}
	return b, nil
}

// askPlanner asks the module of a rule that applies, keeps its answer, and submits the jobs that it asks for. An answer that was kept is not
// asked for again, and a job that was made is not made again.
func (s *Service) askPlanner(ctx context.Context, project uuid.UUID, parent functions.Job, finished planner.Finished, ask planner.Ask) ([]planner.Skip, error) {
	c, err := s.readChain(ctx, project, parent, ask)
	if err != nil {
		return nil, err
	}
	if c.kept.Answer == nil && c.kept.Outcome != outcomeFailed {
		left, skip := c.left(ask.Rule)
		if skip != nil {
			return []planner.Skip{*skip}, nil
		}
		r, err := s.runPlanner(ctx, project, parent, finished, ask, c, left)
		var wrong *functions.Error
		if errors.As(err, &wrong) && wrong.Kind != functions.KindUnavailable && wrong.Kind != functions.KindExhausted {
			return []planner.Skip{{Rule: ask.Rule.ID, RuleName: ask.Rule.Name, Reason: planner.SkipError, Detail: wrong.Message}}, nil
		}
		if err == nil {
			r.jobs, err = s.checkPlan(ctx, project, ask.Rule, r.plan, left)
		}
		if err != nil {
			return nil, s.plannerFailed(ctx, project, parent, finished, ask, c, r, err)
		}
		if err := s.keepPlan(ctx, project, parent, finished, ask, c, r); err != nil {
			return nil, err
		}
		if c, err = s.readChain(ctx, project, parent, ask); err != nil {
			return nil, err
		}
	}
	return s.submitPlanned(ctx, project, parent, ask, c)
}

func (s *Service) readChain(ctx context.Context, project uuid.UUID, parent functions.Job, ask planner.Ask) (c chain, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		if c.kept, _, err = store.One[struct {
			Outcome string
			Answer  []byte
			Tries   int
		}](ctx, tx, sql.GetDecision, parent.ID, ask.Rule.ID); err != nil {
			return err
		}
		if c.spent, _, err = store.One[struct {
			Shards     int64
			Executions int64
			Fuel       int64
			FuelToday  int64
		}](ctx, tx, sql.ChainSpent, parent.Root); err != nil {
			return err
		}
		if c.said, err = store.Values[saidRecord](ctx, tx, sql.SaidBefore, parent.Root, ask.Rule.ID, parent.ID); err != nil {
			return err
		}
		c.existing, err = store.Many[followUpKey](ctx, tx, sql.FollowUpKeys, parent.Root)
		return err
	})
	if err != nil {
		return c, fmt.Errorf("reading the chain of job %s: %w", parent.ID, err)
	}
	return c, nil
}

// runPlanner has the module plan, and notes the run.
func (s *Service) runPlanner(ctx context.Context, project uuid.UUID, parent functions.Job, finished planner.Finished, ask planner.Ask, c chain, left budget) (r reply, err error) {
	p, err := s.preparePlanner(ctx, project, parent, finished, ask, c, left)
	if err != nil {
		return r, err
	}
	name, _, _ := planner.ParsePlanner(ask.Rule.Then.Planner)
	runs := s.registry.WatchModule(registry.ModuleUse{Project: project, Job: parent.ID, Module: name, Digest: p.Module.Digest, Step: "rule " + ask.Rule.Name})
	p.Watch = runs.Ran
	r, err = plan(ctx, p, finished)
	r.runs = runs
	return r, runs.Named(err)
}

// preparePlanner finds the module, and puts together what it is shown.
func (s *Service) preparePlanner(ctx context.Context, project uuid.UUID, parent functions.Job, finished planner.Finished, ask planner.Ask, c chain, left budget) (p wasm.Planning, err error) {
	name, version, err := planner.ParsePlanner(ask.Rule.Then.Planner)
	if err != nil {
		return p, functions.Invalid("bad_rule", err.Error(), "correct the rule")
	}
	params := ask.Rule.Then.Params
	digest, err := s.registry.ChoosePlanner(ctx, project, name, version, params)
	if err != nil {
		return p, err
	}
	p = s.registry.Planning(project, parent.ID, digest, params)
	p.Fuel = left.fuel
	p.Budget, p.Jobs, p.Round = min(wasm.MaxPlanned, left.shards), min(wasm.MaxPlannedJobs, left.jobs), int64(len(c.said))
	p.Chain, err = chainRecords(parent, finished.Metrics, c.said)
	return p, err
}

// plan runs the module. No transaction is open meanwhile.
func plan(ctx context.Context, p wasm.Planning, finished planner.Finished) (r reply, err error) {
	final := wasm.Final{N: finished.Aggregate.Count, Value: finished.Aggregate.Value}
	r.digest, r.input = p.Module.Digest, inputDigest(p, final)
	var stats wasm.Stats
	r.plan, stats, err = p.Plan(ctx, final, wasm.Each([]wasm.DoneUnit(nil)))
	r.fuel = stats.Fuel
	var module *wasm.Error
	if errors.As(err, &module) {
		r.fuel = module.Fuel
	}
	return r, err
}

// checkPlan makes jobs of a plan, each checked as a person's would be.
func (s *Service) checkPlan(ctx context.Context, project uuid.UUID, rule planner.Rule, p wasm.Plan, left budget) ([]plannedFollowUp, error) {
	jobs := jobsOf(rule, p)
	if int64(len(jobs)) > left.jobs {
		return nil, &badPlan{fmt.Sprintf("it asked for %d jobs, and %d are left to it", len(jobs), left.jobs)}
	}
	var shards, size int64
	for i := range jobs {
		j := &jobs[i]
		plan, err := s.planJob(ctx, project, j.newJob())
		var wrong *functions.Error
		if errors.As(err, &wrong) && wrong.Kind != functions.KindUnavailable && wrong.Kind != functions.KindExhausted {
			return nil, &badPlan{fmt.Sprintf("its job %.80q was refused: %s", j.Key, wrong.Message)}
		}
		if err != nil {
			return nil, err
		}
		j.Version, j.Shards = plan.version, plan.shards
		shards += plan.shards
		if size += int64(len(j.Items)); size > planner.MaxPlanBytes {
			return nil, &badPlan{fmt.Sprintf("its units have more than %d bytes together", planner.MaxPlanBytes)}
		}
	}
	if shards > left.shards {
		return nil, &badPlan{fmt.Sprintf("it asked for %d shards, and %d are left to the chain", shards, left.shards)}
	}
	return jobs, nil
}

// jobsOf lists the jobs of a plan: those that it names, and one of all its units.
func jobsOf(rule planner.Rule, p wasm.Plan) []plannedFollowUp {
	then := rule.Then
	jobs := []plannedFollowUp{} // not null in what is kept
	for _, j := range p.Jobs {
		next := plannedFollowUp{Key: j.Key, Function: j.Function, Version: j.Version, Quorum: j.Quorum, Aggregator: j.Aggregator}
		if next.Function == "" {
			next.Function, next.Version = then.Function, then.Version
		}
		if next.Quorum == 0 {
			next.Quorum = then.Quorum
		}
		if next.Aggregator == "" {
			next.Aggregator = then.Aggregator
		}
		if err := next.Partition.UnmarshalJSON(j.Partition); err != nil {
			next.Partition = partition.Spec{} // refused with what is wrong when it is planned
		}
		jobs = append(jobs, next)
	}
	if len(p.Units) > 0 {
		var items bytes.Buffer
		for _, u := range p.Units {
			items.Write(u.Input)
			items.WriteByte('\n')
		}
		jobs = append(jobs, plannedFollowUp{Key: "units", Function: then.Function, Version: then.Version, Quorum: then.Quorum, Aggregator: then.Aggregator, Items: items.String()})
	}
	return jobs
}

// keepPlan stores an answer, so that the step may be run again, and tells the job's reader.
func (s *Service) keepPlan(ctx context.Context, project uuid.UUID, parent functions.Job, finished planner.Finished, ask planner.Ask, c chain, r reply) error {
	answer, err := json.Marshal(r.jobs)
	if err != nil {
		return fmt.Errorf("encoding a plan: %w", err)
	}
	outcome, reason := outcomePlanned, r.plan.Reason
	if r.plan.Stopped || len(r.jobs) == 0 {
		outcome = outcomeStopped
	}
	if len(r.jobs) == 0 && reason == "" {
		reason = "it asked for no job, and did not say why"
	}
	said := saidRecord{Job: parent.ID.String(), Jobs: len(r.jobs), Units: len(r.plan.Units), Stopped: outcome == outcomeStopped, Reason: reason, Data: r.plan.Note}
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, parent.Root); err != nil {
			return err
		}
		existing, err := store.Many[followUpKey](ctx, tx, sql.FollowUpKeys, parent.Root)
		if err != nil {
			return err
		}
		if len(existing) != len(c.existing) {
			return errPlanAgain // what was left to the planner is not any more
		}
		n, err := s.writePlan(ctx, tx, parent, finished, ask, outcome, reason, r, answer, &said, nil, 0)
		if err != nil || n == 0 { // another run of the step was quicker
			return err
		}
		if err := r.runs.Keep(ctx, tx); err != nil {
			return err
		}
		detail := map[string]any{"rule": ask.Rule.Name, "planner": ask.Rule.Then.Planner, "jobs": len(r.jobs), "stopped": said.Stopped, "reason": reason}
		return base.AddEvent(ctx, tx, parent.ID, base.EventPlanned, detail)
	})
}

func (s *Service) writePlan(ctx context.Context, tx *store.Tx, parent functions.Job, finished planner.Finished, ask planner.Ask, outcome, detail string, r reply, answer []byte, said *saidRecord, run *uuid.UUID, tries int) (int64, error) {
	seen, err := json.Marshal(planner.Seen(ask.Rule, finished))
	if err != nil {
		return 0, fmt.Errorf("encoding what a rule saw: %w", err)
	}
	var told []byte
	if said != nil {
		if told, err = json.Marshal(said); err != nil {
			return 0, fmt.Errorf("encoding what a planner said: %w", err)
		}
	}
	return store.Exec(ctx, tx, sql.KeepPlan, parent.ID, ask.Rule.ID, ask.Rule.Name, parent.Root, outcome, registry.ShortText(detail, maxDecisionDetail), seen,
		ask.Rule.Then.Planner, r.digest, r.input, answer, told, run, r.fuel, tries)
}

// submitPlanned submits the jobs of an answer that was kept, but for those that exist.
func (s *Service) submitPlanned(ctx context.Context, project uuid.UUID, parent functions.Job, ask planner.Ask, c chain) (skips []planner.Skip, err error) {
	if c.kept.Answer == nil {
		return nil, nil
	}
	var jobs []plannedFollowUp
	if err := json.Unmarshal(c.kept.Answer, &jobs); err != nil {
		return nil, fmt.Errorf("reading a plan that was kept: %w", err)
	}
	made := len(c.existing)
	for i, j := range jobs {
		key := planner.Key{Rule: ask.Rule.ID, Parent: parent.ID.String(), Number: strconv.Itoa(i)}
		if slices.ContainsFunc(c.existing, func(k followUpKey) bool { return k.key() == key }) {
			continue
		}
		if made >= planner.HardPlannerJobs {
			return append(skips, planner.Skip{Rule: ask.Rule.ID, RuleName: ask.Rule.Name, Reason: planner.SkipCountLimit, Detail: fmt.Sprintf("the root job has %d follow-ups, the most that one may have", made)}), nil
		}
		want := j.newJob()
		skip, err := s.submitFollowUp(ctx, project, parent, planner.FollowUp{
			Key: key, RuleName: ask.Rule.Name, RootID: parent.Root.String(), Depth: parent.Depth + 1, Function: j.Function, Version: j.Version,
			Partition: want.Partition, Items: want.Items, Quorum: j.Quorum, Aggregator: j.Aggregator,
		}, made)
		if err != nil {
			return skips, err
		}
		if skip != nil {
			skips = append(skips, *skip)
		} else {
			made++
		}
	}
	return skips, nil
}
