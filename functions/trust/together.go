package trust

import (
	"context"
	"math"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// ownerRow is what is known of an owner when one of its windows is closed.
type ownerRow struct {
	verify.Owner
	Part, Share float64 // see verify.Together; 0: windows of the job, or this one, are not closed together
	Broken      bool    // an audit of those that are has failed
}

// plan is how a closed window goes on, in which so many results wait beside those that are or were audited.
func (o ownerRow) plan(terms *AuditTerms, w windowRow, waiting int) closingPlan {
	together := verify.Together{Part: o.Part, Share: o.Share}
	audited := int(w.Passed + w.Drawn)
	switch {
	case o.Share > 0 && o.Broken:
		missing, risk := together.Missing(terms.Bound, waiting+audited, audited, o.Owner, terms.means(0))
		return closingPlan{want: missing, risk: risk, apart: true}
	case w.Audits > 0: // some were drawn before: others take the places of those that came to nothing
		return closingPlan{want: int(w.Audits) - audited}
	case o.Share > 0:
		return closingPlan{want: together.Audits(waiting)}
	}
	missing, risk := together.Missing(terms.Bound, waiting, 0, o.Owner, terms.means(0))
	return closingPlan{want: missing, risk: risk}
}

// leftWindow is one of the windows that are left when a job has nothing else to do.
type leftWindow struct {
	AgentID      uuid.UUID
	Owner        string
	Number       int64
	SinceFailure int64
	Results      int64
}

// closeTogether has the windows of agents with a record closed together, where that is cheaper and nothing was drawn from any window of the
// job before. All of them are closed for results before one of them is drawn from.
func (s *Service) closeTogether(ctx context.Context, tx *store.Tx, args stepargs.TailArgs) error {
	policy, found, err := store.Value[verify.Policy](ctx, tx, sql.GetPolicy, args.Job)
	if err != nil || !found || policy.TargetError == 0 {
		return err
	}
	terms, err := s.AuditTerms(ctx, tx, args.Project, args.Job, policy)
	if err != nil || !terms.Rechecks {
		return err
	}
	if _, _, err := store.Value[bool](ctx, tx, sql.LockJobWindows, args.Job); err != nil {
		return err
	}
	left, err := store.Many[leftWindow](ctx, tx, sql.UndrawnWindows, args.Job)
	if err != nil || len(left) < 2 {
		return err
	}
	windows, known, others, err := withRecord(ctx, tx, left)
	if err != nil {
		return err
	}
	together, ok := terms.Bound.Together(known, others, terms.means(0))
	if !ok {
		return nil
	}
	agents, numbers := make([]uuid.UUID, len(windows)), make([]int64, len(windows))
	for i, w := range windows {
		agents[i], numbers[i] = w.AgentID, w.Number
	}
	_, err = store.Exec(ctx, tx, sql.CloseTogether, args.Job, agents, numbers, together.Part, together.Share)
	return err
}

// withRecord are the windows of agents that are not on probation, and how many results those and all others have.
func withRecord(ctx context.Context, tx *store.Tx, left []leftWindow) (windows []leftWindow, known, others []int, err error) {
	owners := make([]string, len(left))
	for i, w := range left {
		owners[i] = w.Owner
	}
	kin, err := owner.ReadKin(ctx, tx, owners...)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, w := range left {
		n := int(min(w.Results, math.MaxInt32))
		e := verify.Evidence{SinceFailure: w.SinceFailure}.Among(kin[w.Owner].Evidence())
		if n == 0 || e.OnProbation() || e.Caught {
			others = append(others, n)
			continue
		}
		windows, known = append(windows, w), append(known, n)
	}
	return windows, known, others, nil
}

// withApart adds the steps that close windows by themselves which were to be closed together with one that these agents have failed.
func withApart(ctx context.Context, tx *store.Tx, project uuid.UUID, steps []functions.Step, agents ...uuid.UUID) ([]functions.Step, error) {
	type row struct {
		JobID   uuid.UUID
		AgentID uuid.UUID
		Number  int64
	}
	rows, err := store.Many[row](ctx, tx, sql.BrokenWindows, agents)
	for _, r := range rows {
		steps = append(steps, stepargs.CloseWindowArgs{Project: project, Job: r.JobID, Agent: r.AgentID, Window: r.Number})
	}
	return steps, err
}
