package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
)

// Validation lets a module decide about units of work.
type Validation struct{ Use }

// Unit is a unit of work with all results that came back for it.
type Unit struct {
	ID      string
	Input   json.RawMessage
	Results []UnitResult
}

// UnitResult is one agent's result.
type UnitResult struct {
	ID      string          `json:"id"`
	Worker  string          `json:"worker"`
	MS      int64           `json:"ms"` // how long it took
	Attempt int             `json:"attempt"`
	Result  json.RawMessage `json:"result"`
}

// Verdict is what a validator decides.
type Verdict string

// The verdicts.
const (
	VerdictAccept Verdict = "accept" // the canonical result counts
	VerdictReject Verdict = "reject" // no result counts
	VerdictRetry  Verdict = "retry"  // send the unit out again
	VerdictUnsure Verdict = "unsure" // more replicas, or a person, must decide
)

// MaxReason bounds a reason in bytes: it is shown in lists.
const MaxReason = 4 << 10

// Judgement is a validator's answer about one unit.
type Judgement struct {
	ID        string          `json:"id"`
	Verdict   Verdict         `json:"verdict"`
	Canonical string          `json:"canonical,omitempty"` // the result that counts; empty unless accepted
	Score     *float64        `json:"score,omitempty"`     // 0 to 1; nil if the module gives none
	Reason    string          `json:"reason,omitempty"`
	Results   []ResultOpinion `json:"results,omitempty"`
}

// ResultOpinion is what a validator thinks of one result.
type ResultOpinion struct {
	ID string `json:"id"`
	OK bool   `json:"ok"`
}

// Judge returns one judgement per unit, in their order. At most MaxBatch units
// go into a batch.
func (v Validation) Judge(ctx context.Context, units iter.Seq2[Unit, error]) ([]Judgement, Stats, error) {
	var sent []Unit
	return answers(ctx, v.Use, Header{Kind: KindValidator}, encoded(units, &sent, Unit.line), func(list []Judgement, stats Stats) error {
		if len(list) != len(sent) {
			return v.badOutput(stats, "the module printed %d lines for %d items; exactly one for each is expected", len(list), len(sent))
		}
		for i, j := range list {
			if err := j.check(sent[i]); err != nil {
				return v.badOutput(stats, "line %d of stdout: %v", i+1, err)
			}
		}
		return nil
	})
}

func (u Unit) line() ([]byte, error) {
	line, err := json.Marshal(struct {
		T       string          `json:"t"`
		ID      string          `json:"id"`
		Input   json.RawMessage `json:"input"`
		Results []UnitResult    `json:"results"`
	}{"item", u.ID, u.Input, u.Results})
	if err != nil {
		return nil, fmt.Errorf("encoding unit %q: %w", u.ID, err)
	}
	return line, nil
}

// check holds a judgement against the unit that it is about.
func (j Judgement) check(u Unit) error {
	known := func(id string) bool {
		return slices.ContainsFunc(u.Results, func(r UnitResult) bool { return r.ID == id })
	}
	switch j.Verdict {
	case VerdictAccept:
		if !known(j.Canonical) {
			return fmt.Errorf("unit %q is accepted with the canonical result %.80q, which it does not have", u.ID, j.Canonical)
		}
	case VerdictReject, VerdictRetry, VerdictUnsure:
		if j.Canonical != "" {
			return fmt.Errorf("unit %q has the verdict %s and a canonical result", u.ID, j.Verdict)
		}
	default:
		return fmt.Errorf("the verdict %.80q of unit %q is none of accept, reject, retry, unsure", j.Verdict, u.ID)
	}
	switch {
	case j.ID != u.ID:
		return fmt.Errorf("it is about %.80q; unit %q comes next", j.ID, u.ID)
	case j.Score != nil && !isScore(*j.Score):
		return fmt.Errorf("the score %v of unit %q is not between 0 and 1", *j.Score, u.ID)
	case len(j.Reason) > MaxReason:
		return fmt.Errorf("the reason for unit %q is %d bytes; at most %d are allowed", u.ID, len(j.Reason), MaxReason)
	}
	for _, r := range j.Results {
		if !known(r.ID) {
			return fmt.Errorf("unit %q has no result %.80q", u.ID, r.ID)
		}
	}
	return nil
}
