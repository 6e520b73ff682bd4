// Package tenant is the room of projects: making and changing them, the keys and sessions of people and programs, and
// the limits of each project.
//
// It writes projects with their secrets, limits and usage, keys, sign-in links and sessions. All rooms above ask it who a caller is
// (Authenticate) and whether a limit leaves room (Within).
package tenant

import (
	"context"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
)

// HeuristicsCheck checks a project's policy of heuristics before it is stored, and returns the JSON to store; nil leaves it as it is.
type HeuristicsCheck func(ctx context.Context, project uuid.UUID, p *functions.HeuristicsPolicy) ([]byte, error)

// Options are what an operator decides for projects that have nothing of their own.
type Options struct {
	Heuristics functions.HeuristicsPolicy
	AuditDays  int // for how many a project's log keeps the content of records; 0: until somebody prunes them
	Usual
}

// Usual are an operator's values for projects without their own, which may change while the server runs.
type Usual struct {
	Quotas map[functions.QuotaName]int64 // limits that are not named have the value of quotas.go; it is not changed any more
	// RecheckSeconds is for how many seconds a day servers execute the shards of a project that has no number of its own; 0: for as many as
	// it takes.
	RecheckSeconds int64
}

// Service is the room.
type Service struct {
	env             *base.Env
	heuristics      functions.HeuristicsPolicy
	auditDays       int
	usual           atomic.Pointer[Usual]
	heuristicsCheck HeuristicsCheck
}

// New makes the room.
func New(env *base.Env, o Options) *Service {
	s := &Service{env: env, heuristics: o.Heuristics, auditDays: o.AuditDays}
	s.SetUsual(o.Usual)
	return s
}

// SetUsual changes the values for projects without their own. It is safe at any time: later requests go by it, and what
// a project has stays, even if it is more.
func (s *Service) SetUsual(u Usual) { s.usual.Store(&u) }

// CheckHeuristicsWith says who knows what a policy of heuristics may be. It is called once, before the first request.
func (s *Service) CheckHeuristicsWith(check HeuristicsCheck) { s.heuristicsCheck = check }
