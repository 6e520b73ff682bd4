// Package fleet is the room of machines: enrolment and approval of agents, agreements that their owners accepted, heartbeats with
// measurements, open sandboxes, switches that stop work, and servers that execute shards themselves.
//
// It writes agents, their memberships, instances, samples, acceptances, sandboxes, enrolment tokens, recheckers and kill switches, and renews
// leases with a heartbeat. It decides nothing about results, except by a pardon, which takes back what trust and dispatch hold against an agent.
package fleet

import (
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/waiting"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// Options are what an operator decides about agents.
type Options struct {
	// EULA is the agreement that agents must have accepted.
	EULA eula.Document
	// LeaseTTL is how long a lease lives without a heartbeat.
	LeaseTTL time.Duration
	// Names are the URLs by which agents may know this server. None: any.
	Names []string
	// TokensOnly refuses agents that have no enrolment token; otherwise they wait for approval.
	TokensOnly bool
	// Rechecker executes shards on the server; nil: other servers do, or none.
	Rechecker functions.Rechecker
	// Turns are the slots in which it does.
	Turns *recheck.Turns
}

// Service is the room.
type Service struct {
	env         *base.Env
	tenant      *tenant.Service
	registry    *registry.Service
	switchLooks *waiting.Looks[base.WatchedThing, KillStatus]
	eula        eula.Document
	leaseTTL    time.Duration
	names       []string
	tokensOnly  bool
	rechecker   functions.Rechecker
	turns       *recheck.Turns
}

// New makes the room.
func New(env *base.Env, projects *tenant.Service, uploads *registry.Service, o Options) *Service {
	s := &Service{
		env: env, tenant: projects, registry: uploads, eula: o.EULA, leaseTTL: o.LeaseTTL, names: origins(o.Names), tokensOnly: o.TokensOnly,
		rechecker: o.Rechecker, turns: o.Turns,
	}
	s.switchLooks = base.NewLooks(env.Waits, base.ChannelAgents, base.LookAgain, s.KillStatus)
	return s
}
