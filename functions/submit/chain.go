package submit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit/sql"
)

// maxDecisionDetail bounds what is kept of why a rule came to what it did, in bytes.
const maxDecisionDetail = 2 << 10

// MaxChain is how many jobs and how many decisions a chain shows: more than the limits of follow-ups let it have, but for what many rules decide.
const MaxChain = 1_000

// RuleDecision is what a rule came to at the end of a job.
type RuleDecision struct {
	JobID       uuid.UUID         `json:"job"`
	RuleID      uuid.UUID         `json:"rule"`
	Rule        string            `json:"name" doc:"The rule's name then."`
	Outcome     string            `json:"outcome" enum:"made,skipped,planned,stopped,trying,failed" doc:"made: its job follows. skipped: nothing follows, see reason. planned: its planner asked for jobs. stopped: its planner says that the chain is over. trying: the planner could not be asked yet. failed: the planner is at fault."`
	Reason      string            `json:"reason,omitempty" doc:"Why it was skipped: disabled, other_function, when_false, depth_limit, count_limit, budget or error."`
	Detail      string            `json:"detail,omitempty"`
	Seen        map[string]string `json:"seen" doc:"The values that the rule's condition names, as JSON; long ones are cut."`
	Planner     string            `json:"planner,omitempty"`
	Digest      string            `json:"digest,omitempty" doc:"The module that answered."`
	InputDigest string            `json:"input_digest,omitempty" doc:"SHA-256 of what the planner was shown."`
	Fuel        int64             `json:"fuel,omitempty"`
	ModuleRun   *uuid.UUID        `json:"module_run,omitempty" doc:"The batch of a planner that failed: ostraka module runs."`
	DecidedAt   time.Time         `json:"decided_at"`
}

// ChainJob is a job of a chain.
type ChainJob struct {
	ID        uuid.UUID          `json:"id"`
	Parent    *uuid.UUID         `json:"parent,omitempty"`
	Rule      *uuid.UUID         `json:"rule,omitempty" doc:"The rule that made it, unless that was deleted."`
	Depth     int                `json:"depth"`
	State     functions.JobState `json:"state"`
	Function  string             `json:"function"`
	Version   int                `json:"version"`
	Shards    int64              `json:"shards"`
	CreatedBy string             `json:"created_by"`
	CreatedAt time.Time          `json:"created_at"`
}

// JobChain is a job that somebody submitted with all that followed, and why.
type JobChain struct {
	Root      uuid.UUID      `json:"root"`
	Jobs      []ChainJob     `json:"jobs" doc:"In the order in which they were made."`
	Decisions []RuleDecision `json:"decisions" doc:"What each rule came to at the end of each job that was decided about."`
}

// GetChain returns the chain that a job belongs to.
func (s *Service) GetChain(ctx context.Context, project, job uuid.UUID) (c JobChain, err error) {
	j, err := s.jobs.GetJob(ctx, project, job)
	if err != nil {
		return c, err
	}
	c.Root = j.Root
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if c.Jobs, err = store.Many[ChainJob](ctx, tx, sql.ListChain, j.Root, MaxChain); err != nil {
			return err
		}
		c.Decisions, err = store.Many[RuleDecision](ctx, tx, sql.ListDecisions, j.Root, MaxChain)
		return err
	})
	return c, err
}

// FollowUpAgain has the rules decide about an ended job again. Existing follow-ups are not made again; planners that failed are asked again.
func (s *Service) FollowUpAgain(ctx context.Context, by functions.Principal, project, job uuid.UUID) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job)
		if err != nil || !found || state == functions.JobDeleting {
			return base.OrNotFound(err, "job", job)
		}
		if state != functions.JobFinished && state != functions.JobFailed {
			return ErrNothingFollows.With("job %s is %s, and only jobs that came to an answer are followed up", job, state)
		}
		if _, err := store.Exec(ctx, tx, sql.ForgetFailed, job); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "job.follow-up", job.String(), nil); err != nil {
			return err
		}
		return s.env.Enqueue(ctx, tx, stepargs.FollowUpArgs{Project: project, Job: job})
	})
}

// ErrNothingFollows says that a job has not come to an answer.
var ErrNothingFollows = &functions.Error{
	Kind: functions.KindConflict, Code: "nothing_follows", Message: "only jobs that came to an answer are followed up", Hint: "wait until the job has ended: ostraka job watch JOB",
}

// keepDecisions keeps what rules came to whose planner was not asked.
func keepDecisions(ctx context.Context, tx *store.Tx, job functions.Job, rules []*planner.Compiled, finished planner.Finished, made []planner.FollowUp, skips []planner.Skip) error {
	for _, c := range rules {
		rule, outcome, reason, detail := c.Rule(), "", planner.SkipReason(""), ""
		if slices.ContainsFunc(made, func(f planner.FollowUp) bool { return f.Key.Rule == rule.ID }) {
			outcome = outcomeMade
		}
		for _, k := range skips {
			if k.Rule == rule.ID && k.Reason != planner.SkipPlanned {
				outcome, reason, detail = outcomeSkipped, k.Reason, registry.ShortText(k.Detail, maxDecisionDetail)
			}
		}
		if outcome == "" {
			continue
		}
		seen, err := json.Marshal(planner.Seen(rule, finished))
		if err != nil {
			return fmt.Errorf("encoding what a rule saw: %w", err)
		}
		if _, err := store.Exec(ctx, tx, sql.KeepDecision, job.ID, rule.ID, rule.Name, job.Root, outcome, string(reason), detail, seen); err != nil {
			return err
		}
	}
	return nil
}

// report keeps the decision of each rule, and tells the job's reader once which made no job, if that is worth telling.
func (s *Service) report(ctx context.Context, project uuid.UUID, job functions.Job, rules []*planner.Compiled, finished planner.Finished, made []planner.FollowUp, skips []planner.Skip) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job.ID); err != nil {
			return err
		}
		if err := keepDecisions(ctx, tx, job, rules, finished, made, skips); err != nil {
			return err
		}
		told, err := store.Values[string](ctx, tx, sql.SkippedRules, job.ID, base.EventSkipped)
		if err != nil {
			return err
		}
		for _, k := range skips {
			if !worthTelling(k.Reason) || slices.Contains(told, k.RuleName) {
				continue
			}
			if err := base.AddEvent(ctx, tx, job.ID, base.EventSkipped, map[string]any{"rule": k.RuleName, "reason": k.Reason, "detail": k.Detail}); err != nil {
				return err
			}
		}
		return nil
	})
}

// worthTelling says whether a rule made no job for a reason that its owner may want to fix.
func worthTelling(reason planner.SkipReason) bool {
	switch reason {
	case planner.SkipDisabled, planner.SkipOtherFunction, planner.SkipWhenFalse, planner.SkipPlanned:
		return false
	default:
		return true
	}
}
