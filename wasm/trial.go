package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Trial runs a module on records that its owner brought, the way a job would,
// and then in other ways that must not make a difference.
type Trial struct {
	Use
	Kind Kind
	// Records are lines, as each kind reads them; an aggregator's may be bare
	// results. A header may come first, as in a batch that the server kept: it
	// is repeated as it was, with the header's parameters unless others are given.
	Records [][]byte
	Budget  int64 // of a planner

	phase Phase // of a batch that is repeated
	round int64
	jobs  int64 // that the planner of a batch that is run again could plan; 0: the most
}

// MaxTrialRecords is how many records a trial takes: it runs them many times.
const MaxTrialRecords = 100_000

// Report is what a trial found.
type Report struct {
	Digest      string          `json:"digest"`
	Kind        Kind            `json:"kind"`
	Bytes       int             `json:"bytes"` // of the module
	Description *Description    `json:"description,omitempty"`
	Output      []string        `json:"output"` // the lines of the first run
	Stats       TrialStats      `json:"stats"`
	Findings    []Finding       `json:"findings"`
	Error       *Error          `json:"error,omitempty"` // why the first run, or another, failed
	Params      json.RawMessage `json:"params"`
}

// TrialStats add up the batches of the first run.
type TrialStats struct {
	Batches  int           `json:"batches"`
	InLines  int64         `json:"in_lines"`
	InBytes  int64         `json:"in_bytes"`
	OutLines int64         `json:"out_lines"`
	OutBytes int64         `json:"out_bytes"`
	Fuel     int64         `json:"fuel"`
	Memory   int64         `json:"memory"` // the most of any batch, bytes
	Wall     time.Duration `json:"wall_ns"`
	Stderr   string        `json:"stderr,omitempty"` // of the last batch that wrote any
}

// Finding is one thing that was held against the contract.
type Finding struct {
	Check  string `json:"check"`
	Passed bool   `json:"passed"`
	Detail string `json:"detail,omitempty"`
}

// Passed tells whether nothing was found.
func (r Report) Passed() bool {
	for _, f := range r.Findings {
		if !f.Passed {
			return false
		}
	}
	return r.Error == nil
}

func (s *TrialStats) add(b Stats) {
	s.Batches++
	s.InLines, s.InBytes = s.InLines+b.InLines, s.InBytes+b.InBytes
	s.OutLines, s.OutBytes = s.OutLines+b.OutLines, s.OutBytes+b.OutBytes
	s.Fuel, s.Wall, s.Memory = s.Fuel+b.Fuel, s.Wall+b.Wall, max(s.Memory, b.Memory)
	if b.Stderr != "" {
		s.Stderr = b.Stderr
	}
}

// Try checks a module as an upload does, and then tries it. An error means that
// the trial could not be made; what the module does wrong is in the report.
func (t Trial) Try(ctx context.Context, module []byte) (Report, error) {
	t.Module = FromBytes(module)
	report := Report{Digest: t.Module.Digest, Kind: t.Kind, Bytes: len(module), Output: []string{}, Findings: []Finding{}}
	if len(t.Records) > MaxTrialRecords {
		return report, fmt.Errorf("a trial takes at most %d records; there are %d", MaxTrialRecords, len(t.Records))
	}
	if err := t.repeat(); err != nil {
		return report, err
	}
	info, err := t.Pool.Check(ctx, t.Project, module, t.Kind)
	if err != nil {
		return report.failed("upload", err)
	}
	report.pass("upload", "the checks of an upload")
	report.Description = info.Description
	if len(t.Params) == 0 {
		t.Params = info.Description.ExampleParams()
	}
	report.Params = t.Params
	if err := info.Description.CheckParams(t.Params); err != nil {
		report.fail("parameters", err.Error())
		if t.phase == "" {
			return report, nil
		}
		// A batch that is repeated goes on: it was run with them, and what came of it is the question.
	}
	run, err := t.runner()
	if err != nil {
		return report, err
	}
	first, err := run.once(ctx, &report.Stats, whole)
	if err != nil {
		return report.failed("run", err)
	}
	report.Output = first
	report.pass("run", fmt.Sprintf("%d records, %d lines out", report.Stats.InLines, len(first)))
	return t.compare(ctx, report, run)
}

// compare runs again in every way that must give the same.
func (t Trial) compare(ctx context.Context, report Report, run trialRunner) (Report, error) {
	cuts := report.Description.separate()
	if t.Kind == KindAggregator {
		cuts = report.Description.associative()
	}
	for _, way := range run.ways() {
		if way != whole && !cuts {
			continue // it says itself that this makes a difference
		}
		var stats TrialStats
		lines, err := run.once(ctx, &stats, way)
		if err != nil {
			return report.failed(way.check, fmt.Errorf("%s: %w", way.name, err))
		}
		switch difference := firstDifference(report.Output, lines); {
		case difference != "":
			report.fail(way.check, way.name+": "+difference)
		case way == whole && stats.Fuel != report.Stats.Fuel:
			report.fail(way.check, fmt.Sprintf("%s: it used %d units instead of %d", way.name, stats.Fuel, report.Stats.Fuel))
		default:
			report.pass(way.check, way.name)
		}
	}
	return report, nil
}

func (r *Report) pass(check, detail string) {
	r.Findings = append(r.Findings, Finding{Check: check, Passed: true, Detail: detail})
}

func (r *Report) fail(check, detail string) {
	r.Findings = append(r.Findings, Finding{Check: check, Detail: detail})
}

// failed puts a module's failure into the report; any other error stops the trial.
func (r Report) failed(check string, err error) (Report, error) {
	var module *Error
	if !errors.As(err, &module) || module.Class == ClassHost {
		return r, err
	}
	r.fail(check, err.Error())
	r.Error = module
	return r, nil
}

// firstDifference says where two outputs differ; empty if they do not.
func firstDifference(want, got []string) string {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Sprintf("line %d is %.200s instead of %.200s", i+1, got[i], want[i])
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("there are %d lines instead of %d", len(got), len(want))
	}
	return ""
}

// Against compares the output with what was expected, as JSON: the order of
// keys and white space make no difference.
func (r *Report) Against(expected []byte) error {
	want, err := compactLines(splitLines(expected))
	if err != nil {
		return fmt.Errorf("reading what is expected: %w", err)
	}
	got, err := compactLines(bytesOf(r.Output))
	if err != nil {
		return fmt.Errorf("reading the output: %w", err)
	}
	if difference := firstDifference(want, got); difference != "" {
		r.fail("expected", difference)
	} else {
		r.pass("expected", fmt.Sprintf("%d lines are as expected", len(got)))
	}
	return nil
}

func bytesOf(lines []string) (all [][]byte) {
	for _, l := range lines {
		all = append(all, []byte(l))
	}
	return all
}

// compactLines writes each line in one form: keys sorted, numbers as they are.
func compactLines(lines [][]byte) ([]string, error) {
	var all []string
	for i, line := range lines {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, string(b))
	}
	return all, nil
}

// SplitRecords cuts a file of JSON lines; empty lines are left out.
func SplitRecords(file []byte) [][]byte { return splitLines(file) }

func splitLines(b []byte) (lines [][]byte) {
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// way is how a trial cuts the records.
type way struct{ check, name string }

// The ways. Not every kind knows every one.
var (
	whole     = way{"determinism", "the same again"}
	halves    = way{"chunks", "in two batches"}
	sevenths  = way{"chunks", "in seven batches"}
	oneAlone  = way{"chunks", "the first record alone"}
	leftward  = way{"associativity", "seven leaves, merged from the left"}
	rightward = way{"associativity", "seven leaves, merged from the right"}
	balanced  = way{"associativity", "two leaves, merged"}
)

// trialRunner runs a kind's records in one way and returns the lines.
type trialRunner interface {
	ways() []way
	once(ctx context.Context, s *TrialStats, w way) ([]string, error)
}

// chunks cuts n records as a way says.
func (w way) chunks(n int) [][2]int {
	size := n
	switch w {
	case halves, balanced:
		size = (n + 1) / 2
	case sevenths, leftward, rightward:
		size = (n + 6) / 7
	case oneAlone:
		if n > 1 {
			return [][2]int{{0, 1}, {1, n}}
		}
	}
	var cuts [][2]int
	for from := 0; from < n; from += size {
		cuts = append(cuts, [2]int{from, min(n, from+size)})
	}
	if len(cuts) == 0 {
		cuts = [][2]int{{0, 0}}
	}
	return cuts
}

func (t Trial) runner() (trialRunner, error) {
	switch t.Kind {
	case KindAggregator:
		if t.phase == PhaseMerge || t.phase == PhaseFinal {
			parts, err := decodeAll(t.Records, readPartial)
			return partialsTrial{Aggregation{Use: t.Use}, parts, t.phase}, err
		}
		items, err := decodeAll(t.Records, readItem)
		return aggregatorTrial{Aggregation{Use: t.Use}, items}, err
	case KindValidator:
		units, err := decodeAll(t.Records, readJSON[Unit])
		return itemTrial[Unit, Judgement]{units, Validation{t.Use}.Judge}, err
	case KindHeuristic:
		things, err := decodeAll(t.Records, readEvidence)
		return itemTrial[Evidence, Score]{things, Heuristics{t.Use}.Score}, err
	case KindPlanner:
		return newPlannerTrial(t)
	}
	return nil, fmt.Errorf("there is no kind %q of modules", t.Kind)
}

// RecordError says that a trial's records are not those of the module's kind.
type RecordError struct {
	Number int // of the record, from 1
	Err    error
}

// Error names the record.
func (e *RecordError) Error() string { return fmt.Sprintf("record %d: %v", e.Number, e.Err) }

// Unwrap returns what is wrong with it.
func (e *RecordError) Unwrap() error { return e.Err }

// decodeAll decodes all records.
func decodeAll[T any](records [][]byte, decode func(int, []byte) (T, error)) ([]T, error) {
	all := make([]T, 0, len(records))
	for i, r := range records {
		v, err := decode(i, r)
		if err != nil {
			return nil, &RecordError{Number: i + 1, Err: err}
		}
		all = append(all, v)
	}
	return all, nil
}

func readJSON[T any](_ int, line []byte) (v T, err error) {
	err = json.Unmarshal(line, &v)
	return v, err
}

// jsonLines encodes answers, one a line.
func jsonLines[T any](values []T) ([]string, error) {
	lines := []string{}
	for _, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encoding an answer: %w", err)
		}
		lines = append(lines, string(b))
	}
	return lines, nil
}

// itemTrial is the trial of a kind that answers items one by one: how they are
// cut into batches must make no difference.
type itemTrial[T, A any] struct {
	items  []T
	answer func(context.Context, iter.Seq2[T, error]) ([]A, Stats, error)
}

func (itemTrial[T, A]) ways() []way { return []way{whole, halves, sevenths, oneAlone} }

func (t itemTrial[T, A]) once(ctx context.Context, s *TrialStats, w way) ([]string, error) {
	var all []A
	for _, cut := range w.chunks(len(t.items)) {
		for from := cut[0]; from < cut[1] || from == cut[0]; from += MaxBatch {
			list, stats, err := t.answer(ctx, Each(t.items[from:min(cut[1], from+MaxBatch)]))
			if err != nil {
				return nil, err
			}
			s.add(stats)
			all = append(all, list...)
		}
	}
	return jsonLines(all)
}
