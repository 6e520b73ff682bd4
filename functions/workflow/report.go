package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
)

const (
	// MaxDocumentBytes is the largest document that a report makes, in bytes.
	MaxDocumentBytes = 16 << 20
	// MaxReportInput is how much a module reads to make one, in bytes of JSON: a record's line less what stands around it. A function reads
	// partition.MaxItemBytes at most, as any shard does.
	MaxReportInput = wasm.DefaultLine - 256
	// MaxReportTries is how often in a row the module of a report may ask for another try before it has failed.
	MaxReportTries = 5
)

// ReportDocument is what a report came to, a stored object.
type ReportDocument struct {
	Name   string `json:"name" doc:"What to call the file."`
	Digest string `json:"digest" doc:"SHA-256: it is read as any stored object."`
	Bytes  int64  `json:"bytes"`
}

// reportInput is what a report reads.
type reportInput struct {
	Workflow   string                     `json:"workflow"`
	Version    int                        `json:"version"`
	Run        uuid.UUID                  `json:"run"`
	Parameters map[string]json.RawMessage `json:"parameters"`
	Steps      map[string]reportStep      `json:"steps"` // all that come before it
}

// reportStep is what a report reads of a step.
type reportStep struct {
	Type    graph.StepType   `json:"type"`
	Job     *uuid.UUID       `json:"job,omitempty"`
	Answer  json.RawMessage  `json:"answer,omitempty"` // of a map, a prove or a fold
	Metrics *planner.Metrics `json:"metrics,omitempty"`
}

// reportInput puts together what a report reads.
func (s *Service) reportInput(ctx context.Context, project uuid.UUID, v view, step graph.Step) ([]byte, error) {
	in := reportInput{Workflow: v.Workflow, Version: v.Version, Run: v.ID, Parameters: v.Parameters, Steps: map[string]reportStep{}}
	seen := v.definition.Seen(step)
	total := 0
	for _, name := range v.definition.Before(step) {
		row := v.steps[v.definition.Number(name)]
		one := reportStep{Type: v.definition.Step(name).Type, Job: row.JobID}
		if slices.Contains(seen, name) {
			r, err := s.result(ctx, project, v, name, row.JobID != nil)
			if err != nil {
				return nil, err
			}
			if one.Answer = r.Answer; row.JobID != nil {
				one.Metrics = &r.Metrics
			}
			if len(r.Answer) > planner.MaxAggregateBytes { // of a longer one only the beginning was read
				return nil, tooLong(name)
			}
			if total += len(r.Answer); total > MaxReportInput {
				return nil, tooMuchToReport(total, MaxReportInput)
			}
		}
		in.Steps[name] = one
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encoding what a report reads: %w", err)
	}
	return text, nil
}

// tooLong says that an answer is longer than any step reads.
func tooLong(step string) error {
	return functions.Invalid("answer_too_large", fmt.Sprintf("the answer of step %s has more than %d bytes", step, planner.MaxAggregateBytes), "have the aggregator leave less")
}

func tooMuchToReport(n, most int) error {
	return functions.Invalid("report_too_large", fmt.Sprintf("the report would read %d bytes of JSON, and the limit is %d", n, most),
		"have the aggregators leave less, or name a module, which reads more than a function")
}

// reportJob is the job of a report that a function makes: one shard, whose input is what there is to tell of.
func (s *Service) reportJob(ctx context.Context, project uuid.UUID, v view, step graph.Step) (want functions.NewJob, err error) {
	input, err := s.reportInput(ctx, project, v, step)
	if err != nil {
		return want, err
	}
	if len(input) > partition.MaxItemBytes {
		return want, tooMuchToReport(len(input), partition.MaxItemBytes)
	}
	r := step.Report
	want, err = v.request(graph.Job{Function: r.Function, Partition: partition.Spec{Kind: partition.KindItems}, Policy: r.Policy, Priority: r.Priority})
	want.Items, want.Aggregator = append(input, '\n'), functions.NoAggregator
	return want, err
}

// makeReport has a module make the document of a report.
func (s *Service) makeReport(ctx context.Context, project uuid.UUID, v view, number int, values graph.Values) error {
	step := v.definition.Steps[number]
	params, err := step.ReportParams(values)
	if err != nil {
		return badWorkflow(err)
	}
	input, err := s.reportInput(ctx, project, v, step)
	if err != nil {
		return err
	}
	if len(input) > MaxReportInput {
		return tooMuchToReport(len(input), MaxReportInput)
	}
	ref, err := s.registry.ChooseAggregator(ctx, project, functions.NewJob{Aggregator: step.Report.Module, Params: params, Modules: v.Modules}, bundle.Manifest{})
	if err != nil {
		return err
	}
	job := v.someJob(step)
	runs := s.registry.WatchModule(registry.ModuleUse{Project: project, Job: job, Module: ref.Module, Digest: ref.Digest, Step: "the report " + step.Name})
	fold := s.registry.Aggregation(project, job, *ref)
	fold.Watch = runs.Ran
	final, err := foldOne(ctx, fold, input)
	if err != nil {
		return s.reportFailed(ctx, project, v, number, runs.Named(err))
	}
	document, err := s.storeDocument(ctx, project, step, final.Value)
	if err != nil {
		return err
	}
	return s.settleWith(ctx, project, v, number, graph.StepFinished, "", func(tx *store.Tx) error {
		if err := runs.Keep(ctx, tx); err != nil {
			return err
		}
		return keepDocument(ctx, tx, v.ID, number, document)
	})
}

// someJob is a job that a report covers: the runs of its module are listed with it.
func (v view) someJob(step graph.Step) uuid.UUID {
	for _, name := range v.definition.Seen(step) {
		if id := v.steps[v.definition.Number(name)].JobID; id != nil {
			return *id
		}
	}
	return uuid.Nil
}

// foldOne folds one record.
func foldOne(ctx context.Context, fold wasm.Aggregation, input []byte) (f wasm.Final, err error) {
	partial, _, err := fold.Fold(ctx, wasm.Each([]wasm.Item{{ID: "0", Result: input}}))
	if err != nil {
		return f, err
	}
	f, _, err = fold.Final(ctx, wasm.Each([]wasm.Partial{partial}))
	return f, err
}

// reportFailed fails a report whose module is at fault. What is not, and what the module asks for itself, is tried again by the queue; but a
// module that asks for that again and again has failed.
func (s *Service) reportFailed(ctx context.Context, project uuid.UUID, v view, number int, err error) error {
	var module *wasm.Error
	if !errors.As(err, &module) {
		return err
	}
	if !module.Operational() {
		return s.settle(ctx, project, v, number, graph.StepFailed, "the module of the report failed: "+err.Error())
	}
	asked := 0
	if module.Class == wasm.ClassExit {
		asked = 1
	}
	tries := 0
	noted := s.env.Project(ctx, project, func(tx *store.Tx) (err2 error) {
		tries, _, err2 = store.Value[int](ctx, tx, sql.NoteReportTry, v.ID, number, kept("it is tried again: "+err.Error()), asked)
		return err2
	})
	if noted != nil {
		return noted
	}
	if asked > 0 && tries >= MaxReportTries {
		return s.settle(ctx, project, v, number, graph.StepFailed, fmt.Sprintf("the module of the report failed: it has asked for another try %d times in a row: %v", tries, err))
	}
	return fmt.Errorf("making the report %s: %w", v.steps[number].Name, err)
}

// storeDocument stores what a report came to: of a text its characters, and otherwise the JSON.
func (s *Service) storeDocument(ctx context.Context, project uuid.UUID, step graph.Step, value json.RawMessage) (*ReportDocument, error) {
	d := &ReportDocument{Name: step.Name + ".json"}
	content := []byte(value)
	var text string
	if json.Unmarshal(value, &text) == nil && bytes.HasPrefix(bytes.TrimSpace(value), []byte(`"`)) {
		d.Name, content = step.Name+".txt", []byte(text)
	}
	if err := fitsDocument(int64(len(content))); err != nil {
		return nil, err
	}
	var err error
	d.Digest, d.Bytes, err = s.env.Blobs.Put(ctx, project, bytes.NewReader(content), MaxDocumentBytes)
	return d, err
}

func fitsDocument(n int64) error {
	if n > MaxDocumentBytes {
		return functions.Invalid("report_too_large", fmt.Sprintf("the document has %d bytes, and the limit is %d", n, MaxDocumentBytes), "have it tell less")
	}
	return nil
}

func keepDocument(ctx context.Context, tx *store.Tx, run uuid.UUID, number int, d *ReportDocument) error {
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encoding a document: %w", err)
	}
	_, err = store.Exec(ctx, tx, sql.KeepDocument, run, number, text)
	return err
}

// reportOutput is what the one shard of a report came to.
type reportOutput struct {
	Output       []byte
	OutputDigest string
	OutputBytes  int64
	Files        []functions.File
}

// finishReport keeps the document of a report whose job has finished. A job without what the step names has made no report.
func (s *Service) finishReport(ctx context.Context, project uuid.UUID, v view, number int) error {
	step := v.definition.Steps[number]
	document, err := s.documentOf(ctx, project, step, *v.steps[number].JobID)
	var wrong *functions.Error
	switch {
	case errors.As(err, &wrong) && wrong.Kind != functions.KindUnavailable && wrong.Kind != functions.KindExhausted:
		return s.settle(ctx, project, v, number, graph.StepFailed, wrong.Code+": "+wrong.Message)
	case err != nil:
		return err
	}
	return s.settleWith(ctx, project, v, number, graph.StepFinished, "", func(tx *store.Tx) error { return keepDocument(ctx, tx, v.ID, number, document) })
}

func (s *Service) documentOf(ctx context.Context, project uuid.UUID, step graph.Step, job uuid.UUID) (*ReportDocument, error) {
	var out reportOutput
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		var found bool
		var err error
		if out, found, err = store.One[reportOutput](ctx, tx, sql.ReportOutput, job); err == nil && !found {
			err = base.OrNotFound(nil, "job", job)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if step.Report.File != "" {
		return s.documentFile(ctx, project, step, out.Files)
	}
	if err := fitsDocument(out.OutputBytes); err != nil {
		return nil, err
	}
	if out.Output == nil {
		if out.Output, err = s.env.Blobs.Get(ctx, project, out.OutputDigest, out.OutputBytes); err != nil {
			return nil, fmt.Errorf("reading the output of job %s: %w", job, err)
		}
	}
	return s.storeDocument(ctx, project, step, out.Output)
}

// documentFile is a file that the shard of a report has left.
func (s *Service) documentFile(ctx context.Context, project uuid.UUID, step graph.Step, files []functions.File) (*ReportDocument, error) {
	i := slices.IndexFunc(files, func(f functions.File) bool { return f.Path == step.Report.File })
	if i < 0 {
		return nil, functions.Invalid("no_document", fmt.Sprintf("the function has left no file %q", step.Report.File), "write it below $OSTRAKA_OUTPUT")
	}
	if err := fitsDocument(files[i].Size); err != nil {
		return nil, err
	}
	_, err := s.env.Blobs.Stat(ctx, project, files[i].Digest)
	return &ReportDocument{Name: path.Base(step.Report.File), Digest: files[i].Digest, Bytes: files[i].Size}, err
}
