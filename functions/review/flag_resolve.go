package review

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/review/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
)

// MaxResolveAll is how many shards one decision about all that wait settles: one transaction holds their locks. The flag stays open
// until none is left.
const MaxResolveAll = 4096

// FlagResolution is a person's decision about a flag.
type FlagResolution struct {
	Decision string // accept, reject, rerun, recheck or dismiss
	Digest   string // of the group to accept
	Reason   string // required
}

// errNoRecheck says that this server cannot execute shards.
var errNoRecheck = &functions.Error{
	Kind: functions.KindUnavailable, Code: "no_recheck", Message: "no server of this installation executes shards itself",
	Hint: "start one with a recheck sandbox, or decide otherwise: accept a group, rerun or reject",
}

// ResolveFlag carries out a decision about a flag that is as the caller has read it. The same decision again is harmless.
func (s *Service) ResolveFlag(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64, r FlagResolution) (FlagDetail, error) {
	if err := functions.CheckResolutionReason(r.Reason); err != nil {
		return FlagDetail{}, err
	}
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		row, err := getFlag(ctx, tx, id)
		if err != nil {
			return err
		}
		if row.decidedLike(by, revision, r) {
			return nil
		}
		if row.Revision != revision {
			return functions.ErrRevision
		}
		facts := guardian.DecisionFacts{Decision: guardian.Decided{About: "flag", Verdict: r.Decision, Reason: r.Reason, Job: idOf(row.JobID)}}
		if row.FunctionName != nil {
			facts.Decision.Function = *row.FunctionName
		}
		intent := base.Intent{By: by, Project: project, Kind: guardian.FlagResolve, Subject: id.String(), Facts: facts, Asked: flagAsked{Digest: r.Digest, Revision: revision}}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		return s.resolveFlag(ctx, tx, project, by, row, r)
	})
	if err != nil {
		return FlagDetail{}, err
	}
	return s.GetFlag(ctx, project, id)
}

// flagAsked is what is decided about a flag beyond the verdict: for which group, and about the flag as it was read.
type flagAsked struct {
	Digest   string `json:"digest,omitempty"`
	Revision int64  `json:"revision"`
}

// idOf is an ID as a text, empty where there is none.
func idOf(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// decidedLike says whether the flag was decided like that by the same key: an answer was lost.
func (r flagRow) decidedLike(by functions.Principal, revision int64, want FlagResolution) bool {
	return r.ResolvedAt != nil && r.Revision == revision+1 && r.ResolvedBy == by.Actor() &&
		r.Resolution == want.Decision && r.Digest == want.Digest && r.Reason == want.Reason
}

// resolveFlag locks shards, pages and the job before the flag, as every step does.
func (s *Service) resolveFlag(ctx context.Context, tx *store.Tx, project uuid.UUID, by functions.Principal, row flagDetailRow, r FlagResolution) error {
	done, err := s.carryOut(ctx, tx, project, by, row, r)
	if err != nil {
		return err
	}
	if row.JobID != nil {
		if err := addFlagEvent(ctx, tx, row.flag(), r, done.shards); err != nil {
			return err
		}
	}
	detail := map[string]any{"kind": row.Kind, "job": row.JobID, "shard": row.Shard, "decision": r.Decision, "digest": r.Digest, "reason": r.Reason, "shards": done.shards}
	if err := base.Audit(ctx, tx, by.Actor(), "flag.resolve", row.ID.String(), detail); err != nil {
		return err
	}
	if !done.left {
		n, err := store.Exec(ctx, tx, sql.ResolveFlag, row.ID, row.Revision, by.Actor(), r.Decision, r.Digest, r.Reason)
		if err != nil {
			return err
		}
		if n == 0 {
			return functions.ErrRevision
		}
	}
	return s.env.Enqueue(ctx, tx, done.steps...)
}

// addFlagEvent tells of a decision. It locks the job, after which the flag may be written.
func addFlagEvent(ctx context.Context, tx *store.Tx, f Flag, r FlagResolution, shards int) error {
	data := map[string]any{"flag": f.ID, "kind": f.Kind, "decision": r.Decision, "shards": shards}
	if f.Shard != nil {
		data["shard"] = *f.Shard
	}
	return base.AddEvent(ctx, tx, *f.Job, base.EventFlagResolved, data)
}

// carriedOut is what came of a decision.
type carriedOut struct {
	shards int
	left   bool // there are more shards than one decision settles
	steps  []functions.Step
}

// carryOut does what was decided to the shards that it is about.
func (s *Service) carryOut(ctx context.Context, tx *store.Tx, project uuid.UUID, by functions.Principal, row flagDetailRow, r FlagResolution) (done carriedOut, err error) {
	d := FlagDetail{Flag: row.flag()}
	var job functions.JobState
	if d.Job != nil {
		if job, _, err = store.Value[functions.JobState](ctx, tx, store.GetJobState, *d.Job); err != nil {
			return done, err
		}
	}
	if d.Job != nil && d.Shard != nil {
		shard, err := lockedShard(ctx, tx, *d.Job, *d.Shard)
		if err != nil {
			return done, err
		}
		d.Item = &FlagItem{Shard: shard.Shard, Groups: groupAnswers(shard.Attempts)}
	}
	if err := mayDecide(d, job, r.Decision); err != nil {
		return done, err
	}
	switch r.Decision {
	case FlagDismiss:
		return done, nil
	case FlagPardon:
		return done, fleet.Pardon(ctx, tx, project, by, *d.Agent, fleet.DecidedFlag{ID: d.ID, Job: d.Job}, r.Reason)
	case FlagRecheck:
		steps, err := s.askRecheck(ctx, tx, project, by, d.Flag, r)
		return carriedOut{shards: 1, steps: steps}, err
	}
	numbers, left, err := shardsOf(ctx, tx, d.Flag)
	if err != nil {
		return done, err
	}
	decision := map[string]string{FlagAccept: ResolveAccept, FlagReject: ResolveFail, FlagRerun: ResolveRetry}[r.Decision]
	steps, err := resolveShards(ctx, tx, project, by, *d.Job, numbers, d.ID, Resolution{Decision: decision, Digest: r.Digest, Reason: r.Reason})
	return carriedOut{shards: len(numbers), left: left, steps: steps}, err
}

// askRecheck opens a shard in review for the server, whose answer decides.
func (s *Service) askRecheck(ctx context.Context, tx *store.Tx, project uuid.UUID, by functions.Principal, f Flag, r FlagResolution) ([]functions.Step, error) {
	terms, err := s.trust.AuditTerms(ctx, tx, project, *f.Job, verify.Policy{Recheck: verify.RecheckAll})
	if err != nil {
		return nil, err
	}
	if !terms.Rechecks {
		return nil, errNoRecheck
	}
	shard := []int64{*f.Shard}
	steps, err := resolveShards(ctx, tx, project, by, *f.Job, shard, f.ID, Resolution{Decision: resolveRecheck, Reason: r.Reason})
	if err != nil {
		return nil, err
	}
	if _, err := store.Exec(ctx, tx, store.AskRechecks, *f.Job, shard, "person", trust.LongWallSeconds); err != nil {
		return nil, err
	}
	if _, err := store.Exec(ctx, tx, store.GateRechecks); err != nil {
		return nil, err
	}
	batch, err := trust.NextBatch(ctx, tx, project, trust.HeldFunctions{})
	return append(steps, batch...), err
}

// shardsOf are the shards that a flag is about: its own, or as many of all that wait as one decision settles.
func shardsOf(ctx context.Context, tx *store.Tx, f Flag) (numbers []int64, left bool, err error) {
	if f.Shard != nil {
		return []int64{*f.Shard}, false, nil
	}
	numbers, err = store.Values[int64](ctx, tx, sql.ShardsInReview, *f.Job, MaxResolveAll+1)
	return numbers[:min(len(numbers), MaxResolveAll)], len(numbers) > MaxResolveAll, err
}

// lockedShard reads a shard and locks it until the transaction ends.
func lockedShard(ctx context.Context, tx *store.Tx, job uuid.UUID, number int64) (functions.ShardDetail, error) {
	if _, err := store.Many[trust.ShardRow](ctx, tx, store.LockShards, job, []int64{number}); err != nil {
		return functions.ShardDetail{}, err
	}
	return jobs.GetShard(ctx, tx, job, number)
}
