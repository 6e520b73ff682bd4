// Package workflow is the room of workflows: steps that belong together, versioned as one, and the runs of them.
//
// It writes workflows, their versions, runs and the outcomes of their steps. It asks submit to make jobs and rules, jobs to stop them,
// aggregation to fold results again and the answers of several jobs, and trust to hold wrong results against agents.
package workflow

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// Service is the room.
type Service struct {
	env         *base.Env
	registry    *registry.Service
	jobs        *jobs.Service
	submit      *submit.Service
	aggregation *aggregation.Service
	trust       *trust.Service
	schedules   SyncSchedules
}

// SyncSchedules has a workflow have these schedules, and no others: the last thing of a transaction, since it leaves the project's role. What
// it makes anew is paused where paused says so.
type SyncSchedules func(ctx context.Context, tx *store.Tx, by functions.Principal, project, workflow uuid.UUID, name string, list []graph.Schedule, paused bool) error

// SyncSchedulesWith says who keeps the schedules of folders: a room that starts runs here, and so comes after this one.
func (s *Service) SyncSchedulesWith(sync SyncSchedules) { s.schedules = sync }

// Rooms are those that workflows ask.
type Rooms struct {
	Registry    *registry.Service
	Jobs        *jobs.Service
	Submit      *submit.Service
	Aggregation *aggregation.Service
	Trust       *trust.Service
}

// New makes the room.
func New(env *base.Env, r Rooms) *Service {
	return &Service{env: env, registry: r.Registry, jobs: r.Jobs, submit: r.Submit, aggregation: r.Aggregation, trust: r.Trust}
}
