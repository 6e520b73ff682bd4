package jobs

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
)

// progressEvery is how long the next snapshot of the counts waits after the last one: people see no more than two a second.
const progressEvery = 500 * time.Millisecond

// eventBatch is how many events are read at once.
const eventBatch = 500

// JobProgress is a snapshot of how far a job has come.
type JobProgress struct {
	State    functions.JobState    `json:"state"`
	Shards   functions.ShardCounts `json:"shards"`
	Attempts int64                 `json:"attempts"`
	Preview  *functions.Preview    `json:"preview,omitempty"`
}

// same says whether nothing that is shown has changed.
func (p JobProgress) same(other JobProgress) bool {
	previewed := p.Preview != nil && other.Preview != nil && p.Preview.At.Equal(other.Preview.At) || p.Preview == nil && other.Preview == nil
	return previewed && p.State == other.State && p.Shards == other.Shards && p.Attempts == other.Attempts
}

func progressOf(j functions.Job) JobProgress {
	now := JobProgress{State: j.State, Shards: j.Shards, Attempts: j.Attempts}
	if j.Aggregate != nil {
		now.Preview = j.Aggregate.Preview
	}
	return now
}

// watch is one stream of events.
type watch struct {
	server       *server
	call         *rest.Call
	project, job uuid.UUID
	seq          int64 // of the last event that was sent
	shown        *JobProgress
	shownAt      time.Time
	buffer       bytes.Buffer
}

func (w *watch) run(hc huma.Context) {
	ctx, done := w.server.UntilStopping(hc.Context())
	defer done()
	hc.SetHeader("Content-Type", rest.EventStreamType)
	hc.SetHeader("X-Accel-Buffering", "no") // nginx would hold events back
	hc.SetStatus(http.StatusOK)
	if err := w.follow(ctx); err != nil && ctx.Err() == nil {
		w.server.Log.WarnContext(ctx, "watching a job broke off", "request_id", w.call.RequestID, "error", err)
		panic(http.ErrAbortHandler) // the client connects again with Last-Event-ID
	}
}

// follow sends what has happened, waits until more may have, and ends after the job's last event.
func (w *watch) follow(ctx context.Context) error {
	view := w.server.feeds.Join(jobKey{w.project, w.job})
	defer view.Leave()
	w.buffer.WriteString(": watching\n\n") // so that the client knows at once that it is connected
	heartbeat := time.NewTicker(rest.HeartbeatEvery)
	defer heartbeat.Stop()
	later := time.NewTimer(time.Hour) // when a snapshot that came too soon is due
	defer later.Stop()
	later.Stop()
	var newest functions.Job
	for {
		if err := w.flush(); err != nil {
			return err
		}
		more, news, err := view.Get()
		switch {
		case err != nil:
			return err
		case more == nil:
			newest = news.job
			if err := w.gather(ctx, news, later); err != nil {
				return err
			}
			if news.job.State.Ended() {
				return w.flush()
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-more:
		case <-later.C:
			if err := w.gatherProgress(newest, later); err != nil {
				return err
			}
		case <-heartbeat.C:
			w.buffer.WriteString(": still here\n\n")
		}
	}
}

// gather writes the news into the buffer. The job was read before its events, so that the events of what it says are there; its last event
// comes last.
func (w *watch) gather(ctx context.Context, news jobNews, later *time.Timer) error {
	if err := w.gatherProgress(news.job, later); err != nil {
		return err
	}
	if !news.reaches(w.seq) {
		return w.catchUp(ctx, news.mark)
	}
	for _, e := range news.events {
		if e.Seq <= w.seq {
			continue
		}
		if err := w.writeEvent(e); err != nil {
			return err
		}
	}
	return nil
}

func (w *watch) gatherProgress(j functions.Job, later *time.Timer) error {
	now := progressOf(j)
	if w.shown != nil && now.same(*w.shown) {
		return nil
	}
	if wait := progressEvery - time.Since(w.shownAt); wait > 0 && !j.State.Ended() {
		later.Reset(wait)
		return nil
	}
	w.shown, w.shownAt = &now, time.Now()
	return w.write("", "progress", now)
}

// catchUp reads by itself what the others have seen already.
func (w *watch) catchUp(ctx context.Context, mark *feedMark) error {
	for {
		events, err := w.server.service.ListEvents(ctx, w.project, w.job, w.seq, eventBatch)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := w.writeEvent(e); err != nil {
				return err
			}
		}
		mark.raise(w.seq)
		if len(events) < eventBatch {
			return nil
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
}

func (w *watch) writeEvent(e functions.Event) error {
	w.seq = e.Seq
	return w.write(strconv.FormatInt(e.Seq, 10), e.Type, e)
}

// write adds one event. JSON has no line breaks when we write it, so that data is one line.
func (w *watch) write(id, kind string, data any) error {
	if id != "" {
		fmt.Fprintf(&w.buffer, "id: %s\n", id)
	}
	fmt.Fprintf(&w.buffer, "event: %s\ndata: ", kind)
	if err := rest.JSONFormat.Marshal(&w.buffer, data); err != nil {
		return fmt.Errorf("writing event %s: %w", kind, err)
	}
	w.buffer.WriteByte('\n')
	return nil
}

func (w *watch) flush() error {
	if w.buffer.Len() == 0 {
		return nil
	}
	control := http.NewResponseController(w.call.Writer)
	_ = control.SetWriteDeadline(time.Now().Add(rest.StreamIdle))
	_, err := w.buffer.WriteTo(w.call.Writer)
	if err == nil {
		err = control.Flush()
	}
	if err != nil {
		return fmt.Errorf("sending events: %w", err)
	}
	return nil
}
