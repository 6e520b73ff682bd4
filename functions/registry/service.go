// Package registry is the room of what owners upload: functions with their signatures, modules with the runs that were kept, named
// files, and the objects below them.
//
// It writes functions and their versions, signing keys, modules, module runs, files, uploads and the rows of objects. An object's row comes
// before the object, and what nothing refers to is collected.
package registry

import (
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/wasm"
)

// Service is the room.
type Service struct {
	env     *base.Env
	tenant  *tenant.Service
	modules *wasm.Pool // runs strangers' modules outside this process
	kept    keptBuiltins
}

// New makes the room.
func New(env *base.Env, projects *tenant.Service, modules *wasm.Pool) *Service {
	return &Service{env: env, tenant: projects, modules: modules}
}
