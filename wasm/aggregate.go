package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
)

// MergeFanIn is how many partials one merge should take: with it a million
// results in pages of 1,024 are two levels of merges, each of them small.
const MergeFanIn = 100

// MaxRef is how many bytes of a result that is passed by reference may go along
// as its head.
const MaxRef = 64 << 10

// Aggregation folds the results of one job with one module and one set of
// parameters.
type Aggregation struct {
	Use
	MaxPartial int64 // bytes of one partial; zero means MaxLine
}

// Item is one accepted result.
type Item struct {
	ID     string    // the shard's number
	Result []byte    // canonical JSON, embedded as it is; nil if Ref is set
	Ref    *Ref      // for a result longer than DefaultLine
	Files  []FileRef // artifacts that the shard left, by reference
}

// Ref stands for a result that is too large to be a record.
type Ref struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Head   string `json:"-"` // the first bytes as text, at most MaxRef
}

// FileRef stands for a file that a shard left.
type FileRef struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Partial is the fold of some results: the line that the module printed, to be
// stored and passed on as it is.
type Partial []byte

// Final is the aggregate of a job.
type Final struct {
	N         int64           // results in it
	Value     json.RawMessage // as the module printed it
	Summary   string          // what a person should know: what was left out and why
	Truncated int64           // how many values a limit left out
	Rows      []Row
}

// Row is a further result of a final, by name.
type Row struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
}

// Fold folds items, in shard order, into a partial.
func (a Aggregation) Fold(ctx context.Context, items iter.Seq2[Item, error]) (Partial, Stats, error) {
	var fed int64
	lines := func(yield func([]byte, error) bool) {
		fed = 0 // it may be read again
		for item, err := range items {
			var line []byte
			if err == nil {
				line, err = item.line()
			}
			fed++
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
	return a.fold(ctx, PhaseLeaf, lines, &fed)
}

// Merge merges partials, in shard order, into one.
func (a Aggregation) Merge(ctx context.Context, partials iter.Seq2[Partial, error]) (Partial, Stats, error) {
	var counted int64
	return a.fold(ctx, PhaseMerge, countPartials(partials, &counted), &counted)
}

// fold runs a phase that makes a partial out of as many results as counted
// says in the end.
func (a Aggregation) fold(ctx context.Context, phase Phase, records iter.Seq2[[]byte, error], counted *int64) (p Partial, stats Stats, err error) {
	stats, err = a.run(ctx, phase, records, func(answer []answerLine, stats Stats) (err error) {
		p, err = a.partial(answer, *counted, stats)
		if err == nil && a.MaxPartial > 0 && int64(len(p)) > a.MaxPartial {
			return a.tooLarge(int64(len(p)), stats)
		}
		return err
	})
	return p, stats, err
}

// tooLarge is the error of a module whose partial is longer than the aggregation lets it be.
func (a Aggregation) tooLarge(size int64, s Stats) error {
	return &Error{
		Class: ClassOutputLimit, Message: fmt.Sprintf("the partial has %d bytes; of a job with this many pages it may have %d", size, a.MaxPartial),
		Hint:   "let a partial carry less: the job has one for each of its pages, and they are all stored",
		Digest: a.Module.Digest, Stderr: s.Stderr, InLines: s.InLines, OutLines: s.OutLines, Memory: s.Memory, Fuel: s.Fuel, Wall: s.Wall,
	}
}

// Final turns partials, in shard order, into the aggregate.
func (a Aggregation) Final(ctx context.Context, partials iter.Seq2[Partial, error]) (Final, Stats, error) {
	var counted int64
	var f Final
	stats, err := a.run(ctx, PhaseFinal, countPartials(partials, &counted), func(answer []answerLine, stats Stats) (err error) {
		f, err = a.final(answer, counted, stats)
		return err
	})
	return f, stats, err
}

// Each makes an iterator of a slice.
func Each[T any](values []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// line encodes an item as a record.
func (i Item) line() ([]byte, error) {
	id, err := json.Marshal(i.ID)
	if err != nil {
		return nil, fmt.Errorf("encoding the id of an item: %w", err)
	}
	line := append([]byte(`{"t":"item","id":`), id...)
	if i.Ref == nil {
		if len(i.Result) == 0 {
			return nil, fmt.Errorf("item %s has neither a result nor a reference", id)
		}
		line = append(append(line, `,"result":`...), i.Result...)
	} else if line, err = i.Ref.append(line); err != nil {
		return nil, fmt.Errorf("item %s: %w", id, err)
	}
	if len(i.Files) > 0 {
		files, err := json.Marshal(i.Files)
		if err != nil {
			return nil, fmt.Errorf("encoding the files of item %s: %w", id, err)
		}
		line = append(append(line, `,"files":`...), files...)
	}
	if line = append(line, '}'); len(line) > DefaultLine {
		return nil, fmt.Errorf("item %s is %d bytes as a record; at most %d are allowed (pass it by reference)", id, len(line), DefaultLine)
	}
	return line, nil
}

func (r Ref) append(line []byte) ([]byte, error) {
	if len(r.Head) > MaxRef {
		return nil, fmt.Errorf("the head of its reference is %d bytes; at most %d are allowed", len(r.Head), MaxRef)
	}
	ref, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a reference: %w", err)
	}
	head, err := json.Marshal(r.Head)
	if err != nil {
		return nil, fmt.Errorf("encoding the head of a reference: %w", err)
	}
	line = append(append(line, `,"ref":`...), ref...)
	return append(append(line, `,"head":`...), head...), nil
}

// answerLine is any line that an aggregator prints.
type answerLine struct {
	T         string          `json:"t"`
	N         *int64          `json:"n"`
	Name      string          `json:"name"`
	Data      json.RawMessage `json:"data"`
	Summary   string          `json:"summary"`
	Truncated int64           `json:"truncated"`
	raw       []byte
}

// run runs one phase and hands the lines that the module printed to take. They
// are within the output limit together, so they may be kept.
func (a Aggregation) run(ctx context.Context, phase Phase, records iter.Seq2[[]byte, error], take func([]answerLine, Stats) error) (Stats, error) {
	var answer []answerLine
	var bad error
	return a.Use.run(ctx, Header{Kind: KindAggregator, Phase: phase}, records, func(line []byte) error {
		l := answerLine{raw: append([]byte(nil), line...)}
		if err := json.Unmarshal(l.raw, &l); err != nil && bad == nil {
			bad = fmt.Errorf("line %d of stdout is not a record of an aggregator: %s", len(answer)+1, clean(err.Error()))
		}
		answer = append(answer, l)
		return nil
	}, func(stats Stats) error {
		if bad != nil {
			return a.badOutput(stats, "%s", bad)
		}
		return take(answer, stats)
	})
}

// partial checks the answer to leaf and merge. The host knows how many results
// went in, so a module that loses or repeats some is found out here.
func (a Aggregation) partial(answer []answerLine, counted int64, s Stats) (Partial, error) {
	if len(answer) != 1 || answer[0].T != "partial" {
		return nil, a.badOutput(s, "the module printed %s; exactly one partial is expected", describe(answer))
	}
	if err := a.checkCount(answer[0], counted, s); err != nil {
		return nil, err
	}
	return answer[0].raw, nil
}

// final checks the answer to final.
func (a Aggregation) final(answer []answerLine, counted int64, s Stats) (Final, error) {
	var f *Final
	var rows []Row
	for _, l := range answer {
		switch {
		case l.T == "row" && l.Name != "" && l.Data != nil:
			rows = append(rows, Row{Name: l.Name, Data: l.Data})
		case l.T == "final" && f == nil:
			if err := a.checkCount(l, counted, s); err != nil {
				return Final{}, err
			}
			f = &Final{N: *l.N, Value: l.Data, Summary: l.Summary, Truncated: l.Truncated}
		default:
			return Final{}, a.badOutput(s, "the module printed %s; exactly one final and rows with name and data are expected", describe(answer))
		}
	}
	if f == nil {
		return Final{}, a.badOutput(s, "the module printed %s; exactly one final is expected", describe(answer))
	}
	f.Rows = rows
	return *f, nil
}

func (a Aggregation) checkCount(l answerLine, counted int64, s Stats) error {
	if l.N == nil || l.Data == nil {
		return a.badOutput(s, "the %s has no n or no data", l.T)
	}
	if *l.N != counted {
		return a.badOutput(s, "the %s says n = %d, but %d results went in", l.T, *l.N, counted)
	}
	return nil
}

// describe says what a module printed, for a message.
func describe(answer []answerLine) string {
	if len(answer) == 0 {
		return "nothing"
	}
	const shown = 40
	return fmt.Sprintf("%d lines, the first of type %.*q", len(answer), shown, clean(answer[0].T))
}

// countPartials passes partials on and adds up how many results are in them.
func countPartials(partials iter.Seq2[Partial, error], counted *int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		*counted = 0 // it may be read again
		for p, err := range partials {
			var n int64
			if err == nil {
				n, err = p.Count()
			}
			*counted += n
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// Count returns how many results are in a partial.
func (p Partial) Count() (int64, error) {
	var l answerLine
	if err := json.Unmarshal(p, &l); err != nil {
		return 0, fmt.Errorf("reading a stored partial: %w", err)
	}
	if l.T != "partial" || l.N == nil || *l.N < 0 {
		return 0, fmt.Errorf("reading a stored partial: it is of type %.20q or has no n", l.T)
	}
	return *l.N, nil
}
