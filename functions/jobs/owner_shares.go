package jobs

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// MaxShownOwners is how many owners a job names beside their shares of its results.
const MaxShownOwners = 5

// readOwnerShares is nil where the policy believes anybody, or nothing was brought yet.
func readOwnerShares(ctx context.Context, tx *store.Tx, j functions.Job, id uuid.UUID) (*functions.OwnerShares, error) {
	type row struct {
		Owner   string
		Agents  int64
		Results int64
		All     int64
		Owners  int64
	}
	if j.Policy.None {
		return nil, nil //nolint:nilnil // there is none, as said
	}
	rows, err := store.Many[row](ctx, tx, sql.OwnerShares, id, MaxShownOwners)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	o := &functions.OwnerShares{Owners: rows[0].Owners, Results: rows[0].All, Stated: j.Policy.Stated()}
	for _, r := range rows {
		o.Largest = append(o.Largest, functions.OwnerShare{Owner: r.Owner, Agents: r.Agents, Results: r.Results, Share: float64(r.Results) / float64(r.All)})
	}
	o.Above = o.Largest[0].Share > o.Stated
	if j.Policy.TargetError > 0 {
		o.ErrorBound = verify.Derive(j.Policy).StandsAt(o.Largest[0].Share)
	}
	return o, nil
}

// weakens says whether the bound that holds with these shares is weaker than the one that was asked for. It is not where one owner gave all: whatever
// it does by itself is within the target.
func weakens(o *functions.OwnerShares, p verify.Policy) bool {
	return o != nil && o.ErrorBound > p.TargetError
}

// reportShare flags a job that ends with more of one owner's results than its policy assumes to be hostile, where that makes its bound weaker. While
// it runs shares change with every submission.
func reportShare(ctx context.Context, tx *store.Tx, job functions.Job) error {
	o, err := readOwnerShares(ctx, tx, job, job.ID)
	if err != nil || !weakens(o, job.Policy) {
		return err
	}
	return flag.Raise(ctx, tx, flag.Mark{Kind: flag.FlagShare, Job: job.ID, Decision: string(functions.ShardAccepted), Detail: map[string]any{
		"owner": o.Largest[0].Owner, "share": o.Largest[0].Share, "stated": o.Stated, "target_error": job.Policy.TargetError, "error_bound": o.ErrorBound,
		"reason": fmt.Sprintf("%s brought %.3g %% of the results, and the policy assumes that no more than %.3g %% are hostile: whatever it does by itself, at most %.3g of the results are wrong, and %.3g where others with %.3g %% are hostile too",
			o.Largest[0].Owner, 100*o.Largest[0].Share, 100*o.Stated, job.Policy.TargetError, o.ErrorBound, 100*o.Stated),
	}})
}
