package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
)

// Planning lets a module make further work out of an aggregate.
type Planning struct {
	Use
	Budget int64 // units that may be planned
	Round  int64 // how often there was planning before
}

// Bounds of a plan.
const (
	// MaxPlanned is how many units one plan may have: they are kept in memory.
	MaxPlanned = 10_000
	// MaxDone is how many summaries of finished units a planner is shown.
	MaxDone = 1_000
	// MaxKey is the length of a unit's key in bytes.
	MaxKey = 256
	// MaxPriority and MaxReplicas bound what a unit may ask for.
	MaxPriority = 100
	MaxReplicas = 100
)

// DoneUnit is a finished unit as a planner sees it.
type DoneUnit struct {
	ID      string          `json:"id"`
	Input   json.RawMessage `json:"input"`
	Result  json.RawMessage `json:"result"`
	Verdict Verdict         `json:"verdict,omitempty"`
}

// PlannedUnit is a unit of work that a planner asks for. Its key is what makes
// it the same unit should it be planned again.
type PlannedUnit struct {
	Key      string          `json:"key"`
	Input    json.RawMessage `json:"input"`
	Priority int             `json:"priority,omitempty"` // 0 to MaxPriority
	Replicas int             `json:"replicas,omitempty"` // 1 to MaxReplicas; 0 leaves it to the job
}

// Plan is a planner's answer: units, or the end.
type Plan struct {
	Units   []PlannedUnit
	Stopped bool
	Reason  string // why it stopped
}

// planLine is any line that a planner prints.
type planLine struct {
	T string `json:"t"`
	PlannedUnit
	Reason string `json:"reason"`
}

// Plan shows the module the aggregate and some finished units, and returns what
// is to be done next.
func (p Planning) Plan(ctx context.Context, final Final, done iter.Seq2[DoneUnit, error]) (Plan, Stats, error) {
	if p.Budget < 0 || p.Budget > MaxPlanned {
		return Plan{}, Stats{}, fmt.Errorf("planning: a budget of %d units; 0 to %d are allowed", p.Budget, MaxPlanned)
	}
	var plan Plan
	header := Header{Kind: KindPlanner, Budget: &Budget{Units: p.Budget}, Round: p.Round}
	_, stats, err := answers(ctx, p.Use, header, planRecords(final, done), func(list []planLine, stats Stats) error {
		keys := map[string]bool{}
		for i, l := range list {
			if err := plan.add(l, p.Budget, keys); err != nil {
				return p.badOutput(stats, "line %d of stdout: %v", i+1, err)
			}
		}
		return nil
	})
	if err != nil {
		return Plan{}, stats, err
	}
	return plan, stats, nil
}

// planRecords are the aggregate, then the finished units.
func planRecords(final Final, done iter.Seq2[DoneUnit, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		value := final.Value
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		line, err := json.Marshal(struct {
			T       string          `json:"t"`
			N       int64           `json:"n"`
			Data    json.RawMessage `json:"data"`
			Summary string          `json:"summary,omitempty"`
		}{"final", final.N, value, final.Summary})
		if !yield(line, err) || err != nil {
			return
		}
		shown := 0
		for unit, err := range done {
			if shown++; err == nil && shown > MaxDone {
				err = fmt.Errorf("a planner is shown at most %d finished units", MaxDone)
			}
			var line []byte
			if err == nil {
				line, err = json.Marshal(struct {
					T string `json:"t"`
					DoneUnit
				}{"unit", unit})
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// add checks a line and takes it into the plan.
func (p *Plan) add(l planLine, budget int64, keys map[string]bool) error {
	switch l.T {
	case "stop":
		if p.Stopped || len(l.Reason) > MaxReason {
			return fmt.Errorf("a second stop, or a reason of more than %d bytes", MaxReason)
		}
		p.Stopped, p.Reason = true, clean(l.Reason)
		return nil
	case "unit":
	default:
		return fmt.Errorf("type %.40q is neither unit nor stop", l.T)
	}
	switch {
	case l.Key == "" || len(l.Key) > MaxKey:
		return fmt.Errorf("a unit's key is %d bytes; 1 to %d are allowed", len(l.Key), MaxKey)
	case keys[l.Key]:
		return fmt.Errorf("the key %.80q is planned twice", l.Key)
	case len(l.Input) == 0:
		return fmt.Errorf("unit %.80q has no input", l.Key)
	case l.Priority < 0 || l.Priority > MaxPriority:
		return fmt.Errorf("unit %.80q has priority %d; 0 to %d are allowed", l.Key, l.Priority, MaxPriority)
	case l.Replicas < 0 || l.Replicas > MaxReplicas:
		return fmt.Errorf("unit %.80q asks for %d replicas; 0 to %d are allowed", l.Key, l.Replicas, MaxReplicas)
	case int64(len(p.Units)) == budget:
		return fmt.Errorf("more than the %d units of the budget are planned", budget)
	}
	keys[l.Key] = true
	p.Units = append(p.Units, l.PlannedUnit)
	return nil
}
