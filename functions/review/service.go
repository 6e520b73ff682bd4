// Package review is the room where people decide: it shows flags with the evidence for each answer and the effect of a decision, and carries it out.
//
// It writes the decisions about flags, and their effects on shards. Lock order: as trust.
package review

import (
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/trust"
)

// Service is the room.
type Service struct {
	env   *base.Env
	jobs  *jobs.Service
	trust *trust.Service
}

// New makes the room.
func New(env *base.Env, all *jobs.Service, results *trust.Service) *Service {
	return &Service{env: env, jobs: all, trust: results}
}
