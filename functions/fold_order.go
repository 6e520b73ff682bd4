package functions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
)

// pinnedHeuristic is a heuristic of a policy with what pins it.
type pinnedHeuristic struct {
	HeuristicUse
	digest string
	key    string // of its scores: another module, other parameters or other findings to be kept score again
}

// pinnedRef is the heuristic as a step uses it.
func pinnedRef(r HeuristicRef) pinnedHeuristic {
	return pinned(HeuristicUse{Module: r.Module, On: OnResults, Params: r.Params, Rules: r.Rules}, r.Digest)
}

// scoreFirst has pages scored that are to be folded: before, where a finding may take back what would be folded, else beside it.
func scoreFirst(ctx context.Context, tx *store.Tx, job uuid.UUID, folds []Step) (steps []Step, err error) {
	if len(folds) == 0 {
		return nil, nil
	}
	heuristics, _, err := store.Value[[]HeuristicRef](ctx, tx, store.JobHeuristics, job)
	if err != nil || len(heuristics) == 0 {
		return folds, err
	}
	for _, f := range folds {
		fold, is := f.(AggregateArgs)
		if is {
			steps = append(steps, ScoreResultsArgs{Project: fold.Project, Job: fold.Job, Page: fold.Page})
		}
		if !is || !holdFolds(heuristics) {
			steps = append(steps, f)
		}
	}
	return steps, nil
}

// holdFolds says whether a finding may lead to more than words, so that pages are folded when they have been scored.
func holdFolds(heuristics []HeuristicRef) bool {
	return slices.ContainsFunc(heuristics, func(h HeuristicRef) bool {
		u := pinnedRef(h)
		return u.does(DoRecheck) || u.does(DoReview)
	})
}

// pinned is a heuristic with the digest that pins it.
func pinned(u HeuristicUse, digest string) pinnedHeuristic {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %g %s", digest, u.lowest(), u.Params))
	return pinnedHeuristic{u, digest, hex.EncodeToString(sum[:])}
}
