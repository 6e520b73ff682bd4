package trust

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// reasonException is the reason that says what the function raised.
const reasonException verify.ReasonCode = "exception"

type exceptionRow struct {
	Shard int64
	jobs.RaisedText
}

// tellExceptions adds what the function raised to the reasons of shards that fail or need a person: a digest that agents agree on
// helps nobody to fix a function.
func (w *Weighed) tellExceptions(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	var shards []int64
	for _, c := range w.Changes {
		if c.State != c.Was && (c.State == functions.ShardFailed || c.State == functions.ShardReview) {
			shards = append(shards, c.Number)
		}
	}
	if len(shards) == 0 {
		return nil
	}
	raised, err := store.Many[exceptionRow](ctx, tx, sql.ShardExceptions, job, shards)
	if err != nil {
		return err
	}
	for _, e := range raised {
		i := slices.IndexFunc(w.Changes, func(c jobs.ShardChange) bool { return c.Number == e.Shard })
		w.Changes[i].Reasons = append(slices.Clip(w.Changes[i].Reasons), verify.Reason{Code: reasonException, Text: e.Text()})
	}
	return nil
}
