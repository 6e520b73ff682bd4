// Package schedule is the room of schedules: they submit a project's job later, again and again.
//
// It writes schedules, the outcomes of their times, and when each must be looked at next; submit makes the jobs.
package schedule

import (
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/submit"
)

// Service is the room.
type Service struct {
	env    *base.Env
	jobs   *jobs.Service
	submit *submit.Service
}

// New makes the room.
func New(env *base.Env, j *jobs.Service, s *submit.Service) *Service {
	return &Service{env: env, jobs: j, submit: s}
}
