package api_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/api"
	"github.com/ostraka/ostraka/api/jobs"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/functions"
)

func event(seq int64, kind string) functions.Event {
	return functions.Event{Seq: seq, At: when, Type: kind, Data: []byte(`{"n":123456789012345678901234567890}`)}
}

// watched is a stream of events that is read as it comes.
type watched struct {
	t      *testing.T
	events *client.EventReader
}

func (r *rig) watch(ctx context.Context, lastID string) *watched {
	c, err := client.Connect(r.url, viewerKey, "test/1")
	require.NoError(r.t, err)
	params := &client.WatchJobParams{}
	if lastID != "" {
		params.LastEventID = &lastID
	}
	response, err := c.WatchJob(ctx, projectID, jobID, params)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = response.Body.Close() })
	require.Equal(r.t, 200, response.StatusCode)
	require.Equal(r.t, "text/event-stream", response.Header.Get("Content-Type"))
	return &watched{r.t, client.NewEventReader(response.Body)}
}

func (w *watched) expect(kind, id string) client.StreamEvent {
	w.t.Helper()
	e, err := w.events.Next()
	require.NoError(w.t, err)
	require.Equal(w.t, kind, e.Type)
	require.Equal(w.t, id, e.ID)
	return e
}

func TestWatchingAJob(t *testing.T) {
	r := newRig(t)
	r.fake.events = []functions.Event{event(1, "submitted")}
	w := r.watch(t.Context(), "")
	require.JSONEq(t, `{"state":"running","shards":{"total":2,"open":2,"accepted":0,"provisional":0,"review":0,"failed":0,"cancelled":0},"attempts":0}`, w.expect("progress", "").Data)
	require.JSONEq(t, `{"seq":1,"at":"2026-05-04T03:02:01Z","type":"submitted","data":{"n":123456789012345678901234567890}}`, w.expect("submitted", "1").Data)

	r.fake.happen(func(*functions.Job) {}, event(2, "flagged"))
	w.expect("flagged", "2")
	r.fake.happen(func(j *functions.Job) { j.State, j.Shards.Accepted, j.Shards.Open = functions.JobFinished, 2, 0 }, event(3, "finished"))
	require.Contains(t, w.expect("progress", "").Data, `"accepted":2`)
	w.expect("finished", "3")
	_, err := w.events.Next()
	require.ErrorIs(t, err, io.EOF, "the stream ends after the job's last event")
	require.Equal(t, "3", w.events.LastID())

	again := r.watch(t.Context(), "2")
	again.expect("progress", "")
	again.expect("finished", "3")
	_, err = again.events.Next()
	require.ErrorIs(t, err, io.EOF)
}

func TestWatchingManyEvents(t *testing.T) {
	r := newRig(t)
	r.fake.job.State = functions.JobCancelled
	for i := range int64(1234) {
		r.fake.events = append(r.fake.events, event(i+1, "flagged"))
	}
	w := r.watch(t.Context(), "")
	w.expect("progress", "")
	for i := range 1234 {
		e, err := w.events.Next()
		require.NoError(t, err)
		require.Equal(t, "flagged", e.Type, i)
	}
	_, err := w.events.Next()
	require.ErrorIs(t, err, io.EOF)
}

// TestWhoGoesOnFromWhatIsNotThereHarmsNobody: others who watch the same job see its events, and so does that one.
func TestWhoGoesOnFromWhatIsNotThereHarmsNobody(t *testing.T) {
	r := newRig(t)
	r.fake.events = []functions.Event{event(1, "submitted")}
	ahead := r.watch(t.Context(), "1000000")
	ahead.expect("progress", "")
	other := r.watch(t.Context(), "")
	other.expect("progress", "")
	other.expect("submitted", "1")
	for seq := range int64(3) {
		r.fake.happen(func(*functions.Job) {}, event(seq+2, "flagged"))
		id := strconv.FormatInt(seq+2, 10)
		ahead.expect("flagged", id)
		other.expect("flagged", id)
	}
}

func TestWatchingEndsWhenTheServerStops(t *testing.T) {
	stopping, stop := context.WithCancel(t.Context())
	r := newRig(t, func(o *api.Options) { o.Stopping = stopping })
	w := r.watch(t.Context(), "")
	w.expect("progress", "")
	stop()
	_, err := w.events.Next()
	require.ErrorIs(t, err, io.EOF)
}

func TestWaitingEndsWhenTheServerStops(t *testing.T) {
	stopping, stop := context.WithCancel(t.Context())
	r := newRig(t, func(o *api.Options) { o.Stopping = stopping })
	r.fake.block = true
	stop()
	for _, a := range []answer{r.ask("GET", in("/jobs/"+jobID.String()+"?wait=60s"), viewerKey, ""), r.ask("POST", "/v1/agent/leases?wait=60s", agentKey, "")} {
		p := a.problem(t)
		require.Equal(t, 503, p.Status)
		require.Equal(t, "server_stopping", p.Code)
		require.NotEmpty(t, a.Header.Get("Retry-After"))
	}
	require.Equal(t, 200, r.ask("GET", in(""), viewerKey, "").StatusCode, "what does not wait is not disturbed")
}

func TestWatchingAJobThatIsNotThere(t *testing.T) {
	r := newRig(t)
	r.fake.err = functions.NotFound("job", jobID.String())
	require.Equal(t, 404, r.ask("GET", in("/jobs/"+jobID.String()+"/events"), viewerKey, "").problem(t).Status)
}

func TestEventLog(t *testing.T) {
	r := newRig(t)
	r.fake.events = []functions.Event{event(1, "submitted"), event(2, "split"), event(3, "finished")}
	var log jobs.EventLog
	r.ask("GET", in("/jobs/"+jobID.String()+"/event-log?since=1&limit=1"), viewerKey, "").decode(t, 200, &log)
	require.Len(t, log.Items, 1)
	require.EqualValues(t, 2, log.Next)
	a := r.ask("GET", in("/jobs/"+jobID.String()+"/event-log?since=3"), viewerKey, "")
	a.decode(t, 200, &log)
	require.Contains(t, string(a.body), `"items":[]`)
	require.EqualValues(t, 3, log.Next)
}

// recorder is a response that knows when what was written.
type recorder struct {
	*httptest.ResponseRecorder
	began time.Time
	lines []string // with the seconds since the beginning
}

func (r *recorder) Write(b []byte) (int, error) {
	for line := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, ":") || strings.HasPrefix(line, "event:") {
			r.lines = append(r.lines, time.Since(r.began).String()+" "+line)
		}
	}
	return r.ResponseRecorder.Write(b)
}

// TestPaceOfAStream lets time run: comments keep a silent stream alive, and snapshots of the progress come at most twice a second.
func TestPaceOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		handler, err := api.New(api.Options{Service: f, Log: slog.New(slog.DiscardHandler), Version: "v1"})
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, in("/jobs/"+jobID.String()+"/events"), nil)
		request.Header.Set("Authorization", "Bearer "+viewerKey)
		response := &recorder{ResponseRecorder: httptest.NewRecorder(), began: time.Now()}
		done := make(chan struct{})
		go func() {
			defer close(done)
			handler.ServeHTTP(response, request)
		}()
		synctest.Wait()
		for range 10 { // within 200 ms
			time.Sleep(20 * time.Millisecond) //nolint:forbidigo // time in the bubble is not real
			f.happen(func(j *functions.Job) { j.Attempts++ })
			synctest.Wait()
		}
		time.Sleep(31 * time.Second) //nolint:forbidigo // time in the bubble is not real
		cancel(errors.New("the test has seen enough"))
		<-done
		require.Equal(t, []string{
			"0s : watching", "0s event: progress", "500ms event: progress", "15s : still here", "30s : still here",
		}, response.lines)
		require.Contains(t, response.Body.String(), `"attempts":10`, "the last snapshot is not lost")
	})
}
