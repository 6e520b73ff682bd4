package jobs

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
)

// ResultLine is one accepted result.
type ResultLine struct {
	Shard        int64           `json:"shard"`
	Output       json.RawMessage `json:"output,omitempty" doc:"Missing where it is stored as an object under output_digest."`
	OutputDigest string          `json:"output_digest"`
	Agent        uuid.UUID       `json:"agent"`
	Provisional  bool            `json:"provisional,omitempty" doc:"It awaits an audit, and may be taken back."`
	Input        json.RawMessage `json:"input,omitempty" doc:"What the shard got, where it was asked for."`
}

// ResultQuery says which results are wanted.
type ResultQuery struct {
	After int64 // shards of a higher number; -1: all
	Final bool  // none that may be taken back
	Input bool  // with the input of each shard
}

// JobFilter narrows a list of jobs. Zero fields match everything.
type JobFilter struct {
	State    functions.JobState
	Function string
	Root     uuid.UUID
}

// Row is a job as it stands in its table.
type Row struct {
	ID               uuid.UUID
	FunctionName     string
	FunctionVersion  int
	Partition        partition.Spec
	Policy           verify.Policy
	State            functions.JobState
	Error            string
	ShardsTotal      int64
	PagesTotal       int64
	Open             int64
	Accepted         int64
	Provisional      int64
	Review           int64
	Failed           int64
	Cancelled        int64
	Attempts         int64
	ParentJob        *uuid.UUID
	RootJob          uuid.UUID
	RerunOf          *uuid.UUID
	ParentDeleted    bool
	RerunOfDeleted   bool
	Priority         int
	Conditions       *guardian.Conditions
	Approval         *functions.JobApproval
	Archive          *functions.JobArchive
	Depth            int
	CreatedBy        string
	CreatedAt        time.Time
	StartedAt        *time.Time
	FinishedAt       *time.Time
	EventSeq         int64
	Run              int
	Validator        *functions.ValidatorRef
	Heuristics       []functions.HeuristicRef
	Aggregator       *functions.AggregatorRef
	AggregationState functions.AggregationState
	AggregationError string
	PagesFolded      int64
	AnswerRow
}

// Job is the job as its readers see it.
func (r Row) Job() functions.Job {
	j := functions.Job{
		ID: r.ID, Function: r.FunctionName, Version: r.FunctionVersion, Partition: r.Partition, Policy: r.Policy, Validator: r.Validator, Aggregator: r.Aggregator, Heuristics: r.Heuristics,
		State: r.State, Error: r.Error, Attempts: r.Attempts,
		Shards: functions.ShardCounts{Total: r.ShardsTotal, Open: r.Open, Accepted: r.Accepted, Provisional: r.Provisional, Review: r.Review, Failed: r.Failed, Cancelled: r.Cancelled},
		Parent: r.ParentJob, ParentDeleted: r.ParentDeleted, Root: r.RootJob, RerunOf: r.RerunOf, RerunOfDeleted: r.RerunOfDeleted, Priority: r.Priority, Depth: r.Depth,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, EventSeq: r.EventSeq,
		Run: r.Run, AggregationError: r.AggregationError, Conditions: r.Conditions, Archive: r.Archive,
	}
	if !r.State.Ended() {
		j.Approval = r.Approval
	}
	// A shard that the split has not made yet is as open as any other, unless the job has ended before it came to it.
	missing := r.ShardsTotal - (r.Open + r.Accepted + r.Review + r.Failed + r.Cancelled)
	switch {
	case r.State == functions.JobDeleting: // what is removed is counted nowhere
	case r.State.Ended():
		j.Shards.Cancelled += missing
	default:
		j.Shards.Open += missing
	}
	if r.AggregateCount != nil || !r.State.Ended() { // what is left of a preview is no answer
		j.Aggregate = r.Aggregate(r.PagesTotal)
	}
	return j
}

// GetJob returns a job with its counts.
func (s *Service) GetJob(ctx context.Context, project, id uuid.UUID) (job functions.Job, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		row, found, err := store.One[Row](ctx, tx, store.GetJob, id)
		if err != nil || !found {
			return base.OrNotFound(err, "job", id)
		}
		job = row.Job()
		rechecks, err := fleet.CanRecheck(ctx, tx, project, id, job.Policy)
		if err != nil {
			return err
		}
		if job.Archive.Holds() { // what it was computed from is gone
			job.Verification, _, err = store.Value[*functions.JobVerification](ctx, tx, sql.ArchivedBound, id)
		} else {
			job.Verification, err = ReadVerification(ctx, tx, job, id, rechecks)
		}
		if err != nil {
			return err
		}
		if job.Owners, err = readOwnerShares(ctx, tx, job, id); err != nil {
			return err
		}
		job.Controls, err = readControls(ctx, tx, id)
		return err
	})
	return job, err
}

// ListJobs lists jobs, newest first.
func (s *Service) ListJobs(ctx context.Context, project uuid.UUID, filter JobFilter, page functions.ListPage) (list []functions.Job, err error) {
	var before *uuid.UUID
	if page.After != "" {
		id, err := base.AfterID(page)
		if err != nil {
			return nil, err
		}
		before = &id
	}
	var root *uuid.UUID
	if filter.Root != uuid.Nil {
		root = &filter.Root
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[Row](ctx, tx, sql.ListJobs, before, base.PageLimit(page), string(filter.State), filter.Function, root)
		list = make([]functions.Job, len(rows))
		for i, r := range rows {
			list[i] = r.Job()
		}
		return err
	})
	return list, err
}

type shardListRow struct {
	Number  int64
	State   functions.ShardState
	Wanted  int
	Lent    int
	Lost    int
	Input   []byte
	Reasons []verify.Reason
}

func (r shardListRow) shard(spec partition.Spec) functions.Shard {
	return functions.Shard{
		Number: r.Number, State: r.State, Wanted: r.Wanted, Lent: r.Lent, Lost: r.Lost,
		Input: ShardInput(spec, r.Number, r.Input), Reasons: r.Reasons,
	}
}

// ListShards lists a job's shards by number; the cursor is the last number.
func (s *Service) ListShards(ctx context.Context, project, job uuid.UUID, state functions.ShardState, page functions.ListPage) (list []functions.Shard, err error) {
	after, err := registry.AfterNumber(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		spec, found, err := store.Value[partition.Spec](ctx, tx, store.GetPartition, job)
		if err != nil || !found {
			return base.OrNotFound(err, "job", job)
		}
		rows, err := store.Many[shardListRow](ctx, tx, sql.ListShards, job, after, base.PageLimit(page), string(state))
		if err == nil {
			err = base.NotArchived(ctx, tx, job)
		}
		list = make([]functions.Shard, len(rows))
		for i, r := range rows {
			list[i] = r.shard(spec)
		}
		return err
	})
	return list, err
}

// AttemptListRow is an attempt as it stands in its table.
type AttemptListRow struct {
	AgentID      uuid.UUID
	Status       string
	Output       []byte
	OutputDigest string
	OutputBytes  int64
	CPUMicros    int64 `db:"cpu_us"`
	WallMicros   int64 `db:"wall_us"`
	PeakRSS      int64 `db:"peak_rss"`
	Diagnostics  []byte
	Accepted     bool
	ReportedAt   time.Time
	Outcome      []byte
	Matters      *string
}

func (r AttemptListRow) attempt() functions.Attempt {
	a := functions.Attempt{
		Agent: r.AgentID, Status: r.Status, Output: r.Output, OutputDigest: r.OutputDigest, OutputBytes: r.OutputBytes,
		CPUMicros: r.CPUMicros, WallMicros: r.WallMicros, PeakRSS: r.PeakRSS, Diagnostics: r.Diagnostics, Accepted: r.Accepted, ReportedAt: r.ReportedAt,
		Matters: r.Matters != nil,
	}
	if r.Matters != nil {
		a.ConfirmError = *r.Matters
	}
	return a
}

// GetShard returns a shard with its attempts.
func (s *Service) GetShard(ctx context.Context, project, job uuid.UUID, number int64) (d functions.ShardDetail, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		d, err = GetShard(ctx, tx, job, number)
		return err
	})
	return d, err
}

// GetShard reads a shard with its attempts, within a transaction.
func GetShard(ctx context.Context, tx *store.Tx, job uuid.UUID, number int64) (d functions.ShardDetail, err error) {
	spec, found, err := store.Value[partition.Spec](ctx, tx, store.GetPartition, job)
	if err != nil || !found {
		return d, base.OrNotFound(err, "job", job)
	}
	row, found, err := store.One[shardListRow](ctx, tx, sql.GetShard, job, number)
	if err != nil {
		return d, err
	}
	if !found {
		if err := base.NotArchived(ctx, tx, job); err != nil {
			return d, err
		}
		return d, functions.NotFound("shard", base.FormatNumber(number))
	}
	attempts, err := store.Many[AttemptListRow](ctx, tx, store.ListAttempts, job, number)
	if err != nil {
		return d, err
	}
	d.Shard = row.shard(spec)
	d.Attempts = make([]functions.Attempt, len(attempts))
	for i, a := range attempts {
		d.Attempts[i] = a.attempt()
	}
	return d, nil
}

// resultsBatch is how many results one transaction of Results reads: no transaction is held open while a client is slow.
const resultsBatch = 1000

// Results yields accepted results in the order of the shards, from the number after on (-1: all).
func (s *Service) Results(ctx context.Context, project, job uuid.UUID, query ResultQuery) iter.Seq2[ResultLine, error] {
	return func(yield func(ResultLine, error) bool) {
		for {
			lines, archived, err := s.resultsBatch(ctx, project, job, query)
			if archived && err == nil {
				s.archive(ctx, project, job, query)(yield)
				return
			}
			if err != nil {
				yield(ResultLine{}, err)
				return
			}
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
			}
			if len(lines) < resultsBatch {
				return
			}
			query.After = lines[len(lines)-1].Shard
		}
	}
}

func (s *Service) resultsBatch(ctx context.Context, project, job uuid.UUID, query ResultQuery) (lines []ResultLine, archived bool, err error) {
	type row struct {
		Shard        int64
		Output       []byte
		OutputDigest string
		AgentID      uuid.UUID
		Provisional  bool
		Input        []byte
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		var spec partition.Spec
		if query.Input {
			if spec, _, err = store.Value[partition.Spec](ctx, tx, store.GetPartition, job); err != nil {
				return err
			}
		}
		rows, err := store.Many[row](ctx, tx, sql.ListResults, job, query.After, resultsBatch, query.Final, query.Input)
		if err != nil {
			return err
		}
		if archived, err = base.Archived(ctx, tx, job); err != nil || archived {
			return err
		}
		lines = make([]ResultLine, len(rows))
		for i, r := range rows {
			lines[i] = ResultLine{Shard: r.Shard, Output: r.Output, OutputDigest: r.OutputDigest, Agent: r.AgentID, Provisional: r.Provisional}
			if query.Input {
				lines[i].Input = ShardInput(spec, r.Shard, r.Input)
			}
		}
		return nil
	})
	return lines, archived, err
}

// AnswerRow is the answer of an aggregation, or the preview of one.
type AnswerRow struct {
	AggregateValue   []byte
	AggregateObject  *string
	AggregateCount   *int64
	AggregateSummary string
	LeftOut          int64
	AggregateRows    []byte
	RowsObject       *string
	PreviewValue     []byte
	PreviewCount     *int64
	PreviewPages     *int64
	PreviewAt        *time.Time
}

// Aggregate is nil where there is neither an answer nor a preview.
func (r AnswerRow) Aggregate(pagesTotal int64) *functions.Aggregate {
	a := &functions.Aggregate{Value: json.RawMessage("null"), Summary: r.AggregateSummary, LeftOut: r.LeftOut, Rows: r.AggregateRows}
	switch {
	case r.AggregateCount != nil:
		a.Count = *r.AggregateCount
		if r.AggregateValue != nil {
			a.Value = r.AggregateValue
		}
		if r.AggregateObject != nil {
			a.Object = *r.AggregateObject
		}
		if r.RowsObject != nil {
			a.RowsObject = *r.RowsObject
		}
	case r.PreviewCount != nil && r.PreviewPages != nil && r.PreviewAt != nil:
		a.Preview = &functions.Preview{Value: r.PreviewValue, Count: *r.PreviewCount, Share: float64(*r.PreviewPages) / float64(pagesTotal), At: *r.PreviewAt}
	default:
		return nil
	}
	return a
}

// ListEvents returns the job's events after number since.
func (s *Service) ListEvents(ctx context.Context, project, job uuid.UUID, since int64, limit int) (events []functions.Event, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		events, err = store.Many[functions.Event](ctx, tx, sql.ListEvents, job, since, min(limit, base.MaxEvents))
		return err
	})
	return events, err
}

// WaitJob returns when the job has ended, waits for people, or has waited that long. However many wait, its state is looked at once; and so is the
// rest of it, which costs ten times as much, when there is nothing left to wait for.
func (s *Service) WaitJob(ctx context.Context, project, id uuid.UUID, wait time.Duration) (job functions.Job, err error) {
	if wait <= 0 {
		return s.GetJob(ctx, project, id)
	}
	thing := base.WatchedThing{Project: project, ID: id}
	if _, err := s.stateLooks.WaitFor(ctx, thing, wait, func(now functions.JobState) bool { return now.Ended() || now.Waits() }); err != nil {
		return job, err
	}
	return s.jobLooks.WaitFor(ctx, thing, 0, func(functions.Job) bool { return true })
}

// state is the state that a job is in.
func (s *Service) state(ctx context.Context, project, id uuid.UUID) (now functions.JobState, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		var found bool
		now, found, err = store.Value[functions.JobState](ctx, tx, store.GetJobState, id)
		if err != nil || !found {
			return base.OrNotFound(err, "job", id)
		}
		return nil
	})
	return now, err
}

// PickedShard is a shard that was chosen to be executed; Input is nil where the partition computes it.
type PickedShard struct {
	Number int64
	Input  []byte
}

// ShardInput is the input of a shard: the stored item, or what the partition computes.
func ShardInput(spec partition.Spec, number int64, stored []byte) []byte {
	if input, computed := spec.Input(number); computed {
		return input
	}
	return stored
}

// Place moves a job that waits for nothing but people to the state that says for what, and back.
func Place(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job); err != nil {
		return err
	}
	state, changed, err := store.Value[functions.JobState](ctx, tx, sql.PlaceJob, job)
	if err != nil || !changed {
		return err
	}
	switch state {
	case functions.JobReview:
		return base.AddEvent(ctx, tx, job, base.EventReview, map[string]any{"job": "waits for people: see its shards in review"})
	case functions.JobHeld:
		return base.AddEvent(ctx, tx, job, base.EventHeld, map[string]any{"job": "waits for an aggregator that works: aggregate it again"})
	default:
		return nil
	}
}

// Watch delivers a token whenever something has happened to the job, and once a second while nothing can be heard of it, until stop is
// called. Its counts may change without.
func (s *Service) Watch(ctx context.Context, _, job uuid.UUID) (changed <-chan struct{}, stop func()) {
	return s.env.Notices.Watch(ctx, base.ChannelJobs, job)
}
