package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// ListAgents lists all agents in the order of their IDs, or those in one state.
func (s *Service) ListAgents(ctx context.Context, state AgentState, page functions.ListPage) ([]Agent, error) {
	rows, err := base.ListControl[agentRow](ctx, s.env, sql.ListAgents, page, state)
	list := make([]Agent, len(rows))
	for i, r := range rows {
		list[i] = r.agent()
	}
	return list, err
}

// GetAgent returns one agent.
func (s *Service) GetAgent(ctx context.Context, id uuid.UUID) (a Agent, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		a, err = getAgent(ctx, tx, id)
		return err
	})
	return a, err
}

func getAgent(ctx context.Context, tx store.DB, id uuid.UUID) (Agent, error) {
	row, found, err := store.One[agentRow](ctx, tx, sql.GetAgent, id)
	if err != nil || !found {
		return Agent{}, base.OrNotFound(err, "agent", id)
	}
	return row.agent(), nil
}

// memberRow is an agent as one project sees it.
type memberRow struct {
	agentRow
	MemberOwner  string
	Excluded     bool
	MemberReason string
}

// member leaves out what is none of a project's business: how its owner's machine is.
func (r memberRow) member(project uuid.UUID) ProjectAgent {
	a := ProjectAgent{Agent: r.agent(), Excluded: r.Excluded, ExcludedReason: r.MemberReason}
	a.Host, a.Projects, a.Volumes = nil, nil, volumesFor(a.Volumes, project)
	a.Owner = r.MemberOwner
	return a
}

// ListProjectAgents lists the agents of a project with the evidence about them.
func (s *Service) ListProjectAgents(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]ProjectAgent, error) {
	return s.projectAgents(ctx, project, nil, page)
}

// GetProjectAgent returns one agent of a project.
func (s *Service) GetProjectAgent(ctx context.Context, project, id uuid.UUID) (ProjectAgent, error) {
	list, err := s.projectAgents(ctx, project, &id, functions.ListPage{Limit: 1})
	if err != nil || len(list) == 0 {
		return ProjectAgent{}, base.OrNotFound(err, "agent", id)
	}
	return list[0], nil
}

func (s *Service) projectAgents(ctx context.Context, project uuid.UUID, only *uuid.UUID, page functions.ListPage) ([]ProjectAgent, error) {
	agents, err := base.ListControl[memberRow](ctx, s.env, sql.ListProjectAgents, page, project, only)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(agents))
	list := make([]ProjectAgent, len(agents))
	for i, a := range agents {
		ids[i], list[i] = a.ID, a.member(project)
	}
	type evidence struct {
		AgentID  uuid.UUID
		Passed   int64
		Failed   int64
		CaughtAt *time.Time
		Reason   string

		AuditsPassed, AuditsFailed, SinceFailure int64
		LastFailedAt                             *time.Time
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[evidence](ctx, tx, sql.ListEvidence, ids)
		for _, r := range rows {
			for i := range list {
				if list[i].ID == r.AgentID {
					list[i].Passed, list[i].Failed, list[i].CaughtAt, list[i].Reason = r.Passed, r.Failed, r.CaughtAt, r.Reason
					list[i].AuditsPassed, list[i].AuditsFailed, list[i].SinceFailure, list[i].LastFailedAt = r.AuditsPassed, r.AuditsFailed, r.SinceFailure, r.LastFailedAt
				}
			}
		}
		if err != nil {
			return err
		}
		return judgeOwners(ctx, tx, list)
	})
	return list, err
}

// judgeOwners says of each agent what its owner's other agents come to for it: they have one probation, and are caught together.
func judgeOwners(ctx context.Context, tx *store.Tx, list []ProjectAgent) error {
	owners := make([]string, len(list))
	for i, a := range list {
		owners[i] = a.Owner
	}
	kin, err := owner.ReadKin(ctx, tx, owners...)
	for i := range list {
		a, of := &list[i], kin[list[i].Owner]
		a.Probation = verify.Evidence{SinceFailure: a.SinceFailure}.Among(of.Evidence()).OnProbation()
		if why, caught := of.WhyCaught(); caught && a.CaughtAt == nil {
			a.CaughtAt, a.Reason = of.CaughtAt, why+": it is lent nothing until one of them is pardoned"
		}
	}
	return err
}

// AgentRefusal is why an agent does not take a job's function.
type AgentRefusal struct {
	AgentID uuid.UUID
	Code    string
	Reason  string
}

// SeenAgent is what a waiting request of an agent is about.
type SeenAgent struct {
	State            AgentState
	StateReason      string
	EULADigest       []byte `db:"eula_digest"`
	DuplicateAt      *time.Time
	DuplicateAddress string
	Projects         []uuid.UUID // that may have work for it
}

// SeeAgent notes that the agent was heard of.
func (s *Service) SeeAgent(ctx context.Context, id uuid.UUID) (SeenAgent, error) {
	me, found, err := store.One[SeenAgent](ctx, s.env.Store.Pool, sql.SeeAgent, id)
	if err != nil || !found {
		return me, base.Translate(base.OrNotFound(err, "agent", id), uuid.Nil)
	}
	return me, nil
}
