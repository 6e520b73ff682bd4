// Package heuristics is the room of modules and models that look at code and at results and have an opinion: they score, and the
// project's policy says what follows. Nothing is accepted because of them.
//
// It writes scores, findings, raised audit rates, and the spending on an external model.
package heuristics

import (
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/wasm"
)

// Service is the room.
type Service struct {
	env       *base.Env
	tenant    *tenant.Service
	registry  *registry.Service
	trust     *trust.Service
	modules   *wasm.Pool
	model     functions.ModelUse
	scoreTime time.Duration
}

// New makes the room. scoreTime is how long the heuristics may take for a page or a version.
func New(env *base.Env, projects *tenant.Service, modules *registry.Service, results *trust.Service, pool *wasm.Pool, model functions.ModelUse, scoreTime time.Duration) *Service {
	return &Service{env: env, tenant: projects, registry: modules, trust: results, modules: pool, model: model, scoreTime: scoreTime}
}
