// Package aggregation is the room where results become an answer: settled pages are folded, folds are merged in a tree, and taken back
// where a result does not stand any more.
//
// It writes aggregations and partials, and counts in the job what was folded. It never decides whether a result is right.
package aggregation

import (
	"time"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
)

// Service is the room.
type Service struct {
	env          *base.Env
	registry     *registry.Service
	jobs         *jobs.Service
	previewEvery time.Duration
}

// New makes the room. previewEvery is how long a preview stands before the next one is made.
func New(env *base.Env, modules *registry.Service, all *jobs.Service, previewEvery time.Duration) *Service {
	return &Service{env: env, registry: modules, jobs: all, previewEvery: previewEvery}
}
