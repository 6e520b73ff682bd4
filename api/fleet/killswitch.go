package fleet

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
)

// KillSwitches is what the API asks of the domain about what stops work.
type KillSwitches interface {
	ListSwitches(ctx context.Context, project uuid.UUID) ([]fleet.KillStatus, error)
	// WaitSilent waits until nothing of what a switch holds runs any more.
	WaitSilent(ctx context.Context, project, id uuid.UUID, wait time.Duration) (fleet.KillStatus, error)
	Kill(ctx context.Context, by functions.Principal, scope fleet.KillScope, reason string, force bool) (fleet.KillStatus, error)
	Release(ctx context.Context, by functions.Principal, scope fleet.KillScope) (was bool, err error)
}

// ProjectSwitchScope is what a switch of a project holds.
type ProjectSwitchScope struct {
	Scope    string     `json:"scope" enum:"project,function"`
	Agent    *uuid.UUID `json:"agent,omitempty" doc:"Only on this agent. Left out: on all."`
	Function string     `json:"function,omitempty" maxLength:"63"`
	Version  int        `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"Left out: all versions."`
}

func (p ProjectSwitchScope) in(project uuid.UUID) fleet.KillScope {
	return fleet.KillScope{Scope: p.Scope, Agent: p.Agent, Project: &project, Function: p.Function, Version: p.Version}
}

// KillWay says why to put a switch on, and how hard.
type KillWay struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"For the people who meet it; the audit log keeps it."`
	Force  bool   `json:"force,omitempty" doc:"Take the leases back at once. Left out: agents return them, after they have sent what is done."`
}

// KillInput puts a switch on.
type KillInput struct {
	Body struct {
		fleet.KillScope
		KillWay
	} `nameHint:"NewKillSwitch"`
}

// KillInProjectInput puts a switch of a project on.
type KillInProjectInput struct {
	rest.InProject
	Body struct {
		ProjectSwitchScope
		KillWay
	} `nameHint:"NewProjectKillSwitch"`
}

// ReleaseInput puts a switch off.
type ReleaseInput struct {
	Body struct {
		fleet.KillScope
	} `nameHint:"KillScope"`
}

// ReleaseInProjectInput puts a switch of a project off.
type ReleaseInProjectInput struct {
	rest.InProject
	Body struct {
		ProjectSwitchScope
	} `nameHint:"ProjectKillScope"`
}

// Released says what putting a switch off did.
type Released struct {
	WasOn bool `json:"was_on" doc:"Whether the switch was on. Putting one off that is off does no harm."`
}

type releasedOutput struct {
	Body Released
}

// SwitchPath names a switch.
type SwitchPath struct {
	Switch rest.PathID `path:"switch"`
	rest.Waiting
}

// ProjectSwitchPath names a switch that holds something of a project.
type ProjectSwitchPath struct {
	rest.InProject
	SwitchPath
}

type switchOutput struct {
	Body fleet.KillStatus
}

type switchesOutput struct {
	Body rest.List[fleet.KillStatus]
}

func (s *server) killswitchOperations() {
	const (
		all     = "/v1/killswitches"
		project = "/v1/projects/{project}/killswitches"
		on      = "While it is on, nothing of what it holds is lent, and agents end what of it they run: those that hold a poll for directives within moments, others with their next heartbeat. A switch that is on already stays as it is."
		waits   = "With `wait` it answers as soon as nothing of what the switch holds runs any more, or the time is up."
	)
	operators, owners := rest.Roles(functions.RoleOperator), rest.Roles(functions.RoleOwner, functions.RoleOperator)
	readers := rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleOperator)
	rest.Register(s.Server, rest.Operation{ID: "listKillSwitches", Method: http.MethodGet, Path: all, Tag: "agents", Summary: "List the switches that are on", Access: operators}, s.listKillSwitches)
	rest.Register(s.Server, rest.Operation{ID: "getKillSwitch", Method: http.MethodGet, Path: all + "/{switch}", Tag: "agents", Summary: "Say how far a switch has got", About: waits, Access: operators}, s.getKillSwitch)
	rest.Register(s.Server, rest.Operation{
		ID: "kill", Method: http.MethodPost, Path: all + "/on", Tag: "agents", Summary: "Put a switch on", About: on, Access: operators, Body: rest.Body{Limit: rest.MaxJSONBody}, Ends: true,
	}, s.kill)
	rest.Register(s.Server, rest.Operation{
		ID: "release", Method: http.MethodPost, Path: all + "/off", Tag: "agents", Summary: "Put a switch off", Access: operators, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.release)
	rest.Register(s.Server, rest.Operation{
		ID: "listProjectKillSwitches", Method: http.MethodGet, Path: project, Tag: "agents", Summary: "List the switches that hold something of the project", Access: readers,
	}, s.listProjectKillSwitches)
	rest.Register(s.Server, rest.Operation{
		ID: "getProjectKillSwitch", Method: http.MethodGet, Path: project + "/{switch}", Tag: "agents", Summary: "Say how far a switch has got in the project", About: waits, Access: readers,
	}, s.getProjectKillSwitch)
	rest.Register(s.Server, rest.Operation{
		ID: "killInProject", Method: http.MethodPost, Path: project + "/on", Tag: "agents", Summary: "Put a switch of the project on", About: on, Access: owners, Body: rest.Body{Limit: rest.MaxJSONBody}, Ends: true,
	}, s.killInProject)
	rest.Register(s.Server, rest.Operation{
		ID: "releaseInProject", Method: http.MethodPost, Path: project + "/off", Tag: "agents", Summary: "Put a switch of the project off", Access: owners, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.releaseInProject)
}

func (s *server) listKillSwitches(ctx context.Context, _ *rest.Call, _ *struct{}) (*switchesOutput, error) {
	return s.switches(ctx, uuid.Nil)
}

func (s *server) listProjectKillSwitches(ctx context.Context, _ *rest.Call, in *rest.InProject) (*switchesOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	return s.switches(ctx, project)
}

func (s *server) switches(ctx context.Context, project uuid.UUID) (*switchesOutput, error) {
	items, err := s.service.ListSwitches(ctx, project)
	if err != nil {
		return nil, err
	}
	if items == nil {
		items = []fleet.KillStatus{}
	}
	return &switchesOutput{Body: rest.List[fleet.KillStatus]{Items: items}}, nil
}

func (s *server) getKillSwitch(ctx context.Context, c *rest.Call, in *SwitchPath) (*switchOutput, error) {
	return s.waitSilent(ctx, c, uuid.Nil, *in)
}

func (s *server) getProjectKillSwitch(ctx context.Context, c *rest.Call, in *ProjectSwitchPath) (*switchOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	return s.waitSilent(ctx, c, project, in.SwitchPath)
}

func (s *server) waitSilent(ctx context.Context, c *rest.Call, project uuid.UUID, in SwitchPath) (*switchOutput, error) {
	id, err := rest.ReadID("switch", in.Switch)
	if err != nil {
		return nil, err
	}
	wait, err := in.WaitTime(c)
	if err != nil {
		return nil, err
	}
	waiting, done := s.UntilStopping(ctx)
	defer done()
	status, err := s.service.WaitSilent(waiting, project, id, wait)
	if err != nil {
		return nil, err
	}
	return &switchOutput{Body: status}, nil
}

func (s *server) kill(ctx context.Context, c *rest.Call, in *KillInput) (*switchOutput, error) {
	return s.putOn(ctx, c, in.Body.KillScope, in.Body.KillWay)
}

func (s *server) killInProject(ctx context.Context, c *rest.Call, in *KillInProjectInput) (*switchOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	return s.putOn(ctx, c, in.Body.in(project), in.Body.KillWay)
}

func (s *server) putOn(ctx context.Context, c *rest.Call, scope fleet.KillScope, how KillWay) (*switchOutput, error) {
	status, err := s.service.Kill(ctx, c.Principal, scope, how.Reason, how.Force)
	if err != nil {
		return nil, err
	}
	return &switchOutput{Body: status}, nil
}

func (s *server) release(ctx context.Context, c *rest.Call, in *ReleaseInput) (*releasedOutput, error) {
	return s.putOff(ctx, c, in.Body.KillScope)
}

func (s *server) releaseInProject(ctx context.Context, c *rest.Call, in *ReleaseInProjectInput) (*releasedOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	return s.putOff(ctx, c, in.Body.in(project))
}

func (s *server) putOff(ctx context.Context, c *rest.Call, scope fleet.KillScope) (*releasedOutput, error) {
	was, err := s.service.Release(ctx, c.Principal, scope)
	if err != nil {
		return nil, err
	}
	return &releasedOutput{Body: Released{WasOn: was}}, nil
}
