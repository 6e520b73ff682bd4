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
	Jobs   int64 // jobs that may be planned, the one of the units included
	Round  int64 // how often there was planning before
	// Chain are further records after the aggregate: the job, its metrics and
	// what was said before.
	Chain []ChainRecord
}

// ChainRecord is what a planner is told of the chain of jobs that it plans.
type ChainRecord json.RawMessage

// The types of chain records.
const (
	ChainJob     = "job"     // the job that has ended
	ChainMetrics = "metrics" // what is known of it
	ChainSaid    = "said"    // what this planner said before, the oldest first
)

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
	// MaxPlannedJobs is how many jobs one plan may name.
	MaxPlannedJobs = 64
	// MaxNote is what a planner may leave for its next round, in bytes.
	MaxNote = 16 << 10
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

// PlannedJob is a job that a planner asks for. Empty fields are left to the rule.
type PlannedJob struct {
	Key        string          `json:"key"`
	Function   string          `json:"function,omitempty"`
	Version    int             `json:"version,omitempty"`
	Partition  json.RawMessage `json:"partition"`
	Quorum     int             `json:"quorum,omitempty"`
	Aggregator string          `json:"aggregator,omitempty"`
}

// Plan is a planner's answer: units, jobs, or the end.
type Plan struct {
	Units   []PlannedUnit
	Jobs    []PlannedJob
	Stopped bool
	Reason  string          // why it stopped, or plans what it plans
	Note    json.RawMessage // what it is told again in its next round

	noted bool
}

// planLine is any line that a planner prints.
type planLine struct {
	T string `json:"t"`
	PlannedUnit
	Function   string          `json:"function"`
	Version    int             `json:"version"`
	Partition  json.RawMessage `json:"partition"`
	Quorum     int             `json:"quorum"`
	Aggregator string          `json:"aggregator"`
	Reason     string          `json:"reason"`
	Data       json.RawMessage `json:"data"`
}

// Plan shows the module the aggregate and some finished units, and returns what
// is to be done next.
func (p Planning) Plan(ctx context.Context, final Final, done iter.Seq2[DoneUnit, error]) (Plan, Stats, error) {
	if p.Budget < 0 || p.Budget > MaxPlanned {
		return Plan{}, Stats{}, fmt.Errorf("planning: a budget of %d units; 0 to %d are allowed", p.Budget, MaxPlanned)
	}
	var plan Plan
	header := Header{Kind: KindPlanner, Budget: &Budget{Units: p.Budget, Jobs: p.Jobs}, Round: p.Round}
	_, stats, err := answers(ctx, p.Use, header, planRecords(final, p.Chain, done), func(list []planLine, stats Stats) error {
		keys := map[string]bool{}
		for i, l := range list {
			if err := plan.add(l, p.Budget, p.Jobs, keys); err != nil {
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

// planRecords are the aggregate, then what is known of the chain, then the finished units.
func planRecords(final Final, chain []ChainRecord, done iter.Seq2[DoneUnit, error]) iter.Seq2[[]byte, error] {
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
		for _, record := range chain {
			if !yield(record, nil) {
				return
			}
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
func (p *Plan) add(l planLine, units, jobs int64, keys map[string]bool) error {
	switch l.T {
	case "stop":
		if p.Stopped || len(l.Reason) > MaxReason {
			return fmt.Errorf("a second stop, or a reason of more than %d bytes", MaxReason)
		}
		p.Stopped, p.Reason = true, clean(l.Reason)
		return nil
	case "note":
		return p.note(l)
	case "unit", "job":
	default:
		return fmt.Errorf("type %.40q is neither unit, job, note nor stop", l.T)
	}
	switch {
	case l.Key == "" || len(l.Key) > MaxKey:
		return fmt.Errorf("a %s's key is %d bytes; 1 to %d are allowed", l.T, len(l.Key), MaxKey)
	case keys[l.Key]:
		return fmt.Errorf("the key %.80q is planned twice", l.Key)
	}
	keys[l.Key] = true
	if l.T == "job" {
		return p.addJob(l, jobs)
	}
	return p.addUnit(l, units)
}

func (p *Plan) addUnit(l planLine, budget int64) error {
	switch {
	case len(l.Input) == 0:
		return fmt.Errorf("unit %.80q has no input", l.Key)
	case l.Priority < 0 || l.Priority > MaxPriority:
		return fmt.Errorf("unit %.80q has priority %d; 0 to %d are allowed", l.Key, l.Priority, MaxPriority)
	case l.Replicas < 0 || l.Replicas > MaxReplicas:
		return fmt.Errorf("unit %.80q asks for %d replicas; 0 to %d are allowed", l.Key, l.Replicas, MaxReplicas)
	case int64(len(p.Units)) == budget:
		return fmt.Errorf("more than the %d units of the budget are planned", budget)
	}
	p.Units = append(p.Units, l.PlannedUnit)
	return nil
}

func (p *Plan) addJob(l planLine, budget int64) error {
	if len(l.Partition) == 0 {
		return fmt.Errorf("job %.80q has no partition", l.Key)
	}
	if int64(len(p.Jobs)) == budget {
		return fmt.Errorf("more than the %d jobs of the budget are planned", budget)
	}
	p.Jobs = append(p.Jobs, PlannedJob{Key: l.Key, Function: l.Function, Version: l.Version, Partition: l.Partition, Quorum: l.Quorum, Aggregator: l.Aggregator})
	return nil
}

// note takes in why the module plans what it plans, and what it is to be told again.
func (p *Plan) note(l planLine) error {
	switch {
	case p.noted:
		return fmt.Errorf("a second note")
	case len(l.Reason) > MaxReason:
		return fmt.Errorf("a reason of %d bytes; at most %d are allowed", len(l.Reason), MaxReason)
	case len(l.Data) > MaxNote:
		return fmt.Errorf("a note of %d bytes; at most %d are allowed", len(l.Data), MaxNote)
	}
	p.noted, p.Note = true, l.Data
	if p.Reason == "" {
		p.Reason = clean(l.Reason)
	}
	return nil
}
