// Package jobs is the room of jobs and their progress: states and counts by page, cutting the input into shards, reading, cancelling and
// ending a job.
//
// It makes shards and pages, counts pages, moves jobs from state to state, and measures those that have ended; submit makes jobs, dispatch leases shards, and trust writes the
// verdicts about them. Lock order: a job's shards, then its pages, then the job.
package jobs

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/waiting"
)

// Service is the room.
type Service struct {
	env        *base.Env
	stateLooks *waiting.Looks[base.WatchedThing, functions.JobState]
	jobLooks   *waiting.Looks[base.WatchedThing, functions.Job]
	splitPages int64
	statsTime  time.Duration
	archive    ArchivedResults
}

// ArchivedResults yields results of a job whose shards are in an archive.
type ArchivedResults func(ctx context.Context, project, job uuid.UUID, query ResultQuery) iter.Seq2[ResultLine, error]

// ReadArchivesWith says who reads archives. It is called once, before the first request.
func (s *Service) ReadArchivesWith(results ArchivedResults) { s.archive = results }

// New makes the room. splitPages is how many pages of shards one transaction of a split makes, statsTime how long a request looks at a job's
// attempts.
func New(env *base.Env, splitPages int64, statsTime time.Duration) *Service {
	s := &Service{env: env, splitPages: splitPages, statsTime: statsTime}
	s.stateLooks = base.NewLooks(env.Waits, base.ChannelJobs, base.LookAgainRarely, s.state)
	s.jobLooks = base.NewLooks(env.Waits, base.ChannelJobs, base.LookAgainRarely, s.GetJob)
	return s
}
