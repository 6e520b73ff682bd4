package api_test

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/verify"
)

func (f *fake) SubmitJob(_ context.Context, _ functions.Principal, _ uuid.UUID, job functions.NewJob, idem functions.Idempotency) (functions.Job, bool, error) {
	f.newJob, f.idem = job, idem
	return f.job, f.replayed, f.begin()
}

func (f *fake) CallFunction(_ context.Context, _ functions.Principal, _ uuid.UUID, job functions.NewJob, wait time.Duration, idem functions.Idempotency) (functions.Call, bool, error) {
	f.newJob, f.wait, f.idem = job, wait, idem
	return functions.Call{Job: f.job.ID, State: f.job.State, Output: json.RawMessage(`{"found":1}`)}, f.replayed, f.begin()
}

func (f *fake) GetJob(context.Context, uuid.UUID, uuid.UUID) (functions.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	job := f.job
	if n := len(f.events); n > 0 {
		job.EventSeq = f.events[n-1].Seq
	}
	return job, f.begin()
}

func (f *fake) WaitJob(ctx context.Context, _, _ uuid.UUID, wait time.Duration) (functions.Job, error) {
	f.wait = wait
	if f.block {
		<-ctx.Done()
		return functions.Job{}, ctx.Err()
	}
	return f.job, f.begin()
}

func (f *fake) ListJobs(_ context.Context, _ uuid.UUID, filter jobs.JobFilter, page functions.ListPage) ([]functions.Job, error) {
	f.filter = filter
	return list(f, page, func(int) functions.Job { return f.job })
}

func (f *fake) CancelJob(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (functions.Job, error) {
	return f.job, f.begin()
}

func (f *fake) MakeReceipt(_ context.Context, by functions.Principal, _, job uuid.UUID) (auditlog.JobReceipt, error) {
	return auditlog.JobReceipt{Job: job, State: auditlog.ReceiptMaking, AskedBy: by.Actor()}, f.begin()
}

func (f *fake) GetReceipt(_ context.Context, _, job uuid.UUID) (auditlog.JobReceipt, error) {
	return auditlog.JobReceipt{Job: job, State: auditlog.ReceiptMade}, f.begin()
}

func (f *fake) ReceiptBytes(context.Context, uuid.UUID, uuid.UUID, bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) { yield([]byte("{}\n"), f.begin()) }
}

func (f *fake) DeleteJob(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (functions.Job, error) {
	return f.job, f.begin()
}

func (f *fake) SetPriority(_ context.Context, _ functions.Principal, _, _ uuid.UUID, priority int) (functions.Job, error) {
	f.job.Priority = priority
	return f.job, f.begin()
}

func (f *fake) Explain(context.Context, uuid.UUID, uuid.UUID) (functions.Explanation, error) {
	return functions.Explanation{State: functions.JobRunning, Summary: "waits for agents"}, f.begin()
}

func (f *fake) Reaggregate(_ context.Context, _ functions.Principal, _, _ uuid.UUID, _ aggregation.NewAggregation, _ functions.Idempotency) (functions.Job, bool, error) {
	return f.job, false, f.begin()
}

func (f *fake) ListAggregations(_ context.Context, _, _ uuid.UUID, page functions.ListPage) ([]functions.Aggregation, error) {
	return list(f, page, func(i int) functions.Aggregation {
		return functions.Aggregation{Run: i + 1, State: functions.AggregationFinished}
	})
}

func (f *fake) ListShards(_ context.Context, _, _ uuid.UUID, state functions.ShardState, page functions.ListPage) ([]functions.Shard, error) {
	f.shardState = state
	return list(f, page, func(i int) functions.Shard {
		return functions.Shard{Number: int64(i), State: functions.ShardOpen, Input: json.RawMessage(`{"n":12345678901234567890123}`)}
	})
}

func (f *fake) GetShard(context.Context, uuid.UUID, uuid.UUID, int64) (functions.ShardDetail, error) {
	return functions.ShardDetail{Shard: functions.Shard{Input: json.RawMessage(`1`)}}, f.begin()
}

func (f *fake) ResolveShard(_ context.Context, _ functions.Principal, _, _ uuid.UUID, _ int64, r review.Resolution) (functions.ShardDetail, error) {
	f.resolution = r
	return functions.ShardDetail{Shard: functions.Shard{Input: json.RawMessage(`1`)}}, f.begin()
}

func (f *fake) Results(_ context.Context, _, _ uuid.UUID, query jobs.ResultQuery) iter.Seq2[jobs.ResultLine, error] {
	f.after = query.After
	return func(yield func(jobs.ResultLine, error) bool) {
		if err := f.begin(); err != nil {
			yield(jobs.ResultLine{}, err)
			return
		}
		for _, r := range f.results {
			if !yield(r, nil) {
				return
			}
		}
		if f.resultErr != nil {
			yield(jobs.ResultLine{}, f.resultErr)
		}
	}
}

func (f *fake) ListArtifacts(_ context.Context, _, _ uuid.UUID, page functions.ListPage) ([]dispatch.ShardArtifacts, error) {
	return list(f, page, func(i int) dispatch.ShardArtifacts {
		return dispatch.ShardArtifacts{Shard: int64(i), Files: []functions.File{{Path: "plot.png", Size: 3, Digest: "0000000000000000000000000000000000000000000000000000000000000000"}}}
	})
}

func (f *fake) ListIncidents(_ context.Context, _ uuid.UUID, _ *uuid.UUID, page functions.ListPage) ([]trust.Incident, error) {
	return list(f, page, func(int) trust.Incident {
		return trust.Incident{ID: thingID, Shards: 1, JobState: functions.JobFinished}
	})
}

func (f *fake) GetIncident(_ context.Context, _, id uuid.UUID) (trust.IncidentDetail, error) {
	return trust.IncidentDetail{Incident: trust.Incident{ID: id, Shards: 1, JobState: functions.JobFinished}, Numbers: []int64{7}}, f.begin()
}

func (f *fake) PlanJob(_ context.Context, _ uuid.UUID, _ functions.NewJob) (submit.JobPlan, error) {
	return submit.JobPlan{Function: "bpsw", Version: 1, Shards: 10, Policy: verify.Policy{Quorum: 2}, Forecast: verify.Forecast{PerShard: 2}}, f.begin()
}

func (f *fake) ListFlags(_ context.Context, _ uuid.UUID, filter review.FlagFilter, page functions.ListPage) ([]review.Flag, error) {
	f.flagFilter = filter
	return list(f, page, func(int) review.Flag { return review.Flag{ID: thingID, Detail: json.RawMessage(`{}`)} })
}

func (f *fake) GetFlag(_ context.Context, _, id uuid.UUID) (review.FlagDetail, error) {
	return review.FlagDetail{Flag: review.Flag{ID: id, Kind: flag.FlagReview, State: review.FlagOpen, Times: 1, Detail: json.RawMessage(`{}`), Revision: 3}, Decisions: []review.FlagDecision{}}, f.begin()
}

func (f *fake) ResolveFlag(_ context.Context, _ functions.Principal, _, id uuid.UUID, revision int64, r review.FlagResolution) (review.FlagDetail, error) {
	f.revision, f.flagResolution = revision, r
	d := review.FlagDetail{Flag: review.Flag{ID: id, Kind: flag.FlagReview, State: review.FlagResolved, Times: 1, Detail: json.RawMessage(`{}`), Revision: revision + 1}, Decisions: []review.FlagDecision{}}
	return d, f.begin()
}

func (f *fake) ListEvents(_ context.Context, _, _ uuid.UUID, since int64, limit int) ([]functions.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []functions.Event
	for _, e := range f.events {
		if e.Seq > since && len(all) < limit {
			all = append(all, e)
		}
	}
	return all, f.begin()
}

func (f *fake) Watch(context.Context, uuid.UUID, uuid.UUID) (<-chan struct{}, func()) {
	return f.changed, func() {}
}

// happen adds events, changes the job and tells who watches.
func (f *fake) happen(change func(*functions.Job), events ...functions.Event) {
	f.mu.Lock()
	change(&f.job)
	f.events = append(f.events, events...)
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default: // they have been told, and have not looked yet
	}
}

func (f *fake) GetMetrics(context.Context, uuid.UUID, uuid.UUID) (planner.Metrics, error) {
	return planner.Metrics{Aggregate: planner.AggregateMetrics{Numbers: map[string]float64{"sum": 1}}}, f.begin()
}

func (f *fake) JobStats(context.Context, uuid.UUID, uuid.UUID) (jobs.JobStats, error) {
	return jobs.JobStats{Accepted: 1, LookedAt: 1, Slowest: []jobs.ShardStats{{Agent: uuid.New()}}, Largest: []jobs.ShardStats{}}, f.begin()
}

func (f *fake) Combine(_ context.Context, _, job uuid.UUID) (aggregation.CombinedAnswer, error) {
	return aggregation.CombinedAnswer{Jobs: []aggregation.CombinedJob{{ID: job, Version: 1, Accepted: 1}}, Count: 1, Answer: json.RawMessage("1")}, f.begin()
}

func (f *fake) GetChain(_ context.Context, _, job uuid.UUID) (submit.JobChain, error) {
	return submit.JobChain{Root: job, Jobs: []submit.ChainJob{{ID: job, State: functions.JobFinished}}, Decisions: []submit.RuleDecision{{JobID: job, Outcome: "made", Seen: map[string]string{}}}}, f.begin()
}

func (f *fake) FollowUpAgain(context.Context, functions.Principal, uuid.UUID, uuid.UUID) error {
	return f.begin()
}

func (f *fake) TryRules(context.Context, uuid.UUID, uuid.UUID, *planner.Rule) ([]submit.RuleTrial, error) {
	return []submit.RuleTrial{{Rule: "r", Outcome: "skipped", Seen: map[string]string{}, Jobs: []submit.TrialJob{}}}, f.begin()
}
