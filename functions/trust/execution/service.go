// Package execution is the part of the room trust in which the server executes shards: it takes a batch up behind the project's gate, asks the
// guardian, runs it in the server's own sandbox while no transaction is open, and hands over to trust what came out.
//
// It stands above trust, whose queries it uses. Trust decides what is to be executed and what a run means; here stands only how runs share
// the machine. A run that does not happen is never a verdict.
package execution

import (
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// Options say in what the server executes shards, and for how long at a time.
type Options struct {
	// Rechecker executes shards on the server; nil: other servers do, or none.
	Rechecker functions.Rechecker
	// Turns are the slots in which it does, and Slice is how long a batch keeps one while others wait.
	Turns *recheck.Turns
	Slice time.Duration
}

// Service executes shards.
type Service struct {
	env          *base.Env
	registry     *registry.Service
	trust        *trust.Service
	rechecker    functions.Rechecker
	turns        *recheck.Turns
	recheckSlice time.Duration
}

// New makes it.
func New(env *base.Env, code *registry.Service, verdicts *trust.Service, o Options) *Service {
	return &Service{env: env, registry: code, trust: verdicts, rechecker: o.Rechecker, turns: o.Turns, recheckSlice: o.Slice}
}
