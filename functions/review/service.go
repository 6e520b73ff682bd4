// Package review is the room where people decide: flags with what speaks for each answer, what a decision would do, and carrying it out.
//
// It writes the decisions about flags, and what they mean for shards. Lock order: as trust.
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
