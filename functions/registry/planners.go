package registry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

// ChoosePlanner finds a version of a planner, 0 being the newest, and returns the digest that pins it.
func (s *Service) ChoosePlanner(ctx context.Context, project uuid.UUID, name string, version int, params json.RawMessage) (digest string, err error) {
	if builtin.Taken(name) {
		return "", functions.Invalid("bad_kind", fmt.Sprintf("the built-in module %q is no planner", name), "name a module of the kind planner")
	}
	return s.pinModule(ctx, project, wasm.KindPlanner, name, version, params)
}

// Planning is a planner, ready to plan what follows a job.
func (s *Service) Planning(project, job uuid.UUID, digest string, params json.RawMessage) wasm.Planning {
	return wasm.Planning{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job.String(), Module: s.PinnedModule(project, digest), Params: params}}
}
