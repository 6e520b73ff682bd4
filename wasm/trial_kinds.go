package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// UnmarshalJSON reads the record that Judge sends.
func (u *Unit) UnmarshalJSON(b []byte) error {
	var r struct {
		ID      string          `json:"id"`
		Input   json.RawMessage `json:"input"`
		Results []UnitResult    `json:"results"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return err
	}
	*u = Unit{ID: r.ID, Input: r.Input, Results: r.Results}
	return nil
}

// readEvidence reads the record that Score sends.
func readEvidence(_ int, b []byte) (Evidence, error) {
	var r struct {
		ID      string          `json:"id"`
		Subject Subject         `json:"subject"`
		Name    string          `json:"name"`
		Content json.RawMessage `json:"content"`
		Text    string          `json:"text"`

		Agent    string    `json:"agent"`
		Ref      *Ref      `json:"ref"`
		Measures *Measures `json:"measures"`
	}
	err := json.Unmarshal(b, &r)
	return Evidence{ID: r.ID, Subject: r.Subject, Name: r.Name, Content: r.Content, Text: r.Text, Agent: r.Agent, Ref: r.Ref, Measures: r.Measures}, err
}

// readItem reads an item, or takes the line for a result.
func readItem(i int, line []byte) (Item, error) {
	var r struct {
		T      string          `json:"t"`
		ID     string          `json:"id"`
		Result json.RawMessage `json:"result"`
		Ref    *Ref            `json:"ref"`
		Head   string          `json:"head"`
		Files  []FileRef       `json:"files"`
	}
	if json.Unmarshal(line, &r) != nil || r.T != "item" {
		if err := checkJSON(line); err != nil {
			return Item{}, fmt.Errorf("the line %w", err)
		}
		return Item{ID: strconv.Itoa(i), Result: line}, nil
	}
	if r.Ref != nil {
		r.Ref.Head = r.Head
	}
	return Item{ID: r.ID, Result: r.Result, Ref: r.Ref, Files: r.Files}, nil
}

// aggregatorTrial folds items in leaves of several sizes and merges them in
// several shapes; the final must always be the same.
type aggregatorTrial struct {
	a     Aggregation
	items []Item
}

func (aggregatorTrial) ways() []way {
	return []way{whole, halves, sevenths, oneAlone, balanced, leftward, rightward}
}

func (t aggregatorTrial) once(ctx context.Context, s *TrialStats, w way) ([]string, error) {
	var partials []Partial
	for _, cut := range w.chunks(len(t.items)) {
		p, stats, err := t.a.Fold(ctx, Each(t.items[cut[0]:cut[1]]))
		if err != nil {
			return nil, fmt.Errorf("folding records %d to %d: %w", cut[0]+1, cut[1], err)
		}
		s.add(stats)
		partials = append(partials, p)
	}
	partials, err := t.merge(ctx, s, w, partials)
	if err != nil {
		return nil, err
	}
	f, stats, err := t.a.Final(ctx, Each(partials))
	if err != nil {
		return nil, fmt.Errorf("finishing: %w", err)
	}
	s.add(stats)
	return f.lines()
}

// merge merges partials as a way says.
func (t aggregatorTrial) merge(ctx context.Context, s *TrialStats, w way, partials []Partial) ([]Partial, error) {
	merge := func(some ...Partial) (Partial, error) {
		p, stats, err := t.a.Merge(ctx, Each(some))
		if err != nil {
			return nil, fmt.Errorf("merging %d partials: %w", len(some), err)
		}
		s.add(stats)
		return p, nil
	}
	if !slices.Contains([]way{balanced, leftward, rightward}, w) {
		return partials, nil
	}
	for len(partials) > 1 {
		at := 0
		if w == rightward {
			at = len(partials) - 2
		}
		p, err := merge(partials[at], partials[at+1])
		if err != nil {
			return nil, err
		}
		partials = slices.Replace(partials, at, at+2, p)
	}
	return partials, nil
}

// lines prints a final as the module did: rows first.
func (f Final) lines() ([]string, error) {
	var all []any
	for _, r := range f.Rows {
		all = append(all, struct {
			T string `json:"t"`
			Row
		}{"row", r})
	}
	all = append(all, struct {
		T         string          `json:"t"`
		N         int64           `json:"n"`
		Data      json.RawMessage `json:"data"`
		Summary   string          `json:"summary,omitempty"`
		Truncated int64           `json:"truncated,omitempty"`
	}{"final", f.N, f.Value, f.Summary, f.Truncated})
	return jsonLines(all)
}

// plannerTrial plans once, and again.
type plannerTrial struct {
	p     Planning
	final Final
	done  []DoneUnit
}

// defaultBudget is a planner's budget in a trial that states none.
const defaultBudget = 1_000

func newPlannerTrial(t Trial) (trialRunner, error) {
	p := plannerTrial{p: Planning{Use: t.Use, Budget: t.Budget, Jobs: MaxPlannedJobs, Round: t.round}}
	if t.jobs > 0 {
		p.p.Jobs = t.jobs
	}
	if t.Budget == 0 {
		p.p.Budget = defaultBudget
	}
	for i, line := range t.Records {
		var r struct {
			T string `json:"t"`
			DoneUnit
			N       int64           `json:"n"`
			Data    json.RawMessage `json:"data"`
			Summary string          `json:"summary"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, &RecordError{Number: i + 1, Err: err}
		}
		switch {
		case r.T == "final" && i == 0:
			p.final = Final{N: r.N, Value: r.Data, Summary: r.Summary}
		case r.T == "unit":
			p.done = append(p.done, r.DoneUnit)
		case slices.Contains([]string{ChainJob, ChainMetrics, ChainSaid}, r.T) && len(p.done) == 0:
			p.p.Chain = append(p.p.Chain, ChainRecord(line))
		default:
			return nil, &RecordError{Number: i + 1, Err: fmt.Errorf("it is of type %.40q: a planner reads one final, then what is known of the chain, and then units", r.T)}
		}
	}
	return p, nil
}

func (plannerTrial) ways() []way { return []way{whole} }

func (t plannerTrial) once(ctx context.Context, s *TrialStats, _ way) ([]string, error) {
	plan, stats, err := t.p.Plan(ctx, t.final, Each(t.done))
	if err != nil {
		return nil, err
	}
	s.add(stats)
	var all []any
	for _, j := range plan.Jobs {
		all = append(all, struct {
			T string `json:"t"`
			PlannedJob
		}{"job", j})
	}
	for _, u := range plan.Units {
		all = append(all, struct {
			T string `json:"t"`
			PlannedUnit
		}{"unit", u})
	}
	if plan.noted {
		all = append(all, struct {
			T      string          `json:"t"`
			Reason string          `json:"reason,omitempty"`
			Data   json.RawMessage `json:"data,omitempty"`
		}{"note", plan.Reason, plan.Note})
	}
	if plan.Stopped {
		all = append(all, struct {
			T      string `json:"t"`
			Reason string `json:"reason"`
		}{"stop", plan.Reason})
	}
	return jsonLines(all)
}
