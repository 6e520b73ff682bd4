package graph

import "math/big"

// PartState is where a stretch of a rolling step's range stands.
type PartState string

// The states of a stretch.
const (
	PartOpen  PartState = "open"  // its job is under way
	PartHole  PartState = "hole"  // its job came to nothing
	PartAgain PartState = "again" // so it did, and somebody wants another one
	PartDone  PartState = "done"  // its jobs' answers are folded into one
)

// Part is a stretch [First, Last) of a rolling step's range. Stretches that are done and touch one another are one, so that there are no
// more of them than jobs that are open or came to nothing, and one.
type Part struct {
	First, Last *big.Int
	State       PartState
	Shards      int64
	Ended       bool // its job has
	Finished    bool // with an answer
	Held        bool // which is not folded yet: the step to which its items flow takes them first
}

// Progression is where a rolling step stands.
type Progression struct {
	Plan
	Next  *big.Int // from here on there was no job yet
	Parts []Part   // by First
}

// PartActionKind is what a rolling step does next.
type PartActionKind string

// The kinds of actions.
const (
	PartNothing PartActionKind = ""
	PartFold    PartActionKind = "fold"  // the job of a stretch has finished: fold its answer into that of its neighbours
	PartLose    PartActionKind = "lose"  // the job of a stretch has come to nothing: it is a hole
	PartStop    PartActionKind = "stop"  // cancel the job of a stretch
	PartBegin   PartActionKind = "begin" // submit the job of a stretch
)

// PartAction is one thing that a rolling step does next.
type PartAction struct {
	Kind  PartActionKind
	Part  int      // of fold, lose and stop
	First *big.Int // of begin
}

// Clear is what a rolling step does about jobs that it has: those that have ended, and those that are to end with their run.
func (p Progression) Clear(run RunState) PartAction {
	for i, part := range p.Parts {
		switch {
		case part.State != PartOpen:
		case part.Ended && part.Finished && part.Held:
		case part.Ended && part.Finished:
			return PartAction{Kind: PartFold, Part: i}
		case part.Ended:
			return PartAction{Kind: PartLose, Part: i}
		case run == RunCancelled:
			return PartAction{Kind: PartStop, Part: i}
		}
	}
	return PartAction{}
}

// Begin is the job that a rolling step submits next: of a hole that is to be tried again, and otherwise of what comes next. Jobs that have
// not ended have at most Ahead shards together.
func (p Progression) Begin() PartAction {
	holes, open, held := p.load()
	for _, part := range p.Parts {
		if part.State != PartAgain {
			continue
		}
		if open-held+part.Shards > p.Ahead { // what is held may wait for just this stretch
			return PartAction{}
		}
		return PartAction{Kind: PartBegin, First: part.First}
	}
	if _, shards := p.Job(p.Next); p.Follows || shards == 0 || holes >= MaxHoles || open+shards > p.Ahead {
		return PartAction{}
	}
	return PartAction{Kind: PartBegin, First: p.Next}
}

// load is how many stretches came to nothing, and how many shards those have that are open; the jobs of some have ended, and are held.
func (p Progression) load() (holes int, open, held int64) {
	for _, part := range p.Parts {
		switch part.State {
		case PartHole:
			holes++
		case PartOpen:
			if open += part.Shards; part.Held && part.Ended {
				held += part.Shards
			}
		default:
		}
	}
	return holes, open, held
}

// Takes tells whether a step that follows another one takes a stretch of it now: the next one, while it has shards to spare.
func (p Progression) Takes(first *big.Int) bool {
	holes, open, _ := p.load()
	return p.Next.Cmp(first) == 0 && holes < MaxHoles && open < p.Ahead
}

// Front is how far the step has come: all below it is done.
func (p Progression) Front() *big.Int {
	if len(p.Parts) > 0 && p.Parts[0].State == PartDone && p.Parts[0].First.Cmp(p.From) == 0 {
		return p.Parts[0].Last
	}
	return p.From
}

// Done is how many integers are done, also beyond the front.
func (p Progression) Done() *big.Int {
	n := new(big.Int)
	for _, part := range p.Parts {
		if part.State == PartDone {
			n.Add(n, part.Last).Sub(n, part.First)
		}
	}
	return n
}

// Whole tells whether the whole range is done.
func (p Progression) Whole() bool { return p.Front().Cmp(p.To) == 0 }

// Over tells whether the step has come to its end: the whole range is done, or its run goes no further and no job is under way.
func (p Progression) Over(goesOn bool) bool {
	if p.Whole() {
		return true
	}
	for _, part := range p.Parts {
		if part.State == PartOpen {
			return false
		}
	}
	return !goesOn
}
