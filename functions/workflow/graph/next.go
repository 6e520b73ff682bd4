package graph

import "slices"

// RunState is where a run stands.
type RunState string

// The states of a run.
const (
	RunRunning   RunState = "running"
	RunPaused    RunState = "paused" // no step begins; jobs continue
	RunFinished  RunState = "finished"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled"
)

// Ended tells whether no step of the run will begin any more.
func (s RunState) Ended() bool { return s == RunFinished || s == RunFailed || s == RunCancelled }

// StepState is where a step of a run stands.
type StepState string

// The states of a step.
const (
	StepWaiting   StepState = "waiting"
	StepRunning   StepState = "running" // its job is under way
	StepFinished  StepState = "finished"
	StepFailed    StepState = "failed"
	StepSkipped   StepState = "skipped"   // a step before it has failed
	StepCancelled StepState = "cancelled" // the run was cancelled
)

// Progress is where a step of a run stands, in the order of the definition's steps.
type Progress struct {
	State StepState
	Ended bool // its job has come to an end
}

// ActionKind is what a run does next.
type ActionKind string

// The kinds of actions.
const (
	ActNothing ActionKind = ""       // until a job ends, or a person acts
	ActSettle  ActionKind = "settle" // the job of a step has ended: say so
	ActStop    ActionKind = "stop"   // cancel the job of a step
	ActDrop    ActionKind = "drop"   // steps that wait do not run any more
	ActBegin   ActionKind = "begin"  // submit the job of a step, or decide its check
	ActEnd     ActionKind = "end"
)

// Action is one thing that a run does next.
type Action struct {
	Kind  ActionKind
	Step  int       // of settle, stop and begin
	Drop  StepState // what the steps become that wait: skipped, or cancelled
	State RunState  // of the run, at its end
}

// Next says what a run does next. Done again and again, it brings each run to its end, in not more than three actions a step.
//
// After a failed step none begins; the run has failed when the jobs that were under way have ended. The jobs of a cancelled run are
// stopped. A paused run begins nothing.
func Next(run RunState, steps []Step, at []Progress) Action {
	running := slices.IndexFunc(at, func(p Progress) bool { return p.State == StepRunning })
	if i := slices.IndexFunc(at, func(p Progress) bool { return p.State == StepRunning && p.Ended }); i >= 0 {
		return Action{Kind: ActSettle, Step: i}
	}
	failed := slices.ContainsFunc(at, func(p Progress) bool { return p.State == StepFailed })
	waiting := slices.ContainsFunc(at, func(p Progress) bool { return p.State == StepWaiting })
	switch {
	case run == RunCancelled && waiting:
		return Action{Kind: ActDrop, Drop: StepCancelled}
	case run == RunCancelled && running >= 0:
		return Action{Kind: ActStop, Step: running}
	case run.Ended():
		return Action{}
	case failed && waiting:
		return Action{Kind: ActDrop, Drop: StepSkipped}
	case running < 0 && failed:
		return Action{Kind: ActEnd, State: RunFailed}
	case running < 0 && !waiting:
		return Action{Kind: ActEnd, State: RunFinished}
	case run == RunPaused:
		return Action{}
	}
	for i, p := range at {
		if p.State == StepWaiting && ready(steps, at, steps[i]) {
			return Action{Kind: ActBegin, Step: i}
		}
	}
	return Action{}
}

// ready tells whether all that a step needs has finished, or, where its items flow, is under way.
func ready(steps []Step, at []Progress, step Step) bool {
	for i, s := range steps {
		if at[i].State != StepFinished && slices.Contains(step.Needs, s.Name) && (!step.Flows() || at[i].State != StepRunning) {
			return false
		}
	}
	return true
}
