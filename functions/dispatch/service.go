// Package dispatch is the room of leases: which job's turn it is, which owner is drawn for a shard, how much an agent may hold, and what
// comes back: results with their signatures, outputs, artifacts, refusals, and leases that expire.
//
// It writes leases, lease cursors, submissions, attempts of agents, turns and refusals. It checks what it stores but does not believe it: trust weighs
// it in a step of its own. Lock order: the lease, then its shards.
package dispatch

import (
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/waiting"
)

// Options are what an operator decides about leases.
type Options struct {
	// LeaseTTL is how long a lease lives without a heartbeat.
	LeaseTTL time.Duration
	// FirstLoan is how many shards of a job an agent may hold that has brought nothing back.
	FirstLoan int64
	// ShareWait is how long an owner that has leased the stated share of a job waits for idle others; less than 0: it
	// does not wait, and shards are leased in the order of their numbers, first come, first served.
	ShareWait time.Duration
}

// Service is the room.
type Service struct {
	env       *base.Env
	registry  *registry.Service
	fleet     *fleet.Service
	jobs      *jobs.Service
	trust     *trust.Service
	workLines *waiting.Lines[uuid.UUID] // of agents, by project
	undrawn   *undrawn
	refused   refusedCounts
	schemas   outputSchemas
	leaseTTL  time.Duration
	firstLoan int64
	shareWait time.Duration
}

// New makes the room.
func New(env *base.Env, uploads *registry.Service, agents *fleet.Service, all *jobs.Service, results *trust.Service, o Options) *Service {
	s := &Service{
		env: env, registry: uploads, fleet: agents, jobs: all, trust: results, undrawn: newUndrawn(), leaseTTL: o.LeaseTTL, firstLoan: o.FirstLoan,
		shareWait: o.ShareWait,
	}
	s.workLines = base.NewLines(env.Waits, base.ChannelWork, env.Log, s.lendable)
	return s
}
