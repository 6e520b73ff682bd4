// Package submit is the room where jobs begin: it plans the cost of a job, checks and submits requests, and starts
// further jobs by a project's rules when one has ended.
//
// It writes rules and their decisions, and makes jobs.
package submit

import (
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/trust"
)

// Service is the room.
type Service struct {
	env          *base.Env
	tenant       *tenant.Service
	registry     *registry.Service
	fleet        *fleet.Service
	jobs         *jobs.Service
	trust        *trust.Service
	heuristics   *heuristics.Service
	followupsOff bool
	atOnce       bool
}

// Rooms are those that a submission asks.
type Rooms struct {
	Tenant     *tenant.Service
	Registry   *registry.Service
	Fleet      *fleet.Service
	Jobs       *jobs.Service
	Trust      *trust.Service
	Heuristics *heuristics.Service
}

// Options of the room.
type Options struct {
	// FollowupsOff switches follow-up jobs off for the whole installation.
	FollowupsOff bool
	// AtOnce has the request that submits a small job make its shards. Otherwise workers do.
	AtOnce bool
}

// New makes the room.
func New(env *base.Env, r Rooms, o Options) *Service {
	return &Service{
		env: env, tenant: r.Tenant, registry: r.Registry, fleet: r.Fleet, jobs: r.Jobs, trust: r.Trust, heuristics: r.Heuristics,
		followupsOff: o.FollowupsOff, atOnce: o.AtOnce,
	}
}
