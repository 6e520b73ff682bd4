// Package workflow is the room of workflows: steps that belong together, versioned as one, and the runs of them.
//
// It writes workflows, their versions, runs and what became of their steps; it has submit make the jobs, jobs stop them, aggregation fold the
// answers of several, and trust hold wrong results against agents.
package workflow

import (
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/trust"
)

// Service is the room.
type Service struct {
	env         *base.Env
	jobs        *jobs.Service
	submit      *submit.Service
	aggregation *aggregation.Service
	trust       *trust.Service
}

// New makes the room.
func New(env *base.Env, j *jobs.Service, s *submit.Service, a *aggregation.Service, t *trust.Service) *Service {
	return &Service{env: env, jobs: j, submit: s, aggregation: a, trust: t}
}
