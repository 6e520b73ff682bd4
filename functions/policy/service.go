// Package policy is the room of the guardian: the rules of projects and of operators, exceptions from them, requests that
// wait for a person's yes, and the decision about every operation before it happens.
//
// It writes rules with their versions, overrides and approvals, in each project's schema and for the installation in the control schema,
// and admits jobs that waited for an approval to dispatch. The decisions themselves are records of the audit log, which base writes.
package policy

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/guardian"
)

// Service is the room.
type Service struct {
	env     *base.Env
	jobs    *jobs.Service
	builtin []*guardian.Compiled
	now     func() time.Time

	mu     sync.Mutex
	layers map[uuid.UUID]*layer // of projects with rules, and under the nil ID that of the operators
	told   map[refusalKey]time.Time
}

// Options are what the room is made of besides the others.
type Options struct {
	// Builtin are the rules that ship with the program.
	Builtin []*guardian.Compiled
	// Now is the clock; nil: this machine's.
	Now func() time.Time
}

// New makes the room.
func New(env *base.Env, all *jobs.Service, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{env: env, jobs: all, builtin: o.Builtin, now: o.Now, layers: map[uuid.UUID]*layer{}, told: map[refusalKey]time.Time{}}
}
