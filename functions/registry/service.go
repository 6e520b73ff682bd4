// Package registry is the room of uploads by owners: functions with their signatures, modules with their kept runs, named
// files, and the objects below them.
//
// It writes functions and their versions, signing keys, modules, module runs, files, uploads and the rows of objects. An object's row is written
// before the object, and unreferenced objects are collected.
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
