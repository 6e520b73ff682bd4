package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
)

// Heuristics lets a module score code or results. Scores are advice, never a
// verdict.
type Heuristics struct{ Use }

// Subject says what a heuristic looks at.
type Subject string

// The subjects.
const (
	SubjectResult Subject = "result" // the output of a shard
	SubjectCode   Subject = "code"   // a file of a function
)

// Evidence is one thing to score.
type Evidence struct {
	ID      string
	Subject Subject
	Content json.RawMessage // a result; nil for code
	Text    string          // code; empty for a result
	Name    string          // the file's name, for code

	Agent    string    // whose attempt a result is
	Ref      *Ref      // instead of a result that is too large to be a record
	Measures *Measures // of a result
}

// Measures are what an attempt took, as its supervisor has measured it.
type Measures struct {
	OutputBytes int64 `json:"output_bytes"`
	CPUMicros   int64 `json:"cpu_us"`
	WallMicros  int64 `json:"wall_us"`
	PeakRSS     int64 `json:"peak_rss_bytes"`
}

// Bounds of what a heuristic says about one thing: it is shown beside it.
const (
	MaxLabels  = 32      // labels
	MaxLabel   = 64      // bytes of one
	MaxExplain = 4 << 10 // bytes of the explanation
	MaxPlaces  = 64      // places in a file
	MaxPlace   = 1 << 10 // bytes of what is said about a place
)

// Place is where in a file something weighs.
type Place struct {
	Line   int64   `json:"line,omitempty"`
	Label  string  `json:"label,omitempty"`
	Weight float64 `json:"weight,omitempty"` // 0 to 1
	What   string  `json:"what,omitempty"`
	Text   string  `json:"text,omitempty"` // of the line
}

// Score is a heuristic's answer about one thing.
type Score struct {
	ID      string   `json:"id"`
	Score   *float64 `json:"score"` // 0 to 1; 1 is what most deserves a look
	Labels  []string `json:"labels,omitempty"`
	Explain string   `json:"explain,omitempty"`
	Places  []Place  `json:"findings,omitempty"`
}

// Score returns one score for each thing, in their order. At most MaxBatch go
// into a batch.
func (h Heuristics) Score(ctx context.Context, things iter.Seq2[Evidence, error]) ([]Score, Stats, error) {
	var sent []Evidence
	return answers(ctx, h.Use, Header{Kind: KindHeuristic}, encoded(things, &sent, Evidence.line), func(list []Score, stats Stats) error {
		if len(list) != len(sent) {
			return h.badOutput(stats, "the module printed %d lines for %d items; exactly one for each is expected", len(list), len(sent))
		}
		for i, s := range list {
			if err := s.check(sent[i].ID); err != nil {
				return h.badOutput(stats, "line %d of stdout: %v", i+1, err)
			}
		}
		return nil
	})
}

func (e Evidence) line() ([]byte, error) {
	record := struct {
		T       string          `json:"t"`
		ID      string          `json:"id"`
		Subject Subject         `json:"subject"`
		Name    string          `json:"name,omitempty"`
		Content json.RawMessage `json:"content"`
		Text    *string         `json:"text"`

		Agent    string    `json:"agent,omitempty"`
		Ref      *Ref      `json:"ref,omitempty"`
		Measures *Measures `json:"measures,omitempty"`
	}{T: "item", ID: e.ID, Subject: e.Subject, Name: e.Name, Content: e.Content, Agent: e.Agent, Ref: e.Ref, Measures: e.Measures}
	if e.Subject == SubjectCode {
		record.Text = &e.Text
	}
	line, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("encoding %q: %w", e.ID, err)
	}
	return line, nil
}

// check holds a score against the thing that it is about.
func (s Score) check(id string) error {
	switch {
	case s.ID != id:
		return fmt.Errorf("it is about %.80q; %q comes next", s.ID, id)
	case s.Score == nil || !isScore(*s.Score):
		return fmt.Errorf("%q has no score between 0 and 1", id)
	case len(s.Labels) > MaxLabels:
		return fmt.Errorf("%q has %d labels; at most %d are allowed", id, len(s.Labels), MaxLabels)
	case len(s.Explain) > MaxExplain:
		return fmt.Errorf("the explanation of %q is %d bytes; at most %d are allowed", id, len(s.Explain), MaxExplain)
	}
	if len(s.Places) > MaxPlaces {
		return fmt.Errorf("%q has %d findings; at most %d are allowed", id, len(s.Places), MaxPlaces)
	}
	for _, p := range s.Places {
		if p.Line < 0 || !isScore(p.Weight) || len(p.Label) > MaxLabel || len(p.What) > MaxPlace || len(p.Text) > MaxPlace {
			return fmt.Errorf("a finding of %q is not acceptable: a line from 0, a weight of 0 to 1, a label of %d and texts of %d bytes", id, MaxLabel, MaxPlace)
		}
	}
	for _, l := range s.Labels {
		if l == "" || len(l) > MaxLabel {
			return fmt.Errorf("a label of %q is %d bytes; 1 to %d are allowed", id, len(l), MaxLabel)
		}
	}
	return nil
}
