package functions

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// MaxShownOwners is how many owners a job names beside their shares of its results.
const MaxShownOwners = 5

// OwnerShares says whose results a job has, and what its bound is worth by that.
type OwnerShares struct {
	Owners  int64        `json:"owners" doc:"Owners whose agents have brought results."`
	Results int64        `json:"results" doc:"Results that they have brought, whatever became of them."`
	Largest []OwnerShare `json:"largest" doc:"The owners that brought most, at most five."`
	Stated  float64      `json:"stated" doc:"The share of hostile results against which the policy is kept: no owner should have more."`
	Above   bool         `json:"above" doc:"One owner has brought more than the stated share."`
	// ErrorBound is what the target error comes to with these shares.
	ErrorBound float64 `json:"error_bound,omitempty" doc:"With a target error: the largest share of wrong results that is to be expected when any one owner is hostile, whatever its share, and others besides that have the stated share together. The target error itself, as long as no owner has more than the stated share."`
}

// OwnerShare is one owner's part of a job's results.
type OwnerShare struct {
	Owner   string  `json:"owner" doc:"Whose agents they are, or which agent where it has no owner."`
	Agents  int64   `json:"agents"`
	Results int64   `json:"results"`
	Share   float64 `json:"share"`
}

// ownerShares is nil where the policy believes anybody, or nothing was brought yet.
func (j Job) ownerShares(ctx context.Context, tx *store.Tx, id uuid.UUID) (*OwnerShares, error) {
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
	rows, err := store.Many[row](ctx, tx, store.OwnerShares, id, MaxShownOwners)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	o := &OwnerShares{Owners: rows[0].Owners, Results: rows[0].All, Stated: j.Policy.Stated()}
	for _, r := range rows {
		o.Largest = append(o.Largest, OwnerShare{Owner: r.Owner, Agents: r.Agents, Results: r.Results, Share: float64(r.Results) / float64(r.All)})
	}
	o.Above = o.Largest[0].Share > o.Stated
	if j.Policy.TargetError > 0 {
		o.ErrorBound = verify.Derive(j.Policy).StandsAt(o.Largest[0].Share)
	}
	return o, nil
}

// weaker says whether the bound that holds with these shares is weaker than the one that was asked for. It is not where one owner gave all: whatever
// it does by itself is within the target.
func (o *OwnerShares) weaker(p verify.Policy) bool { return o != nil && o.ErrorBound > p.TargetError }

// reportShare flags a job that ends with more of one owner's results than its policy assumes to be hostile, where that makes its bound weaker. While
// it runs shares change with every submission.
func reportShare(ctx context.Context, tx *store.Tx, job Job) error {
	o, err := job.ownerShares(ctx, tx, job.ID)
	if err != nil || !o.weaker(job.Policy) {
		return err
	}
	return raiseFlags(ctx, tx, Mark{Kind: FlagShare, Job: job.ID, Decision: string(ShardAccepted), Detail: map[string]any{
		"owner": o.Largest[0].Owner, "share": o.Largest[0].Share, "stated": o.Stated, "target_error": job.Policy.TargetError, "error_bound": o.ErrorBound,
		"reason": fmt.Sprintf("%s brought %.3g %% of the results, and the policy assumes that no more than %.3g %% are hostile: whatever it does by itself, at most %.3g of the results are wrong, and %.3g where others with %.3g %% are hostile too",
			o.Largest[0].Owner, 100*o.Largest[0].Share, 100*o.Stated, job.Policy.TargetError, o.ErrorBound, 100*o.Stated),
	}})
}
