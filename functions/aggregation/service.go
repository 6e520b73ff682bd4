// Package aggregation is the room where results become an answer: it folds settled pages, merges folds in a tree, and takes folds back
// when a result no longer holds.
//
// It writes aggregations and partials, and the counts of folded results in the job. It never decides whether a result is right.
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
	combining    combining
}

// New makes the room. previewEvery is how long a preview stands before the next one is made.
func New(env *base.Env, modules *registry.Service, all *jobs.Service, previewEvery time.Duration) *Service {
	return &Service{env: env, registry: modules, jobs: all, previewEvery: previewEvery}
}
