package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

const (
	// streamSilence is how long a stream of events may be silent before it counts as dead: three of the server's signs of life.
	streamSilence = 45 * time.Second
	// maxAway is how long a server may be away while somebody waits for a job.
	maxAway = 5 * time.Minute
	// watchRetryMost is the longest wait before a stream that broke off is asked for again.
	watchRetryMost = 5 * time.Second
)

// watcher follows a job's events and shows them to a person.
type watcher struct {
	c            *connection
	job          uuid.UUID
	progress     *progress
	stopAtReview bool
	changed      func() // called when the job has progressed; nil: no listener
	lastID       string
	names        agentNames          // of agents, looked up when one is caught
	previewed    int64               // the step of the last preview that was shown
	settled      bool                // the job waits for a person, and we do not
	ended        bool                // the job has ended: what is left of the stream is how it came to that
	takenBack    map[uuid.UUID]int64 // results of agents that gave a wrong one, not told yet
}

// follow returns when the job has ended, or waits for a person and stopAtReview is set. A stream that breaks off goes on with the
// event after the last one, also with another server.
func (w *watcher) follow(ctx context.Context) error {
	defer w.progress.finish()
	lastHeard, wait := time.Now(), firstRetry
	for {
		heard, err := w.stream(ctx)
		if w.settled || w.ended {
			w.tellTakenBack(ctx)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if heard {
			lastHeard, wait = time.Now(), firstRetry
		}
		if err != nil && !answer.Temporary(err) || time.Since(lastHeard) > maxAway {
			return explain("watching the job", err)
		}
		if err != nil && wait == firstRetry {
			w.progress.note("lost the server (%v); trying again", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
			wait = min(2*wait, watchRetryMost)
		}
	}
}

// stream reads one stream of events to its end, and says whether anything came.
func (w *watcher) stream(ctx context.Context) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	params := &client.WatchJobParams{}
	if w.lastID != "" {
		params.LastEventID = &w.lastID
	}
	body, err := answer.Stream(w.c.WatchJob(ctx, w.c.project, w.job, params))
	if err != nil {
		return false, err
	}
	defer body.Close()
	silence := time.AfterFunc(streamSilence, cancel)
	defer silence.Stop()
	events := client.NewEventReader(&noisyReader{body, silence})
	for {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return heard, nil
		}
		if err != nil {
			return heard, &answer.Unreachable{Err: err}
		}
		heard = true
		w.lastID = events.LastID()
		w.show(ctx, event)
		if w.settled {
			return true, nil
		}
	}
}

// noisyReader puts off an alarm whenever something is read.
type noisyReader struct {
	io.Reader
	alarm *time.Timer
}

func (r *noisyReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.alarm.Reset(streamSilence)
	return n, err
}

// show tells a person of an event. Events that it does not know are left out: newer servers have more of them.
func (w *watcher) show(ctx context.Context, e client.StreamEvent) {
	if e.Type == "progress" {
		var p client.JobProgress
		if json.Unmarshal([]byte(e.Data), &p) == nil {
			w.tellTakenBack(ctx)
			w.progress.update(p.Shards.Total-p.Shards.Open, p.Shards.Total)
			w.showPreview(p.Preview)
			w.ended = ended(p.State)
			w.settled = w.stopAtReview && waits(p.State)
			if w.changed != nil {
				w.changed()
			}
		}
		return
	}
	var event struct {
		Data struct {
			Agent  uuid.UUID `json:"agent"`
			Failed int64     `json:"failed"`
			Shard  *int64    `json:"shard"`
			Shards int64     `json:"shards"`
			Job    string    `json:"job"`
			Rule   string    `json:"rule"`
			Reason string    `json:"reason"`
			Detail string    `json:"detail"`
			Error  string    `json:"error"`
		} `json:"data"`
	}
	if json.Unmarshal([]byte(e.Data), &event) != nil {
		return
	}
	d := event.Data
	switch {
	case e.Type == "agent_caught":
		w.progress.note("caught a cheat: agent %s, wrong on %s, is lent nothing any more", w.name(ctx, d.Agent), count(d.Failed, "shard"))
	case e.Type == "reopened" && d.Agent != uuid.Nil: // one for each page
		if w.takenBack == nil {
			w.takenBack = map[uuid.UUID]int64{}
		}
		w.takenBack[d.Agent] += d.Shards
	case e.Type == "reopened":
		w.progress.note("took back %s: %s", count(d.Shards, "result"), d.Reason)
	case e.Type == "incident":
		w.progress.note("the job keeps %s of agent %s, which was caught later: ostraka incident list --job %s", count(d.Shards, "final result"), w.name(ctx, d.Agent), w.job)
	case e.Type == "review" && d.Shard != nil:
		w.progress.note("agents do not agree on shard %d: it waits for a person", *d.Shard)
	case e.Type == "aggregation_failed":
		w.progress.note("%s; the shards continue, and none runs twice: fix the module, then ostraka job reaggregate %s", d.Error, w.job)
	case e.Type == "shard_failed" && d.Shard != nil:
		w.progress.note("shard %d failed", *d.Shard)
	case e.Type == "follow_up":
		w.progress.note("rule %s started the follow-up job %s", d.Rule, d.Job)
	case e.Type == "follow_up_skipped" && d.Reason == "error":
		w.progress.note("rule %s could not start a follow-up job: %s", d.Rule, d.Detail)
	}
}

// tellTakenBack says why fewer shards are settled than before.
func (w *watcher) tellTakenBack(ctx context.Context) {
	for agent, results := range w.takenBack {
		w.progress.note("took back %s of agent %s, which gave a wrong one: the shards are lent again", count(results, "result"), w.name(ctx, agent))
	}
	clear(w.takenBack)
}

// showPreview tells what the answer is so far, as often as it covers noticeably more.
func (w *watcher) showPreview(p *client.Preview) {
	if p == nil {
		return
	}
	if step := int64(100*p.Share) / progressStep; step > w.previewed {
		w.previewed = step
		w.progress.note("so far, %.0f%% of the pages (%s): %s", 100*p.Share, count(p.Count, "result"), cut(string(p.Value)))
	}
}

// name is what an agent's owner calls it, or its ID where that cannot be found out.
func (w *watcher) name(ctx context.Context, agent uuid.UUID) string {
	if _, known := w.names[agent]; !known {
		if names, err := lookUpNames(ctx, w.c); err == nil {
			w.names = names
		}
	}
	return w.names.of(agent)
}

// stoppedWaiting says how to continue when a person or a time limit ends the wait for a job that does not end.
func stoppedWaiting(t *terminal, job uuid.UUID, err error) error {
	return stopped(t, err, "the job goes on. To go on watching it, or to stop it:\n  ostraka job watch %s\n  ostraka job cancel %s", job, job)
}

// stopped ends the wait for what goes on without who waited, and says how to come back to it.
func stopped(t *terminal, err error, goesOn string, args ...any) error {
	code, why := exitInterrupted, "stopped waiting"
	if errors.Is(err, context.DeadlineExceeded) {
		code, why = exitTimeout, "the time is up"
	} else if !errors.Is(err, context.Canceled) {
		return err
	}
	t.say("%s; %s", why, fmt.Sprintf(goesOn, args...))
	return &exitError{code: code, err: fmt.Errorf("%s: %w", why, errSaid)}
}
