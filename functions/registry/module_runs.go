package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

const (
	// MaxModuleRuns is how many rows are kept of each module, by name: the newest. A row is a batch that failed, or all batches of one
	// phase of one aggregation that ended well.
	MaxModuleRuns = 1_000
	// MaxRunInput bounds the batch that is kept of a run that failed, in bytes: a page of results of 64 KiB, each as a record.
	MaxRunInput = 128 << 20
	// maxRunText bounds each text of a run in bytes, its step and stderr aside: the table takes twice as many characters.
	maxRunText = 4 << 10
	// maxRunStep bounds what a batch was run for, in bytes: a page, or the beginning of a name. The table takes 200 characters.
	maxRunStep = 190
)

// RunOK is the class of batches that ended well; all other classes are those of wasm.Error.
const RunOK = "ok"

// ModuleRun is one batch that failed, or the count of those that ended well.
type ModuleRun struct {
	ID           uuid.UUID  `json:"id"`
	Module       string     `json:"module"`
	Version      *int       `json:"version,omitempty" doc:"Left out for built-in modules."`
	Digest       string     `json:"digest"`
	Kind         string     `json:"kind"`
	Phase        string     `json:"phase" doc:"leaf, merge or final of an aggregator; run of all others."`
	JobID        *uuid.UUID `json:"job,omitempty"`
	Aggregation  *int       `json:"aggregation,omitempty" doc:"Which of the job's aggregations."`
	Step         string     `json:"step,omitempty" doc:"What a batch that failed was run for."`
	Class        string     `json:"class" doc:"ok, or how the batch failed: exit, trap, fuel, memory_limit, output_limit, bad_output, deadline, host, rejected, compile_limit."`
	Times        int64      `json:"times" doc:"How many batches this counts; those that failed are each by themselves."`
	StartedAt    time.Time  `json:"started_at"`
	EndedAt      time.Time  `json:"ended_at"`
	WallNs       int64      `json:"wall_ns" doc:"Of all batches, as fuel, lines and bytes are."`
	Fuel         int64      `json:"fuel"`
	FuelMost     int64      `json:"fuel_most" doc:"Of the batch that used most."`
	Memory       int64      `json:"memory" doc:"Bytes of linear memory, the most of any batch."`
	InLines      int64      `json:"in_lines"`
	InBytes      int64      `json:"in_bytes"`
	OutLines     int64      `json:"out_lines"`
	OutBytes     int64      `json:"out_bytes"`
	ExitCode     int64      `json:"exit_code"`
	Message      string     `json:"message,omitempty"`
	Hint         string     `json:"hint,omitempty"`
	Trap         string     `json:"trap,omitempty"`
	Frames       []string   `json:"frames"`
	Stderr       string     `json:"stderr,omitempty"`
	Input        *string    `json:"input,omitempty" doc:"The whole batch as the module read it, an object: a header, then records. ostraka module test runs it again."`
	InputBytes   *int64     `json:"input_bytes,omitempty"`
	InputMissing string     `json:"input_missing,omitempty" doc:"Why the batch was not kept."`
}

// Failed tells whether the run is one that did not end well.
func (r ModuleRun) Failed() bool { return r.Class != RunOK }

// ModuleRunFilter chooses runs; zero fields choose all.
type ModuleRunFilter struct {
	Version int
	Failed  *bool
	Job     *uuid.UUID
}

// ListModuleRuns lists the runs of a module that are kept, the newest first.
func (s *Service) ListModuleRuns(ctx context.Context, project uuid.UUID, module string, filter ModuleRunFilter, page functions.ListPage) (list []ModuleRun, err error) {
	var before *uuid.UUID
	if page.After != "" {
		id, err := base.AfterID(page)
		if err != nil {
			return nil, err
		}
		before = &id
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := moduleExists(ctx, tx, module); err != nil {
			return err
		}
		list, err = store.Many[ModuleRun](ctx, tx, sql.ListModuleRuns, module, before, base.PageLimit(page), filter.Version, filter.Failed, filter.Job)
		return err
	})
	return list, err
}

// GetModuleRun returns one run of a module.
func (s *Service) GetModuleRun(ctx context.Context, project uuid.UUID, module string, id uuid.UUID) (run ModuleRun, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		var found bool
		if run, found, err = store.One[ModuleRun](ctx, tx, sql.GetModuleRun, module, id); err == nil && !found {
			err = functions.NotFound("run", id.String())
		}
		return err
	})
	return run, err
}

func moduleExists(ctx context.Context, tx *store.Tx, name string) error {
	if builtin.Taken(name) || name == functions.ExternalModel {
		return nil
	}
	_, found, err := store.One[functions.Module](ctx, tx, sql.GetModule, name, 0)
	if err == nil && !found {
		return functions.NotFound("module", name)
	}
	return err
}

// ModuleUse is for whom and for what a module runs.
type ModuleUse struct {
	Project     uuid.UUID
	Job         uuid.UUID // Nil: it runs for no job
	Module      string    // its name
	Digest      string
	Aggregation int    // of the job; 0: it is no aggregator
	Step        string // what it runs for, for people
}

// ModuleRuns remembers the batches that a step has run. Those that failed are kept at once, for a step that fails keeps nothing else;
// the others are counted by keep, together with what the step keeps.
type ModuleRuns struct {
	s      *Service
	use    ModuleUse
	well   []wasm.Ran
	failed *uuid.UUID // the last one that failed
}

// WatchModule notes the runs of a module for a purpose, as Ran and RanAlone are told of them.
func (s *Service) WatchModule(use ModuleUse) *ModuleRuns { return &ModuleRuns{s: s, use: use} }

// Ran is told of a batch.
func (r *ModuleRuns) Ran(ctx context.Context, ran wasm.Ran) {
	if ran.Err == nil {
		r.well = append(r.well, ran)
		return
	}
	if ctx.Err() != nil {
		return // nothing waits for it any more: we ended it
	}
	id := base.NewID()
	if err := r.keepFailed(ctx, id, ran); err != nil {
		r.s.env.Log.Warn("a failed run of a module could not be kept", "project", r.use.Project, "job", r.use.Job, "module", r.use.Module, "error", err)
		return
	}
	r.failed = &id
}

// RanAlone is ran for a caller that keeps nothing itself.
func (r *ModuleRuns) RanAlone(ctx context.Context, ran wasm.Ran) {
	r.Ran(ctx, ran)
	if len(r.well) == 0 {
		return
	}
	err := r.s.env.Project(ctx, r.use.Project, func(tx *store.Tx) error { return r.Keep(ctx, tx) })
	r.well = nil
	if err != nil && ctx.Err() == nil {
		r.s.env.Log.Warn("a run of a module could not be counted", "project", r.use.Project, "job", r.use.Job, "module", r.use.Module, "error", err)
	}
}

// Named adds the failed run to an error, so that its reader finds the batch.
func (r *ModuleRuns) Named(err error) error {
	if err == nil || r.failed == nil {
		return err
	}
	return &failedRun{id: *r.failed, err: err}
}

// failedRun is an error of a module's run that was kept.
type failedRun struct {
	id  uuid.UUID
	err error
}

func (f *failedRun) Error() string { return fmt.Sprintf("%v; module run %s", f.err, f.id) }

func (f *failedRun) Unwrap() error { return f.err }

// RunOf returns the run that an error names.
func RunOf(err error) *uuid.UUID {
	if f, ok := errors.AsType[*failedRun](err); ok {
		return &f.id
	}
	return nil
}

// Keep counts the batches that ended well.
func (r *ModuleRuns) Keep(ctx context.Context, tx *store.Tx) error {
	for _, ran := range r.well {
		times, _, err := store.Value[int64](ctx, tx, sql.CountModuleRun, append([]any{base.NewID()}, r.common(ran)...)...)
		if err != nil {
			return fmt.Errorf("counting a run of the module %s: %w", r.use.Module, err)
		}
		if times == 1 {
			if err := r.forget(ctx, tx); err != nil {
				return err
			}
		}
	}
	return nil
}

// common are the columns of every run but the id.
func (r *ModuleRuns) common(ran wasm.Ran) []any {
	var aggregation *int
	if r.use.Aggregation > 0 {
		aggregation = &r.use.Aggregation
	}
	var job *uuid.UUID
	if r.use.Job != uuid.Nil {
		job = &r.use.Job
	}
	s := ran.Stats
	return []any{
		r.use.Module, r.use.Digest, string(ran.Kind), string(ran.Phase), job, aggregation, ran.Started, time.Now(),
		int64(s.Wall), s.Fuel, s.Memory, s.InLines, s.InBytes, s.OutLines, s.OutBytes,
	}
}

// keepFailed stores the batch, and then the row that names it.
func (r *ModuleRuns) keepFailed(ctx context.Context, id uuid.UUID, ran wasm.Ran) error {
	var failure *wasm.Error
	if !errors.As(ran.Err, &failure) {
		failure = &wasm.Error{Class: wasm.ClassHost, Message: ran.Err.Error()}
	}
	input, size, missing := r.keepInput(ctx, failure, ran.Input)
	frames := failure.Frames
	if frames == nil {
		frames = []string{}
	}
	args := append([]any{id}, r.common(ran)...)
	args = append(args, ShortText(r.use.Step, maxRunStep), string(failure.Class), int64(failure.ExitCode), ShortText(failure.Message, maxRunText), ShortText(failure.Hint, maxRunText),
		ShortText(failure.Trap, maxRunText), frames, failure.Stderr, input, size, ShortText(missing, maxRunText))
	return r.s.env.Project(ctx, r.use.Project, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.AddFailedModuleRun, args...); err != nil {
			return err
		}
		return r.forget(ctx, tx)
	})
}

// keepInput stores the whole batch as an object, or says why there is none.
func (r *ModuleRuns) keepInput(ctx context.Context, failure *wasm.Error, input iter.Seq2[[]byte, error]) (digest *string, size *int64, missing string) {
	if failure.Class == wasm.ClassHost {
		return nil, nil, "nothing of it was the module's fault"
	}
	lines := newLineReader(input)
	defer lines.stop()
	stored, n, err := r.s.env.Blobs.Put(ctx, r.use.Project, lines, MaxRunInput)
	switch {
	case errors.Is(err, blob.ErrTooLarge):
		return nil, nil, fmt.Sprintf("the batch has more than the %d bytes that are kept", MaxRunInput)
	case err != nil:
		r.s.env.Log.Warn("the batch of a failed run could not be kept", "project", r.use.Project, "job", r.use.Job, "module", r.use.Module, "error", err)
		return nil, nil, "it could not be stored"
	}
	return &stored, &n, ""
}

// forget keeps the number of rows within its bound.
func (r *ModuleRuns) forget(ctx context.Context, tx *store.Tx) error {
	if _, err := store.Exec(ctx, tx, sql.ForgetModuleRuns, r.use.Module, MaxModuleRuns); err != nil {
		return fmt.Errorf("forgetting old runs of the module %s: %w", r.use.Module, err)
	}
	return nil
}

// ShortText keeps the beginning of a text: so many bytes, and a sign that there was more.
func ShortText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// lineReader reads lines, each with the line end that it lacks.
type lineReader struct {
	next func() ([]byte, error, bool)
	stop func()
	left []byte
}

func newLineReader(lines iter.Seq2[[]byte, error]) *lineReader {
	next, stop := iter.Pull2(lines)
	return &lineReader{next: next, stop: stop}
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		line, err, more := r.next()
		switch {
		case !more:
			return 0, io.EOF
		case err != nil:
			return 0, fmt.Errorf("reading the batch again: %w", err)
		}
		r.left = append(append(r.left[:0], line...), '\n')
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}
