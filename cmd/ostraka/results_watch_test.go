package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/testenv"
)

func resultLine(shard int64, digest string, agent uuid.UUID, provisional bool) client.ResultLine {
	return client.ResultLine{Shard: shard, OutputDigest: digest, Agent: agent, Provisional: provisional}
}

// watchedJob is a server with one job, which goes on when the test says so.
type watchedJob struct {
	mu    sync.Mutex
	lines []string
	state string
	news  chan string // progress events
}

func (j *watchedJob) set(state string, lines ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.state, j.lines = state, lines
}

func (j *watchedJob) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/results"):
		j.mu.Lock()
		defer j.mu.Unlock()
		answerResults(w, r, j.lines...)
	case strings.HasSuffix(r.URL.Path, "/events"):
		for {
			select {
			case <-r.Context().Done():
				return
			case event, more := <-j.news:
				if !more {
					return
				}
				fmt.Fprint(w, event)
				w.(http.Flusher).Flush()
			}
		}
	default:
		j.mu.Lock()
		defer j.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":%q,"state":%q,"error":"too many failed"}`, uuid.Nil, j.state)
	}
}

func TestWatchPrintsResultsAsTheyCome(t *testing.T) {
	j := &watchedJob{news: make(chan string)}
	c, terminal, _ := talkTo(t, j.ServeHTTP)
	o := &jobResultsOptions{terminal: terminal, format: "json", after: -1, watching: true}
	ended := make(chan error, 1)
	go func() { ended <- o.run(t.Context(), c, uuid.New()) }()
	printed := func() string { return terminal.out.(*lockedBuffer).String() }
	first, second, third := lineOf(1, "1"), lineOf(0, "2"), lineOf(2, "3")
	j.set("running", first)
	j.news <- progressEvent("running", 2, 3)
	require.True(t, testenv.Holds(func() bool { return printed() == first }))
	j.set("running", second, first)
	j.news <- progressEvent("running", 1, 3)
	require.True(t, testenv.Holds(func() bool { return printed() == first+second }))
	j.set("failed", second, first, third)
	j.news <- progressEvent("failed", 0, 3)
	close(j.news)
	err := <-ended
	require.ErrorContains(t, err, "the job failed")
	require.Equal(t, exitFailed, exitCode(err))
	require.Equal(t, first+second+third, printed())
}

func TestWatchSaysHowToGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		o    jobResultsOptions
		want string
	}{
		"lines": {jobResultsOptions{format: "json", input: true, final: true}, "--watch --with-input --final --after 0\n"},
		"table": {jobResultsOptions{format: "csv"}, "--watch -o csv\n"},
	} {
		t.Run(name, func(t *testing.T) {
			j := &watchedJob{news: make(chan string)}
			j.set("running", lineOf(0, "1"), lineOf(2, "3"))
			server, terminal, talk := talkTo(t, j.ServeHTTP)
			ctx, cancel := context.WithCancel(t.Context())
			o := c.o
			o.terminal, o.after, o.watching = terminal, -1, true
			ended, id := make(chan error, 1), uuid.New()
			go func() { ended <- o.run(ctx, server, id) }()
			j.news <- progressEvent("running", 2, 4)
			if o.format == "json" {
				require.True(t, testenv.Holds(func() bool { return strings.Count(terminal.out.(*lockedBuffer).String(), "\n") == 2 }))
			}
			cancel()
			require.Equal(t, exitInterrupted, exitCode(<-ended))
			require.Contains(t, talk.String(), "ostraka job results "+id.String()+" "+c.want)
		})
	}
}
