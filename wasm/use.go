package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Use is one module at work: for whom, for which job, with which parameters.
type Use struct {
	Pool    *Pool
	Project string
	Job     string
	Module  Module
	Params  json.RawMessage // an object; nil means {}
	Now     time.Time       // zero means Epoch
	Fuel    int64           // lowers the pool's limit for a batch; zero leaves it
	Seed    [32]byte        // zero means that it follows from the others
	// Watch is told of every batch that has ended, before its caller is; nil:
	// nobody wants to know.
	Watch func(context.Context, Ran)
}

// Ran is one batch that has ended.
type Ran struct {
	Kind    Kind
	Phase   Phase
	Started time.Time // with the time that the batch waited for a runner
	Stats   Stats
	Err     error // nil if it ended well, mostly an *Error else
	// Input is what the module was sent, line by line without line ends: the
	// header, then the records. It reads the records once more, so it holds
	// only while the caller's iterator can be read again.
	Input iter.Seq2[[]byte, error]
}

// run runs one batch; judge, if there is one, says what is wrong with the
// answer of a batch that ended well.
func (u Use) run(ctx context.Context, h Header, records iter.Seq2[[]byte, error], out func([]byte) error, judge func(Stats) error) (Stats, error) {
	h.Project, h.Job, h.Params, h.Now, h.Fuel, h.Seed = u.Project, u.Job, u.Params, u.Now, u.Fuel, u.Seed
	began := time.Now()
	stats, err := u.Pool.Run(ctx, u.Project, u.Module, h, records, out)
	if err == nil && judge != nil {
		err = judge(stats)
	}
	if u.Watch != nil {
		u.Watch(ctx, Ran{Kind: h.Kind, Phase: h.Phase, Started: began, Stats: stats, Err: err, Input: u.Pool.input(u.Module, h, records)})
	}
	return stats, err
}

// badOutput is the error of a module whose lines are not what its kind says.
func (u Use) badOutput(s Stats, format string, args ...any) error {
	return &Error{
		Class: ClassBadOutput, Message: clean(fmt.Sprintf(format, args...)), Hint: "see docs/modules.md for the records of each kind",
		Digest: u.Module.Digest, Stderr: s.Stderr, InLines: s.InLines, OutLines: s.OutLines, Memory: s.Memory, Fuel: s.Fuel, Wall: s.Wall,
	}
}

// MaxBatch is how many items a validator or a heuristic gets at once: a page of
// results, which heuristics compare with each other. A fresh instance for each
// thousand costs almost nothing, and what one batch makes wrong stays small.
const MaxBatch = 1_024

// answers runs the phase "run" and decodes the lines that the module printed,
// which are within the output limit together. A line that is no A is bad output.
// What judge finds wrong with all of them together is the batch's error.
func answers[A any](ctx context.Context, u Use, h Header, records iter.Seq2[[]byte, error], judge func([]A, Stats) error) ([]A, Stats, error) {
	var all []A
	var bad error
	h.Phase = PhaseRun
	stats, err := u.run(ctx, h, records, func(line []byte) error {
		var a A
		if err := json.Unmarshal(line, &a); err != nil && bad == nil {
			bad = fmt.Errorf("line %d of stdout is not a record of a %s: %w", len(all)+1, h.Kind, err)
		}
		all = append(all, a)
		return nil
	}, func(stats Stats) error {
		if bad != nil {
			return u.badOutput(stats, "%v", bad)
		}
		return judge(all, stats)
	})
	if err != nil {
		return nil, stats, err
	}
	return all, stats, nil
}

// encoded turns values into records, and remembers them in sent.
func encoded[T any](values iter.Seq2[T, error], sent *[]T, encode func(T) ([]byte, error)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		*sent = nil // it may be read again
		for value, err := range values {
			var line []byte
			if err == nil && len(*sent) == MaxBatch {
				err = fmt.Errorf("a batch has at most %d items", MaxBatch)
			}
			if err == nil {
				*sent = append(*sent, value)
				line, err = encode(value)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// isScore tells whether a score is what the contract asks for. JSON has no NaN.
func isScore(score float64) bool { return score >= 0 && score <= 1 }
