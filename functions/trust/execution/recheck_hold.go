package execution

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// RecheckHoldFor is after how long the guardian is asked again about a job whose rechecks it holds, though no rule has changed: somebody may
// have said yes, or another server may have a stronger sandbox. It is short enough that nobody has to help, and long enough that a job which
// stays refused costs its project next to nothing.
const RecheckHoldFor = time.Minute

// Why the rechecks of a job are held, as job explain says it to programs.
const (
	// HeldByRule says that a rule denies them, or that they do not keep to a condition.
	HeldByRule = "recheck_refused"
	// HeldForApproval says that a rule wants somebody to say yes first.
	HeldForApproval = "recheck_approval"
	// HeldForIsolation says that this server's sandbox is weaker than a condition wants it.
	HeldForIsolation = "recheck_isolation"
	// HeldForVolume says that this server lacks a volume that the function wants, which another one has, or had.
	HeldForVolume = "recheck_volume"
)

// RecheckHold is why the server does not execute a job's shards for now.
type RecheckHold struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

// Error makes it what a transaction ends with that would have taken the shards up.
func (h *RecheckHold) Error() string { return "rechecks are held: " + h.Reason }

// holdUnless holds work that does not keep to conditions.
func (s *Service) holdUnless(c guardian.Conditions, work trust.RecheckWork) error {
	level := s.trust.MadeIn(work.Function.Manifest).Level
	if c.Isolation != "" && !level.AtLeast(bundle.Isolation(c.Isolation)) {
		return &RecheckHold{HeldForIsolation, fmt.Sprintf("a condition of the guardian wants isolation %s at least, and the server's sandbox is %s", c.Isolation, level)}
	}
	if name, has := fleet.HasVolumes(s.rechecker, work.Project, work.Function.Manifest.Volumes); !has {
		return &RecheckHold{HeldForVolume, fmt.Sprintf("this server has no volume %s as the function wants it: another one has, or had", name)}
	}
	planned := guardian.Planned{Limits: work.Function.Facts().Limits, Shards: work.Facts.Shards, Now: s.env.Now()}
	if broken := trust.Broken(c, planned, work.Policy); len(broken) > 0 {
		return &RecheckHold{HeldByRule, "a condition of the guardian does not hold: " + strings.Join(broken, "; ")}
	}
	return nil
}

// holdOf is the hold that follows from what a transaction has ended with; nil: none.
func holdOf(err error) *RecheckHold {
	var held *RecheckHold
	if errors.As(err, &held) {
		return held
	}
	refused := base.RefusalOf(err)
	if refused == nil {
		return nil
	}
	d := refused.Decision
	hold := &RecheckHold{HeldByRule, d.Reason}
	if d.Verdict == guardian.Ask {
		hold.Code = HeldForApproval
	}
	if d.Rule != nil {
		hold.Reason = fmt.Sprintf("rule %s of the layer %s, version %d: %s", d.Rule.Name, d.Rule.Layer, d.Rule.Version, d.Reason)
	}
	return hold
}

// holdJob gives a batch up whose job the guardian holds, notes why, and lets those of other jobs begin.
func (s *Service) holdJob(ctx context.Context, args stepargs.RecheckArgs, job uuid.UUID, h RecheckHold) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		return s.trust.LetNextBegin(ctx, tx, args.Project, func(held trust.HeldFunctions) error {
			if _, err := store.Exec(ctx, tx, sql.HoldRechecks, job, h.Code, h.Reason, RecheckHoldFor, held.Rules); err != nil {
				return err
			}
			if _, err := store.Exec(ctx, tx, sql.FreeRechecks, args.Batch); err != nil {
				return err
			}
			_, err := store.Exec(ctx, tx, sql.EndRecheckBatch, args.Batch)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("noting why rechecks of job %s are held: %w", job, err)
	}
	s.env.Log.Info("the guardian holds rechecks", "project", args.Project, "job", job, "code", h.Code, "why", h.Reason)
	return nil
}
