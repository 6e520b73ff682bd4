// Package bulk is the room of bulk actions: one thing that is done to many flags, jobs or agents, one after the other.
//
// It writes bulk actions and what became of each of their items. What is done to an item is done by the room that it belongs to, which asks
// the guardian and writes the audit log as if somebody had asked for that one alone.
package bulk

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/review"
)

// Doers are the rooms that do one thing to one item. Doing it again must be harmless: an item that was cut off is done again.
type Doers interface {
	GetFlag(ctx context.Context, project, id uuid.UUID) (review.FlagDetail, error)
	ResolveFlag(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64, r review.FlagResolution) (review.FlagDetail, error)
	CancelJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.Job, error)
	DeleteJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.Job, error)
	ArchiveJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.JobArchive, error)
	AdmitAgentAsSeen(ctx context.Context, by functions.Principal, project, id uuid.UUID, seen fleet.Seen, reason string) (fleet.ProjectAgent, error)
	RestoreAgentAsSeen(ctx context.Context, by functions.Principal, project, id uuid.UUID, seen fleet.Seen, reason string) (fleet.ProjectAgent, error)
	ExcludeAgentAsSeen(ctx context.Context, by functions.Principal, project, id uuid.UUID, seen fleet.Seen, reason string) (fleet.ProjectAgent, error)
	DecideAgentAsSeen(ctx context.Context, by functions.Principal, id uuid.UUID, action fleet.AgentAction, seen fleet.Seen, reason string) (fleet.Agent, error)
}

// Service is the room.
type Service struct {
	env   *base.Env
	doers Doers
}

// New makes the room.
func New(env *base.Env, d Doers) *Service { return &Service{env: env, doers: d} }
