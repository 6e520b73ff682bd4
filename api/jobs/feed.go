package jobs

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/waiting"
)

const (
	// lookGap is how long the next look at a watched job waits after the last one, however often it changes.
	lookGap = 100 * time.Millisecond
	// lookSoon is how often a watched job is looked at while its counts change, lookRare while they do not; lookShare is how many jobs are,
	// in either time: where more are watched, each is looked at less often.
	lookSoon, lookRare, lookShare = time.Second, 10 * time.Second, 50
	// lookLimit bounds a look.
	lookLimit = 15 * time.Second
	// looksAtOnce is how many looks are under way at a time.
	looksAtOnce = 4
	// feedEvents is how many of a watched job's newest events are kept for those who watch it.
	feedEvents = eventBatch
)

// feeds are the jobs that somebody watches. Each is looked at once for all who do.
type feeds = waiting.Looks[jobKey, jobNews]

type jobKey struct{ project, job uuid.UUID }

// jobNews is what a look at a job has found.
type jobNews struct {
	job    functions.Job
	from   int64             // the events are those after this number
	to     int64             // up to this one, included
	events []functions.Event // not changed any more
	mark   *feedMark         // nil before the first look
}

// reaches says whether the events are all for somebody who has seen those up to seq.
func (n jobNews) reaches(seq int64) bool { return n.to > 0 && seq >= n.from }

// feedMark is up to where somebody has read a job's events: looks go on from there.
type feedMark struct{ seq atomic.Int64 }

func (m *feedMark) raise(to int64) {
	for {
		seq := m.seq.Load()
		if to <= seq || m.seq.CompareAndSwap(seq, to) {
			return
		}
	}
}

func newFeeds(service Service) *feeds {
	return waiting.NewLooks(waiting.LooksOptions[jobKey, jobNews]{
		Look: func(ctx context.Context, of jobKey, last jobNews) (jobNews, error) {
			return lookAtJob(ctx, service, of, last)
		},
		Same: func(a, b jobNews) bool { return a.to == b.to && progressOf(a.job).same(progressOf(b.job)) },
		Listen: func(of jobKey) (<-chan struct{}, func()) {
			return service.Watch(context.Background(), of.project, of.job)
		},
		Paces: func() waiting.Paces { return waiting.Paces{Soon: lookSoon, Rare: lookRare, Share: lookShare} },
		Gap:   lookGap, Limit: lookLimit, Room: waiting.NewRoom(looksAtOnce),
	})
}

// lookAtJob reads the job and then its events since the look before. The first look reads no events: those who watch begin at different
// ones.
func lookAtJob(ctx context.Context, service Service, of jobKey, last jobNews) (n jobNews, err error) {
	if last.mark == nil {
		last.mark = &feedMark{}
	}
	n = last
	since := n.mark.seq.Load()
	if n.job, err = service.GetJob(ctx, of.project, of.job); err != nil || since == 0 {
		return n, err
	}
	if since > n.to || n.to == 0 { // somebody has read further: what lies between is not here
		n.from, n.to, n.events = since, since, nil
	}
	n.events = slices.Clip(n.events)
	for {
		events, err := service.ListEvents(ctx, of.project, of.job, n.to, eventBatch)
		if err != nil {
			return n, err
		}
		n.events = append(n.events, events...)
		if len(events) > 0 {
			n.to = events[len(events)-1].Seq
		}
		if over := len(n.events) - feedEvents; over > 0 {
			n.from = n.events[over-1].Seq
			n.events = slices.Clone(n.events[over:])
		}
		if len(events) < eventBatch {
			n.mark.raise(n.to)
			return n, nil
		}
	}
}
