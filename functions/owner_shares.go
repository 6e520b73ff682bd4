package functions

import (
	"context"

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
