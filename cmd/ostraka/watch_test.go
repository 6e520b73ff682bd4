package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// talkTo makes a connection to a server and a terminal that remembers what was said.
func talkTo(t *testing.T, handler http.HandlerFunc) (*connection, *terminal, *lockedBuffer) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	c, err := dial(s.URL, "key")
	require.NoError(t, err)
	c.project = uuid.New()
	talk := &lockedBuffer{}
	return c, &terminal{in: strings.NewReader(""), out: &lockedBuffer{}, talk: talk, env: func(string) string { return "" }}, talk
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func progressEvent(state string, open, total int) string {
	return fmt.Sprintf("event: progress\ndata: {\"state\":%q,\"shards\":{\"open\":%d,\"total\":%d},\"attempts\":1}\n\n", state, open, total)
}

func TestWatcherGoesOnWhereTheStreamBroke(t *testing.T) {
	agent := uuid.New()
	var resumed []string
	var n int
	c, terminal, talk := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/agents") {
			fmt.Fprintf(w, `{"items":[{"id":%q,"name":"eve\u001b[2J","state":"active","created_at":"2026-01-01T00:00:00Z"}]}`, agent)
			return
		}
		n++
		resumed = append(resumed, r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		switch n {
		case 1: // breaks off in the middle of an event
			fmt.Fprint(w, ": watching\n\nid: 1\nevent: submitted\ndata: {}\n\n"+progressEvent("running", 10, 10)+"id: 2\nevent: agent_cau")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case 2: // is not there for a moment
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			fmt.Fprintf(w, "id: 2\nevent: agent_caught\ndata: {\"data\":{\"agent\":%q,\"failed\":7}}\n\n", agent)
			for range 2 { // a page each
				fmt.Fprintf(w, "event: reopened\ndata: {\"data\":{\"agent\":%q,\"shards\":5}}\n\n", agent)
			}
			fmt.Fprint(w, "event: incident\ndata: {\"data\":{\"shards\":1}}\n\n"+progressEvent("running", 9, 10))
			fmt.Fprint(w, "id: 3\nevent: something_new\ndata: {\"data\":[1]}\n\nid: 4\nevent: follow_up\ndata: {\"data\":{\"rule\":\"r\",\"job\":\"j\"}}\n\n")
			fmt.Fprint(w, progressEvent("finished", 0, 10))
		}
	})
	w := &watcher{c: c, job: uuid.New(), progress: newProgress(terminal, "f")}
	require.NoError(t, w.follow(t.Context()))
	require.Equal(t, []string{"", "1", "1"}, resumed)
	require.Contains(t, talk.String(), "caught a cheat: agent eve·[2J, wrong on 7 shards", "a name cannot draw on the terminal")
	require.Contains(t, talk.String(), "took back 10 results of agent eve·[2J, which gave a wrong one: the shards are lent again\nf: 1 of 10")
	require.Contains(t, talk.String(), "keeps 1 final result of agent")
	require.Contains(t, talk.String(), "rule r started the follow-up job j")
	require.Contains(t, talk.String(), "lost the server")
	require.Contains(t, talk.String(), "f: 10 of 10 shards (100%)")
}

// TestWatcherShowsTheAnswerSoFar with the share that it covers, once for each tenth, and tells of an aggregator that fails.
func TestWatcherShowsTheAnswerSoFar(t *testing.T) {
	preview := func(share float64, value string) string {
		return fmt.Sprintf("event: progress\ndata: {\"state\":\"running\",\"shards\":{\"open\":5,\"total\":10},\"attempts\":1,\"preview\":{\"value\":%s,\"count\":2048,\"share\":%g}}\n\n", value, share)
	}
	c, terminal, talk := talkTo(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, preview(0.25, `{"n":"a\\u001b"}`)+preview(0.28, "2")+preview(0.3, "3"))
		fmt.Fprint(w, "id: 1\nevent: aggregation_failed\ndata: {\"data\":{\"error\":\"the aggregator failed: it trapped\"}}\n\n"+progressEvent("finished", 0, 10))
	})
	w := &watcher{c: c, job: uuid.New(), progress: newProgress(terminal, "f")}
	require.NoError(t, w.follow(t.Context()))
	require.Contains(t, talk.String(), "so far, 25% of the pages (2048 results): {")
	require.NotContains(t, talk.String(), "28%")
	require.Contains(t, talk.String(), "so far, 30% of the pages (2048 results): 3")
	require.Contains(t, talk.String(), "the aggregator failed: it trapped; the shards continue")
	require.Contains(t, talk.String(), "ostraka job reaggregate "+w.job.String())
}

// TestWatcherTellsWhatHappenedToAnEndedJob: the server says first where a job stands, and then what happened to it.
func TestWatcherTellsWhatHappenedToAnEndedJob(t *testing.T) {
	agent := uuid.New()
	c, terminal, talk := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/agents") {
			fmt.Fprint(w, `{"items":[]}`)
			return
		}
		fmt.Fprint(w, progressEvent("finished", 0, 10))
		w.(http.Flusher).Flush()
		fmt.Fprint(w, "id: 1\nevent: aggregation_failed\ndata: {\"data\":{\"error\":\"the aggregator failed: it trapped\"}}\n\n")
		fmt.Fprintf(w, "id: 2\nevent: reopened\ndata: {\"data\":{\"agent\":%q,\"shards\":5}}\n\n", agent)
		fmt.Fprint(w, "id: 3\nevent: finished\ndata: {\"data\":{}}\n\n")
	})
	w := &watcher{c: c, job: uuid.New(), progress: newProgress(terminal, "f")}
	require.NoError(t, w.follow(t.Context()))
	require.Contains(t, talk.String(), "the aggregator failed: it trapped")
	require.Contains(t, talk.String(), "took back 5 results")
}

func TestWatcherStopsAtReviewWhenAsked(t *testing.T) {
	c, terminal, talk := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "id: 1\nevent: review\ndata: {\"data\":{\"shard\":3}}\n\n"+progressEvent("review", 0, 10))
		w.(http.Flusher).Flush()
		<-r.Context().Done() // the stream of a job in review stays open
	})
	w := &watcher{c: c, job: uuid.New(), progress: newProgress(terminal, "f"), stopAtReview: true}
	require.NoError(t, w.follow(t.Context()))
	require.Contains(t, talk.String(), "agents do not agree on shard 3")
}

func TestWatcherGivesUpOnWhatStays(t *testing.T) {
	c, terminal, _ := talkTo(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"code":"not_found","detail":"there is no job","hint":"look"}`)
	})
	w := &watcher{c: c, job: uuid.New(), progress: newProgress(terminal, "f")}
	err := w.follow(t.Context())
	require.Equal(t, exitNotFound, exitCode(err))
	require.Equal(t, "look", hintOf(err))
}

func TestStopOfWaitingSaysHowToGoOn(t *testing.T) {
	job := uuid.New()
	for cause, code := range map[error]int{context.Canceled: exitInterrupted, context.DeadlineExceeded: exitTimeout} {
		_, terminal, talk := talkTo(t, nil)
		err := stoppedWaiting(terminal, job, fmt.Errorf("waiting: %w", cause))
		require.Equal(t, code, exitCode(err))
		require.ErrorIs(t, err, errSaid)
		require.Contains(t, talk.String(), "ostraka job watch "+job.String())
		require.Contains(t, talk.String(), "ostraka job cancel "+job.String())
	}
}

// A job is submitted once, however often its answer is lost.
func TestSubmitIsRepeatedUnderOneKey(t *testing.T) {
	var keys []string
	c, _, _ := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if len(keys) < 3 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id":%q}`, uuid.New())
	})
	cut, err := parseRange("0:2", "1")
	require.NoError(t, err)
	_, err = submitJob(t.Context(), c, jobRequest(cut), "")
	require.NoError(t, err)
	require.Len(t, keys, 3)
	require.NotEmpty(t, keys[0])
	require.Equal(t, []string{keys[0], keys[0], keys[0]}, keys)
}

// Results that break off go on after the last whole line.
func TestResultsGoOnWhereTheyBroke(t *testing.T) {
	var after []string
	c, terminal, _ := talkTo(t, func(w http.ResponseWriter, r *http.Request) {
		after = append(after, r.URL.Query().Get("after"))
		line := func(n int) {
			fmt.Fprintf(w, "{\"shard\":%d,\"output\":18446744073709551617,\"output_digest\":\"d\",\"agent\":%q}\n", n, uuid.Nil)
		}
		if len(after) == 1 {
			line(0)
			line(1)
			fmt.Fprint(w, `{"shard":2,`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		line(2)
	})
	o := &jobResultsOptions{terminal: terminal, after: -1, format: "json"}
	require.NoError(t, o.run(t.Context(), c, uuid.New()))
	require.Equal(t, []string{"-1", "1"}, after)
	out := terminal.out.(*lockedBuffer).String()
	require.Equal(t, 3, strings.Count(out, "\n"))
	require.Equal(t, 3, strings.Count(out, "18446744073709551617"), "integers pass as they are")
}

func TestListGathersPages(t *testing.T) {
	pages := 0
	page := func(cursor *string, size *int64) (*http.Response, error) {
		pages++
		if cursor == nil {
			return jsonResponse(fmt.Sprintf(`{"items":[1,%d],"next_cursor":"x"}`, *size)), nil
		}
		return jsonResponse(`{"items":[18446744073709551617]}`), nil
	}
	values, raw, more, err := gather[any](0, page)
	require.NoError(t, err)
	require.Len(t, values, 3)
	require.Equal(t, "18446744073709551617", string(raw[2]))
	require.False(t, more)
	require.Equal(t, 2, pages)

	pages = 0
	values, _, more, err = gather[any](1, page)
	require.NoError(t, err)
	require.Len(t, values, 1)
	require.True(t, more)
	require.Equal(t, 1, pages)

	values, _, more, err = gather[any](3, page)
	require.NoError(t, err)
	require.Len(t, values, 3)
	require.False(t, more, "exactly as many as there are")
}

func TestProgressWithoutATerminalSaysLittle(t *testing.T) {
	_, terminal, talk := talkTo(t, nil)
	p := newProgress(terminal, "f")
	p.saidAt = time.Now().Add(time.Hour) // so that only the steps count
	for i := range int64(1001) {
		p.update(i, 1000)
	}
	p.update(0, 0)
	p.finish()
	require.Equal(t, 11, strings.Count(talk.String(), "\n"))
	require.Contains(t, talk.String(), "f: 1000 of 1000 shards (100%)")
}

func TestProgressOnATerminal(t *testing.T) {
	_, terminal, talk := talkTo(t, nil)
	terminal.live = true
	p := newProgress(terminal, "f")
	p.update(0, 10)
	p.note("hello %s", "\x1b[31m")
	p.update(5, 20) // items whose number was not known before
	p.update(20, 20)
	p.finish()
	p.finish()
	require.Contains(t, talk.String(), "hello ·[31m\n")
	require.Contains(t, talk.String(), "20/20")
}
