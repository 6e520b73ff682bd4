// Package schedule is the room of schedules: they submit a project's job, or start a run of its workflow, later, again and again.
//
// It writes schedules, the outcomes of their times, and when each must be looked at next; submit makes the jobs, and workflow the runs.
package schedule

import (
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/workflow"
)

// Service is the room.
type Service struct {
	env       *base.Env
	jobs      *jobs.Service
	submit    *submit.Service
	workflows *workflow.Service
}

// New makes the room.
func New(env *base.Env, j *jobs.Service, s *submit.Service, w *workflow.Service) *Service {
	return &Service{env: env, jobs: j, submit: s, workflows: w}
}
