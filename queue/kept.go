package queue

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// keptFor is how long a step that a request carries out itself waits for a worker: a little longer than requests may take for that.
const keptFor = functions.ShortcutLimit + 5*time.Second

//go:embed carried.sql
var carriedSQL string

//go:embed let_go.sql
var letGoSQL string

// keep inserts steps that the request itself carries out, for later.
func (q *Queue) keep(ctx context.Context, tx pgx.Tx, s *functions.Shortcut, steps []functions.Step) error {
	later := time.Now().Add(keptFor)
	params := make([]river.InsertManyParams, len(steps))
	for i, step := range steps {
		params[i] = river.InsertManyParams{Args: step, InsertOpts: &river.InsertOpts{Queue: queueOf(step), ScheduledAt: later}}
	}
	rows, err := q.client.InsertManyTx(ctx, tx, params)
	if err != nil {
		return err
	}
	for i, row := range rows {
		s.Kept = append(s.Kept, functions.KeptStep{Step: steps[i], ID: row.Job.ID})
	}
	return nil
}

// apart says which steps a request carries out itself.
func apart(s *functions.Shortcut, steps []functions.Step) (kept, others []functions.Step) {
	if s == nil || !s.Open {
		return nil, steps
	}
	for _, step := range steps {
		if stepargs.Shortens(step) {
			kept = append(kept, step)
		} else {
			others = append(others, step)
		}
	}
	return kept, others
}

// Settle takes away steps that were carried out, and gives the others to the workers at once.
func (q *Queue) Settle(ctx context.Context, carried, left []functions.KeptStep) error {
	for _, part := range []struct {
		sql   string
		steps []functions.KeptStep
	}{{carriedSQL, carried}, {letGoSQL, left}} {
		if len(part.steps) == 0 {
			continue
		}
		ids := make([]int64, 0, len(part.steps))
		for _, s := range part.steps {
			ids = append(ids, s.ID)
		}
		slices.Sort(ids)
		if _, err := q.pool.Exec(ctx, part.sql, ids); err != nil {
			return fmt.Errorf("settling steps that a request has carried out: %w", err)
		}
	}
	return nil
}
