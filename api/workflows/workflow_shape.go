package workflows

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// PushWorkflowRequest is a workflow as people write it, and what its names stand for.
type PushWorkflowRequest struct {
	Definition string                    `json:"definition" minLength:"1" maxLength:"65536" doc:"The text of workflow.toml."`
	Functions  []WorkflowFunctionRequest `json:"functions" maxItems:"64" doc:"A version for each name under [functions]."`
	Modules    []WorkflowModuleRequest   `json:"modules,omitempty" maxItems:"64" doc:"A version for each name under [modules] and [planners]. Other modules that steps use are taken in their newest version."`
	Files      []WorkflowFileRequest     `json:"files,omitempty" maxItems:"64" doc:"A stored object for each name under [files]."`
	Paused     bool                      `json:"paused,omitempty" doc:"Schedules of the definition that are not there yet are made paused; others stay as they are."`
}

// WorkflowModuleRequest says which version a module of a workflow's folder is.
type WorkflowModuleRequest struct {
	Name    string `json:"name" minLength:"1" maxLength:"63" doc:"Of the module in the project."`
	Version int    `json:"version" minimum:"1" maximum:"2147483647"`
}

// WorkflowFileRequest says which object a file of a workflow's folder was stored as.
type WorkflowFileRequest struct {
	Name   string `json:"name" minLength:"1" maxLength:"63" doc:"As steps name it."`
	Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the stored object."`
}

func (r PushWorkflowRequest) push() workflow.Push {
	p := workflow.Push{Text: r.Definition, Paused: r.Paused}
	for _, f := range r.Functions {
		p.Functions = append(p.Functions, workflow.Pin{Name: f.Name, Function: f.Function, Version: f.Version})
	}
	for _, m := range r.Modules {
		p.Modules = append(p.Modules, workflow.ModulePin{Name: m.Name, Version: m.Version})
	}
	for _, f := range r.Files {
		p.Files = append(p.Files, workflow.PinnedFile{Name: f.Name, Digest: f.Digest})
	}
	return p
}

// WorkflowFunctionRequest says which version of which function a name of a workflow stands for.
type WorkflowFunctionRequest struct {
	Name     string `json:"name" minLength:"1" maxLength:"63" doc:"As steps name it."`
	Function string `json:"function" minLength:"1" maxLength:"63"`
	Version  int    `json:"version" minimum:"1" maximum:"2147483647"`
}

// StartWorkflowRequest is a run to start.
type StartWorkflowRequest struct {
	Version    int                        `json:"version,omitempty" minimum:"1" maximum:"2147483647" doc:"The newest when left out."`
	Parameters map[string]json.RawMessage `json:"parameters,omitempty" doc:"Values by the names of parameters; those left out have their defaults. An integer may be a number or a text such as 2^64+10^9."`
}

// Workflow is the newest version of a workflow.
type Workflow struct {
	Name        string                    `json:"name"`
	Description string                    `json:"description,omitempty"`
	Version     int                       `json:"version"`
	Digest      string                    `json:"digest" doc:"SHA-256 of the definition and of what its names stand for."`
	Functions   []workflow.PinnedFunction `json:"functions"`
	Modules     functions.ModulePins      `json:"modules" doc:"Those that steps use, and those of the folder."`
	Files       []workflow.PinnedFile     `json:"files"`
	PushedBy    string                    `json:"pushed_by"`
	PushedAt    time.Time                 `json:"pushed_at"`
	CreatedAt   time.Time                 `json:"created_at"`
	OpenRuns    int64                     `json:"open_runs" doc:"How many runs of it have not ended."`
}

// WorkflowDetail is a version of a workflow with all that it says.
type WorkflowDetail struct {
	Workflow
	Definition string              `json:"definition" doc:"The text of workflow.toml."`
	Parameters []WorkflowParameter `json:"parameters"`
	Steps      []WorkflowStep      `json:"steps" doc:"In an order in which they can run."`
}

// WorkflowParameter is a parameter of a workflow, in the words of JSON Schema. Values that are integers are texts.
type WorkflowParameter struct {
	Name        string            `json:"name"`
	Type        graph.Type        `json:"type" enum:"integer,number,string,boolean"`
	Description string            `json:"description,omitempty"`
	Default     json.RawMessage   `json:"default,omitempty"`
	Minimum     json.RawMessage   `json:"minimum,omitempty"`
	Maximum     json.RawMessage   `json:"maximum,omitempty"`
	Enum        []json.RawMessage `json:"enum,omitempty"`
}

// WorkflowStep is a step of a workflow.
type WorkflowStep struct {
	Name     string         `json:"name"`
	Type     graph.StepType `json:"type" enum:"map,check,fold,prove,report"`
	Needs    []string       `json:"needs" doc:"Steps that must have finished before."`
	Function string         `json:"function,omitempty" doc:"What its job runs, as the definition names it."`
	Of       string         `json:"of,omitempty" doc:"Of a fold: the step whose results it folds."`
	Module   string         `json:"module,omitempty" doc:"Of a fold, its aggregator; of a report that a module makes, that module; of a proof, its validator, where the step names one."`
	When     string         `json:"when,omitempty" doc:"Of a check: what must hold; of an identity, both sides."`
	Message  string         `json:"message,omitempty" doc:"Of a check: what is wrong where it does not hold."`
}

// WorkflowRun is a run of a workflow.
type WorkflowRun struct {
	ID         uuid.UUID                  `json:"id"`
	Workflow   string                     `json:"workflow"`
	Version    int                        `json:"version"`
	Digest     string                     `json:"digest"`
	Functions  []workflow.PinnedFunction  `json:"functions" doc:"What the run keeps to, whatever is pushed later."`
	Modules    functions.ModulePins       `json:"modules" doc:"The same of modules. Of a version that was pushed before modules were pinned: none."`
	Files      []workflow.PinnedFile      `json:"files"`
	Parameters map[string]json.RawMessage `json:"parameters" doc:"Integers are texts."`
	State      graph.RunState             `json:"state" enum:"running,paused,finished,failed,cancelled"`
	Error      string                     `json:"error,omitempty" doc:"Which step failed, and why. A run with an error that is still running has failed as soon as the jobs under way have ended."`
	Revision   int64                      `json:"revision"`
	StartedBy  string                     `json:"started_by"`
	StartedAt  time.Time                  `json:"started_at"`
	EndedAt    *time.Time                 `json:"ended_at,omitempty"`
}

// WorkflowRunDetail is a run with its steps.
type WorkflowRunDetail struct {
	WorkflowRun
	Steps []workflow.RunStep `json:"steps"`
}

func workflowOf(w workflow.Workflow) Workflow {
	return Workflow{
		Name: w.Name, Description: w.Definition.Description, Version: w.Version, Digest: w.Digest, Functions: w.Functions, Modules: orEmpty(w.Modules), Files: orEmpty(w.Files),
		PushedBy: w.PushedBy, PushedAt: w.PushedAt, CreatedAt: w.CreatedAt, OpenRuns: w.OpenRuns,
	}
}

func workflowDetailOf(w workflow.Workflow) WorkflowDetail {
	d := WorkflowDetail{Workflow: workflowOf(w), Definition: w.Text, Parameters: []WorkflowParameter{}, Steps: []WorkflowStep{}}
	for _, p := range w.Definition.Parameters {
		d.Parameters = append(d.Parameters, parameterOf(p))
	}
	for _, s := range w.Definition.Steps {
		d.Steps = append(d.Steps, WorkflowStep{
			Name: s.Name, Type: s.Type, Needs: append([]string{}, s.Needs...), Function: s.Runs(), Of: s.Fold.Of,
			Module: cmp.Or(s.Fold.Aggregator, s.Report.Module, s.Prove.Validator), When: cmp.Or(s.Check.When, s.Check.Identity.String()), Message: s.Check.Message,
		})
	}
	return d
}

func parameterOf(p graph.Parameter) WorkflowParameter {
	out := WorkflowParameter{
		Name: p.Name, Type: p.Type, Description: p.Help, Default: valueText(p.Default), Minimum: valueText(p.Minimum), Maximum: valueText(p.Maximum),
	}
	for _, v := range p.Enum {
		out.Enum = append(out.Enum, valueText(&v))
	}
	return out
}

// valueText is the JSON form of a value; nil: there is none.
func valueText(v *graph.Value) json.RawMessage {
	if v == nil {
		return nil
	}
	return v.JSON()
}

func runOf(r workflow.Run) WorkflowRun {
	return WorkflowRun{
		ID: r.ID, Workflow: r.Workflow, Version: r.Version, Digest: r.Digest, Functions: r.Functions, Modules: orEmpty(r.Modules), Files: orEmpty(r.Files),
		Parameters: r.Parameters, State: r.State, Error: r.Error, Revision: r.Revision, StartedBy: r.StartedBy, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
	}
}

func runDetailOf(r workflow.RunDetail) WorkflowRunDetail {
	return WorkflowRunDetail{WorkflowRun: runOf(r.Run), Steps: r.Steps}
}

func shownRun(r workflow.RunDetail, err error) (*workflowRunOutput, error) {
	if err != nil {
		return nil, err
	}
	return &workflowRunOutput{Body: runDetailOf(r)}, nil
}

// orEmpty is a list that JSON shows as one.
func orEmpty[S ~[]E, E any](list S) S {
	if list == nil {
		return S{}
	}
	return list
}
