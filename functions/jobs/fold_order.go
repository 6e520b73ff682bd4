package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// PinnedHeuristic is a heuristic of a policy with what pins it.
type PinnedHeuristic struct {
	functions.HeuristicUse
	Digest string
	Key    string // of its scores: another module, other parameters or other findings to be kept score again
}

// PinRef is the heuristic as a step uses it.
func PinRef(r functions.HeuristicRef) PinnedHeuristic {
	return Pin(functions.HeuristicUse{Module: r.Module, On: functions.OnResults, Params: r.Params, Rules: r.Rules}, r.Digest)
}

// ScoreFirst has pages scored that are to be folded: before, where a finding may take back what would be folded, else beside it.
func ScoreFirst(ctx context.Context, tx *store.Tx, job uuid.UUID, folds []functions.Step) (steps []functions.Step, err error) {
	if len(folds) == 0 {
		return nil, nil
	}
	heuristics, _, err := store.Value[[]functions.HeuristicRef](ctx, tx, sql.JobHeuristics, job)
	if err != nil || len(heuristics) == 0 {
		return folds, err
	}
	for _, f := range folds {
		fold, is := f.(stepargs.AggregateArgs)
		if is {
			steps = append(steps, stepargs.ScoreResultsArgs{Project: fold.Project, Job: fold.Job, Page: fold.Page})
		}
		if !is || !HoldFolds(heuristics) {
			steps = append(steps, f)
		}
	}
	return steps, nil
}

// HoldFolds says whether a finding may lead to more than words, so that pages are folded when they have been scored.
func HoldFolds(heuristics []functions.HeuristicRef) bool {
	return slices.ContainsFunc(heuristics, func(h functions.HeuristicRef) bool {
		u := PinRef(h)
		return u.Does(functions.DoRecheck) || u.Does(functions.DoReview)
	})
}

// Pin is a heuristic with the digest that pins it.
func Pin(u functions.HeuristicUse, digest string) PinnedHeuristic {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %g %s", digest, u.Lowest(), u.Params))
	return PinnedHeuristic{u, digest, hex.EncodeToString(sum[:])}
}
