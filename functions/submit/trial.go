package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/wasm"
)

// RuleTrial is what a rule would come to at the end of a job.
type RuleTrial struct {
	Rule    string            `json:"rule"`
	Outcome string            `json:"outcome" enum:"made,skipped,planned,stopped,failed" doc:"As in a chain: what would be."`
	Reason  string            `json:"reason,omitempty"`
	Detail  string            `json:"detail,omitempty"`
	Seen    map[string]string `json:"seen" doc:"The values that the rule's condition names, as JSON; long ones are cut."`
	Jobs    []TrialJob        `json:"jobs" doc:"Jobs that would be made."`
	Note    json.RawMessage   `json:"note,omitempty" doc:"What the planner would be told again in its next round."`
	Fuel    int64             `json:"fuel,omitempty" doc:"Units that the planner used."`
}

// TrialJob is a job that would be made.
type TrialJob struct {
	Key        string         `json:"key,omitempty" doc:"By which the planner names it."`
	Function   string         `json:"function"`
	Version    int            `json:"version"`
	Shards     int64          `json:"shards"`
	Partition  partition.Spec `json:"partition"`
	Quorum     int            `json:"quorum,omitempty"`
	Aggregator string         `json:"aggregator,omitempty"`
}

// TryRules says what a rule, or each rule of the project where none is given, would come to at the end of a job that has ended. No job is made,
// and nothing is counted against a planner. What follows the job already is taken not to be there.
func (s *Service) TryRules(ctx context.Context, project, job uuid.UUID, spec *planner.Rule) ([]RuleTrial, error) {
	parent, err := s.jobs.GetJob(ctx, project, job)
	if err != nil {
		return nil, err
	}
	finished, err := s.finishedJob(ctx, project, parent)
	if err != nil {
		return nil, err
	}
	if finished.Metrics, err = s.jobs.GetMetrics(ctx, project, job); err != nil {
		return nil, err
	}
	rules, all, err := s.loadRules(ctx, project, parent.Root)
	if err != nil {
		return nil, err
	}
	if spec != nil {
		if rules, err = rulesToTry(*spec, rules); err != nil {
			return nil, err
		}
	}
	var existing []planner.Key
	for _, k := range all {
		if k.Parent != job.String() {
			existing = append(existing, k)
		}
	}
	planning, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	followUps, asks, skips := planner.Plan(planning, rules, finished, existing)
	return s.trials(ctx, project, parent, finished, rules, followUps, asks, skips)
}

// rulesToTry is the rule alone, under the ID of the stored one of its name: what that has made counts.
func rulesToTry(spec planner.Rule, stored []*planner.Compiled) ([]*planner.Compiled, error) {
	if _, err := checkRule(spec); err != nil {
		return nil, err
	}
	spec.ID = uuid.Nil.String()
	for _, c := range stored {
		if c.Rule().Name == spec.Name {
			spec.ID = c.Rule().ID
		}
	}
	c, err := planner.Compile(spec)
	return []*planner.Compiled{c}, err
}

func (s *Service) trials(ctx context.Context, project uuid.UUID, parent functions.Job, finished planner.Finished, rules []*planner.Compiled, followUps []planner.FollowUp, asks []planner.Ask, skips []planner.Skip) ([]RuleTrial, error) {
	list := make([]RuleTrial, 0, len(rules))
	for _, c := range rules {
		rule := c.Rule()
		t := RuleTrial{Rule: rule.Name, Seen: planner.Seen(rule, finished), Jobs: []TrialJob{}}
		for _, k := range skips {
			if k.Rule == rule.ID {
				t.skipped(k.Reason, k.Detail)
			}
		}
		for _, f := range followUps {
			if f.Key.Rule != rule.ID {
				continue
			}
			t.Outcome = outcomeMade
			if err := s.tryJob(ctx, project, &t, "", functions.NewJob{Function: f.Function, Version: f.Version, Partition: f.Partition, Quorum: f.Quorum, Aggregator: f.Aggregator}); err != nil {
				return nil, err
			}
		}
		for _, ask := range asks {
			if ask.Rule.ID != rule.ID {
				continue
			}
			if err := s.tryPlanner(ctx, project, parent, finished, ask, &t); err != nil {
				return nil, err
			}
		}
		list = append(list, t)
	}
	return list, nil
}

func (t *RuleTrial) skipped(reason planner.SkipReason, detail string) {
	t.Outcome, t.Reason, t.Detail, t.Jobs = outcomeSkipped, string(reason), detail, []TrialJob{}
}

// tryJob checks a job as its submission would.
func (s *Service) tryJob(ctx context.Context, project uuid.UUID, t *RuleTrial, key string, want functions.NewJob) error {
	plan, err := s.planJob(ctx, project, want)
	var wrong *functions.Error
	if errors.As(err, &wrong) && wrong.Kind != functions.KindUnavailable && wrong.Kind != functions.KindExhausted {
		t.skipped(planner.SkipError, wrong.Message)
		return nil
	}
	if err != nil {
		return err
	}
	t.Jobs = append(t.Jobs, TrialJob{
		Key: key, Function: plan.manifest.Name, Version: plan.version, Shards: plan.shards, Partition: plan.partition, Quorum: want.Quorum, Aggregator: want.Aggregator,
	})
	return nil
}

// tryPlanner asks a planner, and keeps nothing.
func (s *Service) tryPlanner(ctx context.Context, project uuid.UUID, parent functions.Job, finished planner.Finished, ask planner.Ask, t *RuleTrial) error {
	c, err := s.readChain(ctx, project, parent, ask)
	if err != nil {
		return err
	}
	c.forget(parent.ID)
	left, skip := c.left(ask.Rule)
	if skip != nil {
		t.skipped(skip.Reason, skip.Detail)
		return nil
	}
	left.fuel = min(left.fuel, wasm.CheckFuel) // nothing counts what trials use
	p, err := s.preparePlanner(ctx, project, parent, finished, ask, c, left)
	if failed, err := t.failed(err); failed || err != nil {
		return err
	}
	r, err := plan(ctx, p, finished)
	t.Fuel = r.fuel
	if failed, err := t.failed(err); failed || err != nil {
		return err
	}
	jobs, err := s.checkPlan(ctx, project, ask.Rule, r.plan, left)
	if failed, err := t.failed(err); failed || err != nil {
		return err
	}
	t.Outcome, t.Detail, t.Note = outcomePlanned, r.plan.Reason, r.plan.Note
	if r.plan.Stopped || len(jobs) == 0 {
		t.Outcome = outcomeStopped
	}
	for _, j := range jobs {
		if err := s.tryJob(ctx, project, t, j.Key, j.newJob()); err != nil {
			return err
		}
	}
	return nil
}

// failed takes in why a planner gave no answer that counts; what is not its fault is an error.
func (t *RuleTrial) failed(err error) (bool, error) {
	if err == nil {
		return false, nil
	}
	var wrong *functions.Error
	if errors.As(err, &wrong) && wrong.Kind != functions.KindUnavailable && wrong.Kind != functions.KindExhausted {
		t.skipped(planner.SkipError, wrong.Message)
		return true, nil
	}
	_, isPlan := errors.AsType[*badPlan](err)
	module, isModule := errors.AsType[*wasm.Error](err)
	if isPlan || isModule && module.Class != wasm.ClassHost {
		t.Outcome, t.Detail = outcomeFailed, err.Error()
		return true, nil
	}
	return false, fmt.Errorf("asking a planner: %w", err)
}

// forget takes the follow-ups of a job out of its chain.
func (c *chain) forget(parent uuid.UUID) {
	var others []followUpKey
	for _, k := range c.existing {
		if k.Parent != parent {
			others = append(others, k)
		}
	}
	c.existing = others
}
