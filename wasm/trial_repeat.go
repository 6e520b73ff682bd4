package wasm

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// repeat takes a header off the records, if there is one, and sets the trial up
// as the batch was that it began.
func (t *Trial) repeat() error {
	if len(t.Records) == 0 {
		return nil
	}
	var h headerLine
	if json.Unmarshal(t.Records[0], &h) != nil || h.Ostraka == 0 || h.Phase == "" {
		return nil //nolint:nilerr // a record like the others
	}
	switch {
	case h.Ostraka != 1:
		return &RecordError{Number: 1, Err: fmt.Errorf("it is a header of contract %d; this program knows 1", h.Ostraka)}
	case h.Kind != t.Kind:
		return &RecordError{Number: 1, Err: fmt.Errorf("it is the header of a batch for a module of the kind %s, not %s", h.Kind, t.Kind)}
	}
	now, err := time.Parse(time.RFC3339Nano, h.Now)
	if err != nil {
		return &RecordError{Number: 1, Err: fmt.Errorf("its time: %w", err)}
	}
	seed, err := hex.DecodeString(h.Seed)
	if err != nil || copy(t.Seed[:], seed) != len(seed) || len(seed) != len(t.Seed) {
		return &RecordError{Number: 1, Err: fmt.Errorf("its seed is not %d bytes in hexadecimal", len(t.Seed))}
	}
	t.Records = t.Records[1:]
	t.phase, t.Project, t.Job, t.Now = h.Phase, h.Project, h.Job, now
	if len(t.Params) == 0 {
		t.Params = h.Params
	}
	if t.Fuel == 0 {
		t.Fuel = h.Limits.Fuel
	}
	if h.Budget != nil && t.Budget == 0 {
		t.Budget, t.jobs = h.Budget.Units, h.Budget.Jobs
	}
	if h.Round != nil {
		t.round = *h.Round
	}
	return nil
}

// readPartial reads a partial that a module made.
func readPartial(_ int, line []byte) (Partial, error) {
	p := Partial(line)
	_, err := p.Count()
	return p, err
}

// partialsTrial repeats a merge, or the making of a final.
type partialsTrial struct {
	a     Aggregation
	parts []Partial
	phase Phase
}

func (partialsTrial) ways() []way { return []way{whole} }

func (t partialsTrial) once(ctx context.Context, s *TrialStats, _ way) ([]string, error) {
	if t.phase == PhaseFinal {
		f, stats, err := t.a.Final(ctx, Each(t.parts))
		if err != nil {
			return nil, fmt.Errorf("finishing: %w", err)
		}
		s.add(stats)
		return f.lines()
	}
	p, stats, err := t.a.Merge(ctx, Each(t.parts))
	if err != nil {
		return nil, fmt.Errorf("merging %d partials: %w", len(t.parts), err)
	}
	s.add(stats)
	return []string{string(p)}, nil
}
