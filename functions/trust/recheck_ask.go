package trust

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// MaxRecheckBatches is how many batches of one project are under way or enqueued in each lane; one of them waits for its turn.
const MaxRecheckBatches = 4

// NextBatch enqueues a batch where something waits that nobody is about to take up, and the project may have one more. The caller holds
// the gate of rechecks.
func NextBatch(ctx context.Context, tx *store.Tx, project uuid.UUID, held HeldFunctions) (steps []functions.Step, err error) {
	if held.Budget.IsSpent() {
		return nil, nil
	}
	for _, long := range []bool{false, true} {
		id := base.NewID()
		n, err := store.Exec(ctx, tx, sql.MakeRecheckBatch, id, MaxRecheckBatches, long, held.Functions, held.Versions, held.Rules)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			steps = append(steps, stepargs.RecheckArgs{Project: project, Batch: id, Long: long})
		}
	}
	return steps, nil
}

// askRechecks has the server execute what was decided to be executed. It is the last thing that a transaction locks.
func askRechecks(ctx context.Context, tx *store.Tx, d Settlement) ([]functions.Step, error) {
	if len(d.Rechecks) == 0 {
		return nil, nil
	}
	why := "decision"
	switch {
	case d.Why != "":
		why = d.Why
	case len(d.draws) > 0:
		why = "audit"
	}
	if _, err := store.Exec(ctx, tx, store.AskRechecks, d.Job, d.Rechecks, why, LongWallSeconds); err != nil {
		return nil, err
	}
	if _, err := store.Exec(ctx, tx, store.GateRechecks); err != nil {
		return nil, err
	}
	return NextBatch(ctx, tx, d.Project, HeldFunctions{}) // who takes it up finds out what is held
}

// ServerRun is what an execution on the server comes to.
type ServerRun struct {
	result.Checked
	Whole string // the output, also where it is an object
}

// row is the run as an attempt of the server.
func (r ServerRun) row() attemptRow {
	return attemptRow{Shard: r.Shard, AgentID: functions.ServerAgent, Status: verify.Status(r.Status), Outcome: r.Outcome, output: []byte(r.Whole)}
}

// answered says whether the run is an answer, and not how this machine ended it.
func (r ServerRun) answered() bool {
	return r.Status == string(verify.OK) || r.Status == string(verify.Error)
}

// usedUp says whether the run has taken all the time that the function may: it does not get as much again.
func (r ServerRun) usedUp() bool {
	return r.Status == string(verify.Timeout) || r.Status == string(verify.CPULimit)
}
