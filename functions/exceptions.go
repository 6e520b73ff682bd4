package functions

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// reasonException is the reason that says what the function raised.
const reasonException verify.ReasonCode = "exception"

type exceptionRow struct {
	Shard int64
	raisedText
}

// tellExceptions adds what the function raised to the reasons of shards that fail or need a person: a digest that agents agree on
// helps nobody to mend a function.
func (w *weighed) tellExceptions(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	var shards []int64
	for _, c := range w.changes {
		if c.state != c.was && (c.state == ShardFailed || c.state == ShardReview) {
			shards = append(shards, c.number)
		}
	}
	if len(shards) == 0 {
		return nil
	}
	raised, err := store.Many[exceptionRow](ctx, tx, store.ShardExceptions, job, shards)
	if err != nil {
		return err
	}
	for _, e := range raised {
		i := slices.IndexFunc(w.changes, func(c shardChange) bool { return c.number == e.Shard })
		w.changes[i].reasons = append(slices.Clip(w.changes[i].reasons), verify.Reason{Code: reasonException, Text: e.text()})
	}
	return nil
}
