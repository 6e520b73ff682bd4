package policy

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/policy/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

const (
	// MaxOverrideLife is how long an exception may last: one that is wanted for longer is a rule that is wrong.
	MaxOverrideLife = 31 * 24 * time.Hour
	// MaxOverrides is how many exceptions of a layer are in force at a time.
	MaxOverrides = 100
	// MaxOverrideSubject is the longest subject of one, in bytes.
	MaxOverrideSubject = 500
)

// GuardianOverride is an exception from a rule.
type GuardianOverride struct {
	ID        uuid.UUID  `json:"id"`
	Rule      string     `json:"rule" doc:"The rule that does not hold for it."`
	Kinds     []string   `json:"operations,omitempty" doc:"For which operations; left out: all."`
	Subject   string     `json:"subject,omitempty" doc:"For what they are done to; left out: anything."`
	Reason    string     `json:"reason"`
	CreatedBy string     `json:"created_by"`
	CreatedAt time.Time  `json:"created_at"`
	Until     time.Time  `json:"until" doc:"It ends by itself."`
	EndedBy   string     `json:"ended_by,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	InForce   bool       `json:"in_force"`
}

type overrideRow struct {
	ID        uuid.UUID
	Rule      string
	Kinds     []string
	Subject   string
	Reason    string
	CreatedBy string
	CreatedAt time.Time
	Until     time.Time
	EndedBy   *string
	EndedAt   *time.Time
}

// override is the row as what lifts a rule of its own layer, and of no other.
func (r overrideRow) override(layer guardian.Layer, project uuid.UUID) guardian.Override {
	o := guardian.Override{ID: r.ID.String(), Rule: r.Rule, Layer: layer, Subject: r.Subject, Reason: r.Reason, By: r.CreatedBy, From: r.CreatedAt, Until: r.Until}
	for _, k := range r.Kinds {
		o.Kinds = append(o.Kinds, guardian.Kind(k))
	}
	if project != uuid.Nil {
		o.Project = project.String()
	}
	return o
}

func (r overrideRow) shown(now time.Time) GuardianOverride {
	o := GuardianOverride{
		ID: r.ID, Rule: r.Rule, Kinds: r.Kinds, Subject: r.Subject, Reason: r.Reason, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, Until: r.Until,
		EndedAt: r.EndedAt, InForce: r.EndedAt == nil && now.Before(r.Until),
	}
	if r.EndedBy != nil {
		o.EndedBy = *r.EndedBy
	}
	return o
}

// NewOverride is an exception that is to be made.
type NewOverride struct {
	Rule    string
	Kinds   []string
	Subject string
	Reason  string
	For     time.Duration
}

func (n NewOverride) check() error {
	bad := func(message, hint string) error { return functions.Invalid("bad_override", message, hint) }
	for _, k := range n.Kinds {
		if _, known := guardian.Describe(guardian.Kind(k)); !known {
			return bad(fmt.Sprintf("there is no operation %.80q", k), "docs/guardian.md lists them")
		}
	}
	switch {
	case n.Rule == "":
		return bad("it names no rule", "name the rule that is not to hold: ostraka guardian rule list")
	case n.For <= 0 || n.For > MaxOverrideLife:
		return bad(fmt.Sprintf("it lasts %v", n.For), fmt.Sprintf("choose a time of at most %v; for longer change the rule", MaxOverrideLife))
	case len(n.Subject) > MaxOverrideSubject:
		return bad(fmt.Sprintf("its subject has %d bytes, at most %d are kept", len(n.Subject), MaxOverrideSubject), "name it as decisions do: ostraka audit list --action guardian.decide")
	}
	return functions.CheckResolutionReason(n.Reason)
}

// AddOverride makes an exception from a rule of the project, or, for the nil ID, of the operators.
func (s *Service) AddOverride(ctx context.Context, by functions.Principal, project uuid.UUID, n NewOverride, idem functions.Idempotency) (o GuardianOverride, replayed bool, err error) {
	if err := n.check(); err != nil {
		return o, false, err
	}
	id, now := base.NewID(), s.now()
	err = s.place(ctx, project, func(tx *store.Tx) error {
		if id, replayed, err = base.RememberInProject(ctx, tx, project, "guardian-override", idem, id); err != nil || replayed {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.LockPolicy); err != nil {
			return err
		}
		rule, found, err := store.One[ruleRow](ctx, tx, sql.LockRule, n.Rule)
		if err != nil {
			return err
		}
		if !found || rule.Spec == nil {
			return functions.NotFound("guardian rule", n.Rule)
		}
		facts := guardian.OverrideFacts{Override: guardian.ChangedOverride{Rule: n.Rule, Kinds: n.Kinds, Subject: n.Subject, Reason: n.Reason, LifetimeSeconds: int64(n.For.Seconds())}}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.OverrideGrant, Subject: n.Rule, Facts: facts}); err != nil {
			return err
		}
		return addOverride(ctx, tx, id, by, n, now)
	})
	if err != nil {
		return o, false, err
	}
	o, err = s.GetOverride(ctx, project, id)
	return o, replayed, err
}

func addOverride(ctx context.Context, tx *store.Tx, id uuid.UUID, by functions.Principal, n NewOverride, now time.Time) error {
	count, _, err := store.Value[int](ctx, tx, sql.CountOverrides, now)
	if err != nil {
		return err
	}
	if count >= MaxOverrides {
		return &functions.Error{Kind: functions.KindConflict, Code: "too_many_overrides", Message: fmt.Sprintf("%d exceptions are in force, and no more are kept", count), Hint: "end some of them: ostraka guardian override list"}
	}
	kinds := append([]string{}, n.Kinds...)
	if _, err := store.Exec(ctx, tx, sql.AddOverride, id, n.Rule, kinds, n.Subject, n.Reason, by.Actor(), now, now.Add(n.For)); err != nil {
		return err
	}
	return touch(ctx, tx)
}

// GetOverride returns one.
func (s *Service) GetOverride(ctx context.Context, project, id uuid.UUID) (o GuardianOverride, err error) {
	err = s.place(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[overrideRow](ctx, tx, sql.GetOverride, id)
		if err != nil || !found {
			return base.OrNotFound(err, "override", id)
		}
		o = row.shown(s.now())
		return nil
	})
	return o, err
}

// ListOverrides lists exceptions, those that have ended too.
func (s *Service) ListOverrides(ctx context.Context, project uuid.UUID, page functions.ListPage) (list []GuardianOverride, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.place(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[overrideRow](ctx, tx, sql.ListOverrides, after, base.PageLimit(page))
		for _, r := range rows {
			list = append(list, r.shown(s.now()))
		}
		return err
	})
	return list, err
}

// EndOverride ends an exception before its time. Ending one twice is harmless.
func (s *Service) EndOverride(ctx context.Context, by functions.Principal, project, id uuid.UUID) error {
	return s.place(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[overrideRow](ctx, tx, sql.GetOverride, id)
		if err != nil || !found {
			return base.OrNotFound(err, "override", id)
		}
		if !row.shown(s.now()).InForce {
			return nil
		}
		facts := guardian.OverrideFacts{Override: guardian.ChangedOverride{ID: id.String(), Rule: row.Rule, Kinds: row.Kinds, Subject: row.Subject, Reason: row.Reason, Until: row.Until}}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.OverrideEnd, Subject: id.String(), Facts: facts}); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.EndOverride, id, by.Actor()); err != nil {
			return err
		}
		return touch(ctx, tx)
	})
}
