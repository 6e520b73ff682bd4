package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
	"github.com/ostraka/ostraka/guardian"
)

// planTime bounds the evaluation of all rules on one job.
const planTime = 10 * time.Second

// errPlanAgain says that another job of the same root made follow-ups while this one planned its own.
var errPlanAgain = errors.New("other follow-ups were made meanwhile")

// FollowUp measures an ended job, asks the planner which jobs follow from an ended one, and submits them. The key of a follow-up is unique, so that
// running the step again makes nothing twice.
func (s *Service) FollowUp(ctx context.Context, args stepargs.FollowUpArgs) error {
	job, err := s.jobs.GetJob(ctx, args.Project, args.Job)
	if err != nil {
		return fmt.Errorf("following up job %s: %w", args.Job, err)
	}
	metrics, err := s.jobs.Measure(ctx, args.Project, job)
	if err != nil {
		return err
	}
	on, err := s.followupsEnabled(ctx, args.Project)
	if err != nil || !on {
		return err
	}
	finished, err := s.finishedJob(ctx, args.Project, job)
	if err != nil {
		return err
	}
	finished.Metrics = metrics
	for {
		err := s.followUp(ctx, args, job, finished)
		var full *functions.Error
		if errors.As(err, &full) && full.Kind == functions.KindExhausted {
			return &functions.Snooze{For: min(full.Quota.Again, functions.LongestSnooze), Err: err} // nothing is lost: what is missing follows when there is room
		}
		if !errors.Is(err, errPlanAgain) {
			return err
		}
	}
}

func (s *Service) followUp(ctx context.Context, args stepargs.FollowUpArgs, job functions.Job, finished planner.Finished) error {
	rules, existing, err := s.loadRules(ctx, args.Project, job.Root)
	if err != nil || len(rules) == 0 {
		return err
	}
	planning, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	followUps, asks, skips := planner.Plan(planning, rules, finished, existing)
	if err := ctx.Err(); err != nil {
		return err
	}
	made, done := len(existing), []planner.FollowUp{}
	for _, f := range followUps {
		skip, err := s.submitFollowUp(ctx, args.Project, job, f, made)
		if err != nil {
			return err
		}
		if skip != nil {
			skips = append(skips, *skip)
		} else {
			made++
			done = append(done, f)
		}
	}
	var failed error // of one planner, which does not hold up the others
	for _, ask := range asks {
		more, err := s.askPlanner(ctx, args.Project, job, finished, ask)
		if errors.Is(err, errPlanAgain) || ctx.Err() != nil {
			return err
		}
		skips, failed = append(skips, more...), errors.Join(failed, err)
	}
	if err := s.report(ctx, args.Project, job, rules, finished, done, skips); err != nil {
		return err
	}
	return failed
}

func (s *Service) followupsEnabled(ctx context.Context, project uuid.UUID) (bool, error) {
	if s.followupsOff {
		return false, nil
	}
	p, err := s.tenant.GetProject(ctx, project)
	return p.FollowupsEnabled, err
}

type followUpKey struct {
	Rule, Parent uuid.UUID
	Number       string
}

func (k followUpKey) key() planner.Key {
	return planner.Key{Rule: k.Rule.String(), Parent: k.Parent.String(), Number: k.Number}
}

// loadRules compiles the project's rules and lists the follow-ups that exist under the root job. A stored rule that no longer
// compiles is left out with a warning: it must not hold up the others.
func (s *Service) loadRules(ctx context.Context, project, root uuid.UUID) (compiled []*planner.Compiled, existing []planner.Key, err error) {
	var rows []ruleRow
	var keys []followUpKey
	err = s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		if rows, err = store.Many[ruleRow](ctx, tx, sql.ListRules, uuid.Nil, MaxRules); err != nil {
			return err
		}
		keys, err = store.Many[followUpKey](ctx, tx, sql.FollowUpKeys, root)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		spec := r.Spec
		spec.ID = r.ID.String()
		c, err := planner.Compile(spec)
		if err != nil {
			s.env.Log.Warn("a stored rule does not compile", "project", project, "rule", r.Name, "error", err)
			continue
		}
		compiled = append(compiled, c)
	}
	for _, k := range keys {
		existing = append(existing, k.key())
	}
	return compiled, existing, nil
}

func (s *Service) finishedJob(ctx context.Context, project uuid.UUID, job functions.Job) (planner.Finished, error) {
	f := planner.Finished{Job: planner.Job{
		ID: job.ID.String(), RootID: job.Root.String(), Function: job.Function, Version: job.Version, State: string(job.State), Depth: job.Depth,
		Shards:   planner.Shards{Total: job.Shards.Total, Accepted: job.Shards.Accepted, Failed: job.Shards.Failed},
		Attempts: job.Attempts,
	}}
	if job.Aggregate == nil {
		return f, nil
	}
	f.Aggregate = planner.Aggregate{Value: job.Aggregate.Value, Count: job.Aggregate.Count}
	if job.Aggregate.Object == "" {
		return f, nil
	}
	r, _, err := s.env.Blobs.Open(ctx, project, job.Aggregate.Object)
	if err != nil {
		return f, fmt.Errorf("opening the aggregate of job %s: %w", job.ID, err)
	}
	defer func() { _ = r.Close() }()
	// One byte more than rules may see: the planner refuses it with the reason that people are told.
	if f.Aggregate.Value, err = io.ReadAll(io.LimitReader(r, planner.MaxAggregateBytes+1)); err != nil {
		return f, fmt.Errorf("reading the aggregate of job %s: %w", job.ID, err)
	}
	return f, nil
}

// submitFollowUp submits one job. What makes it impossible is the rule's fault and becomes a skip, not an endless retry. made is how
// many follow-ups the root job is thought to have: the limits were applied to that number.
func (s *Service) submitFollowUp(ctx context.Context, project uuid.UUID, parent functions.Job, f planner.FollowUp, made int) (*planner.Skip, error) {
	plan, err := s.planJob(ctx, project, functions.NewJob{Function: f.Function, Version: f.Version, Partition: f.Partition, Items: f.Items, Quorum: f.Quorum, Aggregator: f.Aggregator})
	var wrong *functions.Error
	if errors.As(err, &wrong) && wrong.Kind != functions.KindUnavailable && wrong.Kind != functions.KindExhausted {
		return &planner.Skip{Rule: f.Key.Rule, RuleName: f.RuleName, Reason: planner.SkipError, Detail: wrong.Message}, nil
	}
	if err != nil {
		return nil, err
	}
	rule, err := uuid.Parse(f.Key.Rule)
	if err != nil {
		return nil, fmt.Errorf("reading the rule's ID: %w", err)
	}
	key := f.Key.String()
	plan.priority, plan.follows = parent.Priority, &parent
	plan.createdBy, plan.parent, plan.root, plan.rule, plan.depth, plan.key = "rule:"+f.RuleName, &parent.ID, parent.Root, &rule, f.Depth, &key
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, parent.Root); err != nil {
			return err
		}
		existing, err := store.Many[followUpKey](ctx, tx, sql.FollowUpKeys, parent.Root)
		if err != nil {
			return err
		}
		if len(existing) != made {
			return errPlanAgain
		}
		if err := s.decide(ctx, tx, base.Intent{Step: stepargs.FollowUpArgs{}.Kind(), Project: project, Kind: guardian.JobFollowUp}, &plan); err != nil {
			return err
		}
		if err := s.insertJob(ctx, tx, project, &plan); err != nil {
			return err
		}
		detail := map[string]any{"rule": f.RuleName, "job": plan.id, "function": f.Function, "shards": plan.shards}
		if err := base.AddEvent(ctx, tx, parent.ID, base.EventFollowUp, detail); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		return s.openJob(ctx, server, project, plan)
	})
	if errors.As(err, &wrong) && wrong.Kind == functions.KindForbidden { // by a rule of the guardian, or by conditions
		return &planner.Skip{Rule: f.Key.Rule, RuleName: f.RuleName, Reason: planner.SkipError, Detail: wrong.Message}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("submitting the follow-up of rule %s: %w", f.RuleName, err)
	}
	return nil, nil
}
