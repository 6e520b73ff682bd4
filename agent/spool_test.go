package agent

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

// said collects what an agent says, for tests that run several of them.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func listen(t *testing.T, o *Options) *said {
	t.Helper()
	s := &said{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.String())
		}
	})
	o.Log = slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return s
}

// died is what is left of an agent that was killed in the middle of a lease: the server is out of reach until it is over, and a copy
// of the data directory is made while it runs.
func died(t *testing.T, f *fakeServer, o Options, results int) (dataDir string) {
	t.Helper()
	var finished atomic.Int64
	enough := make(chan struct{})
	o.Sandbox = &fakeSandbox{run: func(ctx context.Context, shard int64) (string, error) {
		if finished.Add(1) > int64(results) {
			close(enough)
			<-ctx.Done()
			return "", ctx.Err()
		}
		return fmt.Sprint(2 * shard), nil
	}}
	f.set(func() {
		f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/results") || strings.HasSuffix(r.URL.Path, "/return") || strings.Contains(r.URL.Path, "/outputs/") {
				problem(w, 503, "database_unavailable")
				return true
			}
			return false
		}
	})
	stop := start(t, o)
	<-enough
	dataDir = t.TempDir()
	require.NoError(t, os.CopyFS(dataDir, os.DirFS(o.DataDir)))
	require.NoError(t, filepath.WalkDir(dataDir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600) // which a copy forgets
	}))
	f.set(func() {
		f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, "/v1/agent/leases/") {
				problem(w, 409, "lease_ended") // so that it ends soon; its leases go on
				return true
			}
			return false
		}
	})
	require.NoError(t, stop())
	f.set(func() { f.intercept = nil })
	return dataDir
}

func TestResultsSurviveTheAgent(t *testing.T) {
	f, s := newFakeServer(t, 6)
	f.lendAll = true
	o := testOptions(t, s)
	o.DataDir = died(t, f, o, 4)
	require.Empty(t, f.results)
	words := listen(t, &o)
	var executed atomic.Int64
	o.Sandbox = &fakeSandbox{run: func(_ context.Context, shard int64) (string, error) {
		executed.Add(1)
		return fmt.Sprint(2 * shard), nil
	}}
	stop := start(t, o)
	f.untilResults(6)
	require.NoError(t, stop())
	require.EqualValues(t, 2, executed.Load(), "what was finished is not done again")
	require.Contains(t, words.String(), "an earlier run of the agent has left a lease")
	require.Contains(t, words.String(), "finished=4 open=2")
	requireEmptySpool(t, o)
}

func requireEmptySpool(t *testing.T, o Options) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(o.DataDir, "spool"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestResultsOfALeaseThatIsOverAreDroppedWithALine(t *testing.T) {
	f, s := newFakeServer(t, 6)
	f.lendAll = true
	o := testOptions(t, s)
	o.DataDir = died(t, f, o, 4)
	f.set(func() { // the server has lent the shards again meanwhile
		for id, lent := range f.leases {
			f.shards, f.ended = append(f.shards, lent...), append(f.ended, id)
			delete(f.leases, id)
		}
	})
	words := listen(t, &o)
	stop := start(t, o)
	f.untilResults(6)
	require.NoError(t, stop())
	require.Contains(t, words.String(), "a lease was ended early: its shards are lent again")
	require.Contains(t, words.String(), "results_dropped=4")
	requireEmptySpool(t, o)
}

func TestLargeOutputsSurviveTheAgent(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	large := `"` + strings.Repeat("x", maxInlineOutput) + `"`
	enough := make(chan struct{})
	o.Sandbox = &fakeSandbox{run: func(ctx context.Context, shard int64) (string, error) {
		if shard == 1 {
			close(enough)
			<-ctx.Done()
			return "", ctx.Err()
		}
		return large, nil
	}}
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/outputs/") && !strings.HasSuffix(r.URL.Path, "/return") {
			return false
		}
		problem(w, 503, "database_unavailable")
		return true
	}
	stop := start(t, o)
	<-enough
	require.NoError(t, stop())
	f.set(func() { f.intercept = nil })
	o.Sandbox = &fakeSandbox{}
	stop = start(t, o)
	f.untilResults(2)
	require.NoError(t, stop())
	require.Len(t, f.outputs, 1)
	for _, output := range f.outputs {
		require.Equal(t, large, output)
	}
	require.Empty(t, f.results[0].Output)
}

func TestALeaseThatKillsTheAgentIsReturned(t *testing.T) {
	f, s := newFakeServer(t, 3)
	f.lendAll = true
	o := testOptions(t, s)
	o.DataDir = died(t, f, o, 1)
	for range maxTakenUp {
		o.DataDir = died(t, f, o, 0)
	}
	var why client.Refusal
	f.set(func() {
		f.onReturn = func(r client.Refusal) { why = r }
	})
	words := listen(t, &o)
	stop := start(t, o)
	f.until("the lease is back", func() bool { return len(f.returned) == 1 })
	require.NoError(t, stop())
	require.Equal(t, returnedDied, why.Code)
	require.Contains(t, f.results, int64(0), "what is finished is sent")
	require.Contains(t, words.String(), "code=agent_died")
	requireEmptySpool(t, o)
}

func TestForeignAndDamagedLeftoversAreDropped(t *testing.T) {
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	stop := start(t, o)
	f.untilResults(2)
	require.NoError(t, stop())
	spool := filepath.Join(o.DataDir, "spool")
	require.NoError(t, os.WriteFile(filepath.Join(spool, "notes"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(spool, uuid.NewString()+".log"), []byte("ostraka-spool/1\n"), 0o600))
	words := listen(t, &o)
	f.set(func() { f.shards = []client.LeasedShard{{Shard: 7, Input: `{"n":7}`}} })
	stop = start(t, o)
	f.untilResults(3)
	require.NoError(t, stop())
	require.Equal(t, 2, strings.Count(words.String(), "dropped what an earlier run has left"))
	requireEmptySpool(t, o)
}

func TestASpoolThatIsFullCostsNothing(t *testing.T) {
	f, s := newFakeServer(t, 20)
	o := testOptions(t, s)
	o.SpoolBytes = 10
	words := listen(t, &o)
	large := `"` + strings.Repeat("x", maxInlineOutput) + `"`
	o.Sandbox = &fakeSandbox{run: func(_ context.Context, shard int64) (string, error) {
		if shard == 3 {
			return large, nil
		}
		return fmt.Sprint(2 * shard), nil
	}}
	stop := start(t, o)
	f.untilResults(20)
	require.NoError(t, stop())
	require.Len(t, f.outputs, 1)
	require.Contains(t, words.String(), "finished results cannot be kept on disk")
}
