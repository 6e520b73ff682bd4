package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

const (
	// ControlOthers is how long a control that an owner has contradicted waits for another one of those that work for the job.
	ControlOthers = 10 * time.Minute
	// ControlAlone is how long where none does.
	ControlAlone = 10 * time.Second
	// MaxControlLost is of how many owners leases may die with a control before it is given up.
	MaxControlLost = 3
)

// controlsToSkip are shards that an agent must not be lent for now: it, or its owner, has answered them as controls, and the second opinion is to be
// another's. A control for which nobody else comes is given up, and its shard is lent as what it is.
func controlsToSkip(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, l lender) (skip, over []int64, err error) {
	type row struct {
		Place  int64
		Waits  float64
		Others bool
	}
	rows, err := store.Many[row](ctx, tx, sql.ControlsToSkip, job, owner.Hand(l.owner, agent))
	if err != nil {
		return nil, nil, err
	}
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
	return skip, over, nil
}

// giveUpControls ends controls that nobody else answers, in a transaction of its own: whoever asked holds locks that come after their flags.
func (s *Service) giveUpControls(ctx context.Context, project, job uuid.UUID, places []int64) error {
	if len(places) == 0 {
		return nil
	}
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := giveUpControls(ctx, tx, job, places); err != nil {
			return err
		}
		return base.Notify(ctx, tx, base.ChannelWork, project) // their shards are for everybody now
	})
}

// giveUpControls tells people of those that somebody has answered otherwise: it may have been a lie.
func giveUpControls(ctx context.Context, tx *store.Tx, job uuid.UUID, places []int64) error {
	if len(places) == 0 {
		return nil
	}
	type said struct {
		Place         int64
		Number        int
		Known, Output []byte
		AgentID       uuid.UUID
		Status        *string
	}
	rows, err := store.Many[said](ctx, tx, sql.GiveUpControls, job, places)
	if err != nil {
		return err
	}
	given := map[int64][]map[string]any{}
	known, numbers := map[int64][]byte{}, map[int64]int{}
	for _, r := range rows {
		given[r.Place] = append(given[r.Place], map[string]any{"agent": r.AgentID, "status": r.Status, "output": flag.Shown(r.Output)})
		known[r.Place], numbers[r.Place] = r.Known, r.Number
	}
	var marks []flag.Mark
	for _, place := range slices.Sorted(maps.Keys(given)) {
		marks = append(marks, flag.Mark{
			Kind: flag.FlagControls, Rule: string(verify.ControlUnsettled), Job: job, Decision: "nobody is charged",
			Detail: map[string]any{"control": numbers[place], "lent_as_shard": place, "known": flag.Shown(known[place]), "given": given[place]},
		})
	}
	return flag.Raise(ctx, tx, marks...)
}

// pickToConfirm takes shards that are lent as controls which others have answered, before all others, wherever the last search has ended: until they
// are answered once more, whoever lied to them goes on.
func (by borrower) pickToConfirm(ctx context.Context, tx *store.Tx, most int) ([]jobs.PickedShard, error) {
	places, err := store.Values[int64](ctx, tx, sql.ControlsToConfirm, by.job, by.hand, most)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	n := len(places)
	picked, _, err := by.lend(ctx, tx, sql.DrawShards, by.job, by.agent, places[0], places[n-1]+1, most, by.room, by.kin, n, places, by.without)
	return picked, err
}

// pickControlled is pickShards for a job with controls.
func pickControlled(ctx context.Context, tx *store.Tx, by borrower, next int64, most int) (picked []jobs.PickedShard, then int64, err error) {
	first, err := by.pickToConfirm(ctx, tx, most)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range first {
		by.without = append(by.without, p.Number)
		by.room -= len(p.Input)
	}
	if most -= len(first); most == 0 || by.room <= 0 {
		return first, next, nil
	}
	if picked, then, err = pickShards(ctx, tx, by, next, most); err != nil {
		return nil, 0, err
	}
	if len(picked) == 0 {
		then = next
	}
	picked = append(picked, first...)
	slices.SortFunc(picked, func(a, b jobs.PickedShard) int { return cmp.Compare(a.Number, b.Number) })
	return picked, then, nil
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
	type dropped struct {
		Place int64
		Over  bool
	}
	gone, err := store.Many[dropped](ctx, tx, sql.DropControlLoans, l.ID, lost > 0, MaxControlLost)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	var over []int64
	for _, g := range gone {
		if g.Over {
			over = append(over, g.Place)
		}
	}
	if err := giveUpControls(ctx, tx, l.JobID, over); err != nil {
		return nil, err
	}
	return []functions.Step{stepargs.JudgeControlsArgs{Project: l.ProjectID, Job: l.JobID}}, nil
}
