package api

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

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
	InProject
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
	InProject
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
	Switch PathID `path:"switch"`
	Waiting
}

// ProjectSwitchPath names a switch that holds something of a project.
type ProjectSwitchPath struct {
	InProject
	SwitchPath
}

type switchOutput struct {
	Body fleet.KillStatus
}

type switchesOutput struct {
	Body List[fleet.KillStatus]
}

func (s *server) killswitchOperations() {
	const (
		all     = "/v1/killswitches"
		project = "/v1/projects/{project}/killswitches"
		on      = "While it is on, nothing of what it holds is lent, and agents end what of it they run: those that hold a poll for directives within moments, others with their next heartbeat. A switch that is on already stays as it is."
		waits   = "With `wait` it answers as soon as nothing of what the switch holds runs any more, or the time is up."
	)
	operators, owners := roles(functions.RoleOperator), roles(functions.RoleOwner, functions.RoleOperator)
	readers := roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleOperator)
	register(s, operation{id: "listKillSwitches", method: http.MethodGet, path: all, tag: "agents", summary: "List the switches that are on", access: operators}, s.listKillSwitches)
	register(s, operation{id: "getKillSwitch", method: http.MethodGet, path: all + "/{switch}", tag: "agents", summary: "Say how far a switch has got", about: waits, access: operators}, s.getKillSwitch)
	register(s, operation{
		id: "kill", method: http.MethodPost, path: all + "/on", tag: "agents", summary: "Put a switch on", about: on, access: operators, body: body{limit: MaxJSONBody},
	}, s.kill)
	register(s, operation{
		id: "release", method: http.MethodPost, path: all + "/off", tag: "agents", summary: "Put a switch off", access: operators, body: body{limit: MaxJSONBody},
	}, s.release)
	register(s, operation{
		id: "listProjectKillSwitches", method: http.MethodGet, path: project, tag: "agents", summary: "List the switches that hold something of the project", access: readers,
	}, s.listProjectKillSwitches)
	register(s, operation{
		id: "getProjectKillSwitch", method: http.MethodGet, path: project + "/{switch}", tag: "agents", summary: "Say how far a switch has got in the project", about: waits, access: readers,
	}, s.getProjectKillSwitch)
	register(s, operation{
		id: "killInProject", method: http.MethodPost, path: project + "/on", tag: "agents", summary: "Put a switch of the project on", about: on, access: owners, body: body{limit: MaxJSONBody},
	}, s.killInProject)
	register(s, operation{
		id: "releaseInProject", method: http.MethodPost, path: project + "/off", tag: "agents", summary: "Put a switch of the project off", access: owners, body: body{limit: MaxJSONBody},
	}, s.releaseInProject)
}

func (s *server) listKillSwitches(ctx context.Context, _ *call, _ *struct{}) (*switchesOutput, error) {
	return s.switches(ctx, uuid.Nil)
}

func (s *server) listProjectKillSwitches(ctx context.Context, _ *call, in *InProject) (*switchesOutput, error) {
	project, err := in.id()
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
	return &switchesOutput{Body: List[fleet.KillStatus]{Items: items}}, nil
}

func (s *server) getKillSwitch(ctx context.Context, c *call, in *SwitchPath) (*switchOutput, error) {
	return s.waitSilent(ctx, c, uuid.Nil, *in)
}

func (s *server) getProjectKillSwitch(ctx context.Context, c *call, in *ProjectSwitchPath) (*switchOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	return s.waitSilent(ctx, c, project, in.SwitchPath)
}

func (s *server) waitSilent(ctx context.Context, c *call, project uuid.UUID, in SwitchPath) (*switchOutput, error) {
	id, err := pathID("switch", in.Switch)
	if err != nil {
		return nil, err
	}
	wait, err := in.wait(c)
	if err != nil {
		return nil, err
	}
	waiting, done := s.untilStopping(ctx)
	defer done()
	status, err := s.service.WaitSilent(waiting, project, id, wait)
	if err != nil {
		return nil, err
	}
	return &switchOutput{Body: status}, nil
}

func (s *server) kill(ctx context.Context, c *call, in *KillInput) (*switchOutput, error) {
	return s.putOn(ctx, c, in.Body.KillScope, in.Body.KillWay)
}

func (s *server) killInProject(ctx context.Context, c *call, in *KillInProjectInput) (*switchOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	return s.putOn(ctx, c, in.Body.in(project), in.Body.KillWay)
}

func (s *server) putOn(ctx context.Context, c *call, scope fleet.KillScope, how KillWay) (*switchOutput, error) {
	status, err := s.service.Kill(ctx, c.principal, scope, how.Reason, how.Force)
	if err != nil {
		return nil, err
	}
	return &switchOutput{Body: status}, nil
}

func (s *server) release(ctx context.Context, c *call, in *ReleaseInput) (*releasedOutput, error) {
	return s.putOff(ctx, c, in.Body.KillScope)
}

func (s *server) releaseInProject(ctx context.Context, c *call, in *ReleaseInProjectInput) (*releasedOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	return s.putOff(ctx, c, in.Body.in(project))
}

func (s *server) putOff(ctx context.Context, c *call, scope fleet.KillScope) (*releasedOutput, error) {
	was, err := s.service.Release(ctx, c.principal, scope)
	if err != nil {
		return nil, err
	}
	return &releasedOutput{Body: Released{WasOn: was}}, nil
}
