package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// ControlOthers is how long a control that an owner has contradicted waits for another one of those that work for the job.
	ControlOthers = 10 * time.Minute
	// ControlAlone is how long where none does.
	ControlAlone = 10 * time.Second
	// MaxControlLost is with how many leases a control may die before it is given up.
	MaxControlLost = 3
)

// controlsToSkip are shards that an agent must not be lent for now: it, or its owner, has answered them as controls, and the second opinion is to be
// another's. A control for which nobody else comes is given up, and its shard is lent as what it is.
func controlsToSkip(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, l lender) (skip []int64, err error) {
	type row struct {
		Place  int64
		Waits  float64
		Others bool
	}
	rows, err := store.Many[row](ctx, tx, sql.ControlsToSkip, job, owner.Hand(l.owner, agent))
	if err != nil {
		return nil, err
	}
	var over []int64
	for _, r := range rows {
		patience := ControlAlone
		if r.Others {
			patience = ControlOthers
		}
		if time.Duration(r.Waits*float64(time.Second)) >= patience {
			over = append(over, r.Place)
		}
		skip = append(skip, r.Place)
	}
	if len(over) == 0 {
		return skip, nil
	}
	_, err = store.Exec(ctx, tx, sql.GiveUpControls, job, over)
	return skip, err
}

// lendControls puts the inputs of controls in the place of those of the shards before which they are lent. The shards are locked.
func lendControls(ctx context.Context, tx *store.Tx, lease uuid.UUID, from openJob, agent uuid.UUID, picked []jobs.PickedShard) error {
	numbers := make([]int64, len(picked))
	for i, p := range picked {
		numbers[i] = p.Number
	}
	lent, err := store.Many[jobs.PickedShard](ctx, tx, sql.LendControls, from.JobID, numbers, lease, agent, owner.Hand(from.lender.owner, agent), from.lender.class)
	if err != nil {
		return err
	}
	replaceInputs(picked, lent)
	return nil
}

func replaceInputs(picked, lent []jobs.PickedShard) {
	for _, c := range lent {
		if at := slices.IndexFunc(picked, func(p jobs.PickedShard) bool { return p.Number == c.Number }); at >= 0 && c.Input != nil {
			picked[at].Input = c.Input
		}
	}
}

// leasedControl is a shard of a lease that was lent as a control.
type leasedControl struct {
	Place   int64
	Input   []byte
	Outcome []byte // what was said to it; nil: nothing yet
}

func controlsOfLease(ctx context.Context, tx *store.Tx, lease uuid.UUID) ([]leasedControl, error) {
	return store.Many[leasedControl](ctx, tx, sql.ControlsOfLease, lease)
}

// lentAgain makes a lease what it was when it was made.
func lentAgain(ctx context.Context, tx *store.Tx, lease uuid.UUID, picked []jobs.PickedShard) error {
	lent, err := controlsOfLease(ctx, tx, lease)
	for _, c := range lent {
		replaceInputs(picked, []jobs.PickedShard{{Number: c.Place, Input: c.Input}})
	}
	return err
}

// splitControls takes the answers to controls out of a submission: those that are new, and how many were recorded before. One that says something
// else than the recorded one is refused, as with every other shard.
func splitControls(results []result.Checked, lent []leasedControl) (shards, controls []result.Checked, repeated int, err error) {
	for _, r := range results {
		at := slices.IndexFunc(lent, func(c leasedControl) bool { return c.Place == r.Shard })
		switch {
		case at < 0:
			shards = append(shards, r)
		case lent[at].Outcome == nil:
			controls = append(controls, r)
		case !bytes.Equal(lent[at].Outcome, r.Outcome):
			return nil, nil, 0, functions.ErrResultConflict.With("another result of this agent for shard %d is recorded already", r.Shard)
		default:
			repeated++
		}
	}
	return shards, controls, repeated, nil
}

// sortOut is splitControls for the results of a lease, most of which has none.
func sortOut(ctx context.Context, tx *store.Tx, gate recordGate, lease uuid.UUID, results []result.Checked) (shards, controls []result.Checked, repeated int, err error) {
	if !gate.Controls {
		return results, nil, 0, nil
	}
	lent, err := controlsOfLease(ctx, tx, lease)
	if err != nil {
		return nil, nil, 0, err
	}
	return splitControls(results, lent)
}

// inOrder are all results of a submission that are new.
func inOrder(attempts, controls []result.Checked) []result.Checked {
	if len(controls) == 0 {
		return attempts
	}
	all := slices.Concat(attempts, controls)
	slices.SortFunc(all, func(a, b result.Checked) int { return cmp.Compare(a.Shard, b.Shard) })
	return all
}

// answerControls writes answers to controls, which the step that judges them reads.
func answerControls(ctx context.Context, tx *store.Tx, lease uuid.UUID, answers []result.Checked) error {
	if len(answers) == 0 {
		return nil
	}
	c := result.Columns(answers)
	_, err := store.Exec(ctx, tx, sql.AnswerControls, lease, c[0], c[1], c[2], c[3], c[4], c[5], c[7])
	return err
}

// dropControlLoans ends what a lease was lent of controls, and has those judged anew whose shards wait for that.
func (s *Service) dropControlLoans(ctx context.Context, tx *store.Tx, l leaseIndexRow, lost int) (steps []functions.Step, err error) {
	gone, err := store.Values[int64](ctx, tx, sql.DropControlLoans, l.ID, lost, MaxControlLost)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	return []functions.Step{functions.JudgeControlsArgs{Project: l.ProjectID, Job: l.JobID}}, nil
}
