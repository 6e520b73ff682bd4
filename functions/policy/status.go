package policy

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/policy/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// GuardianStatus is how the guardian stands in a project, or for the installation.
type GuardianStatus struct {
	Version   int64              `json:"version" doc:"Grows with every change of rules and exceptions of this layer."`
	FourEyes  bool               `json:"four_eyes" doc:"Who asks for an approval may not give it."`
	Rules     []GuardianRule     `json:"rules" doc:"By layer and name."`
	Overrides []GuardianOverride `json:"overrides" doc:"That are in force."`
	Waiting   int                `json:"approvals_waiting"`
	Since     time.Time          `json:"since" doc:"From when decisions are counted."`
	Decisions []DecisionCount    `json:"decisions"`
}

// DecisionCount counts decisions.
type DecisionCount struct {
	Operation string    `json:"operation"`
	Decision  string    `json:"decision" enum:"allow,ask,deny"`
	Count     int64     `json:"count"`
	LastAt    time.Time `json:"last_at"`
}

const (
	// statusPeriod is over which time decisions are counted.
	statusPeriod = 24 * time.Hour
	// maxDecisionCounts is how many lines of counts are made at most: operations times verdicts are fewer.
	maxDecisionCounts = 200
)

// GuardianStatus says by which rules is decided, which exceptions are in force, how many approvals wait, and what was decided in a day.
func (s *Service) GuardianStatus(ctx context.Context, project uuid.UUID) (st GuardianStatus, err error) {
	if st.Rules, err = s.ListGuardianRules(ctx, project); err != nil {
		return st, err
	}
	st.Overrides = []GuardianOverride{}
	st.Since = s.now().Add(-statusPeriod)
	query := sql.CountDecisions
	if project == uuid.Nil {
		query = sql.CountServerDecisions
	}
	err = s.place(ctx, project, func(tx *store.Tx) error {
		h, _, err := store.One[head](ctx, tx, sql.PolicyHead)
		if err != nil {
			return err
		}
		st.Version, st.FourEyes = h.Version, h.FourEyes
		inForce, err := store.Many[overrideRow](ctx, tx, sql.OverridesInForce, s.now(), MaxOverrides)
		if err != nil {
			return err
		}
		for _, o := range inForce {
			st.Overrides = append(st.Overrides, o.shown(s.now()))
		}
		if st.Waiting, _, err = store.Value[int](ctx, tx, sql.CountWaiting, s.now()); err != nil {
			return err
		}
		st.Decisions, err = store.Many[DecisionCount](ctx, tx, query, st.Since, maxDecisionCounts)
		return err
	})
	return st, err
}
