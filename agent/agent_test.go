package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
)

func TestAgentWorks(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	f, s := newFakeServer(t, 50)
	o := testOptions(t, s)
	o.Workers = 2
	stop := start(t, o)
	f.untilResults(50)
	require.NoError(t, stop())
	s.Close() // a poll that the agent gave up may still be on its way through the server
	for shard, r := range f.results {
		require.Equal(t, fmt.Sprint(2*shard), r.Output)
		require.Equal(t, canonical.Digest([]byte(r.Output)), r.OutputDigest)
	}
	require.Equal(t, firstBatch, f.asked[0])
	require.Greater(t, slices.Max(f.asked), firstBatch, "the leases grow")
	require.Empty(t, f.returned)
}

func TestAgentEnrolsOnce(t *testing.T) {
	f, s := newFakeServer(t, 4)
	o := testOptions(t, s)
	stop := start(t, o)
	f.untilResults(4)
	require.NoError(t, stop())
	f.set(func() { f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}} })
	o.Token = "" // it is needed once
	stop = start(t, o)
	f.untilResults(5)
	require.NoError(t, stop())
	require.Equal(t, 1, f.enrolled)
	for _, name := range []string{"agent.key", "enrolment.json"} {
		info, err := os.Stat(filepath.Join(o.DataDir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}

func TestAgentEnrolsAgainWhenItsKeyIsUnknown(t *testing.T) {
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	o.Workers = 3 // they notice it together
	stop := start(t, o)
	f.untilResults(2)
	public := f.public
	f.set(func() {
		f.key = "another"
		f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}}
	})
	f.untilResults(3)
	require.NoError(t, stop())
	require.Equal(t, 2, f.enrolled)
	require.Equal(t, public, f.public, "it is the same agent")
}

func TestAgentWhoseTokenIsRefusedSaysSo(t *testing.T) {
	_, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	o.Token = "wrong"
	err := Run(t.Context(), o)
	require.ErrorIs(t, err, ErrNotEnrolled)
	require.NotContains(t, err.Error(), "wrong:", "a token is a secret")
}

func TestKeyIsShownToNoOtherServer(t *testing.T) {
	f, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())

	other, otherServer := newFakeServer(t, 1)
	var leaked atomic.Bool
	other.intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.Header.Get("Authorization"), fakeKey) && other.key != fakeKey {
			leaked.Store(true)
		}
		return false
	}
	other.key = "key of the other server"
	o.URL, o.Token = otherServer.URL, ""
	err := Run(t.Context(), o)
	require.ErrorIs(t, err, ErrNotEnrolled)
	require.ErrorContains(t, err, s.URL)
	o.Token = fakeToken
	stop = start(t, o)
	other.untilResults(1)
	require.NoError(t, stop())
	require.False(t, leaked.Load())
}

func TestRevokedAgentGivesUp(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"when it asks": "/v1/agent/leases", "by heartbeat": "/v1/agent/heartbeat"} {
		t.Run(name, func(t *testing.T) {
			f, s := newFakeServer(t, 0)
			f.ttl = 1
			f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				problem(w, 403, "agent_revoked")
				return true
			}
			if path == "/v1/agent/heartbeat" { // it only beats soon while it works
				f.shards = []client.LeasedShard{{Input: "{}"}}
			}
			o := testOptions(t, s)
			o.Sandbox = &fakeSandbox{run: func(ctx context.Context, _ int64) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}}
			require.ErrorIs(t, Run(t.Context(), o), errRevoked)
		})
	}
}

// TestAGuardianThatRefusesEndsNoAgent has a server whose rules refuse to lend for a while.
func TestAGuardianThatRefusesEndsNoAgent(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{"denied_by_guardian": http.StatusForbidden, "approval_needed": http.StatusConflict} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &worker{agent: &agent{log: slog.New(slog.DiscardHandler), news: make(chan struct{}, 1)}}
				began := time.Now()
				require.True(t, w.heldBack(t.Context(), fmt.Errorf("asking: %w", &answer.Error{Problem: client.Problem{Code: code}, HTTPStatus: status})))
				require.Equal(t, heldPause, time.Since(began), "it asks again soon, and not without end")
				require.False(t, w.heldBack(t.Context(), &answer.Error{Problem: client.Problem{Code: "agent_revoked"}, HTTPStatus: http.StatusForbidden}))
			})
			f, s := newFakeServer(t, 4)
			var refused atomic.Int64
			f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/v1/agent/leases" || refused.Add(1) > 1 {
					return false
				}
				problem(w, status, code)
				return true
			}
			stop := start(t, testOptions(t, s))
			f.untilResults(4)
			require.NoError(t, stop())
		})
	}
}

func TestAnswersThatAreLostStrandNothing(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 20)
	var n atomic.Int64
	f.after = func(r *http.Request) { // every other answer is lost after the request was carried out
		if strings.HasPrefix(r.URL.Path, "/v1/agent/leases") && n.Add(1)%2 == 0 {
			panic(http.ErrAbortHandler)
		}
	}
	stop := start(t, testOptions(t, s))
	f.untilResults(20)
	require.NoError(t, stop())
	require.Len(t, f.results, 20)
	require.Empty(t, f.shards, "no lease was left behind")
}

func TestAgentBearsAServerInTrouble(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 10)
	answers := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { problem(w, 500, "internal") },
		func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0")
			problem(w, 503, "database_unavailable")
		},
		func(w http.ResponseWriter) { problem(w, 429, "slow_down") },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway); _, _ = w.Write([]byte("<html>")) },
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	}
	var n atomic.Int64
	f.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		i := n.Add(1)
		if i%3 != 0 || int(i/3) >= len(answers)*2 {
			return false
		}
		answers[int(i/3)%len(answers)](w)
		return true
	}
	stop := start(t, testOptions(t, s))
	f.untilResults(10)
	require.NoError(t, stop())
}

func TestWrongBundleIsNotRun(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 4)
	var served atomic.Int64
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/bundle") || served.Add(1) > 1 {
			return false
		}
		_, _ = w.Write([]byte("not what was promised"))
		return true
	}
	o := testOptions(t, s)
	stop := start(t, o)
	f.until("the lease is returned", func() bool { return len(f.returned) == 1 })
	f.untilResults(2) // the next lease is served a good bundle
	require.NoError(t, stop())
}

// TestABundleThatAlwaysBreaksOffHoldsNoLease has a server that finds its copy damaged each time.
func TestABundleThatAlwaysBreaksOffHoldsNoLease(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 4)
	var served atomic.Int64
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/bundle") || served.Add(1) > maxBrokenBundles {
			return false
		}
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("the beginning"))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler)
	}
	var why client.Refusal
	f.onReturn = func(r client.Refusal) { why = r }
	stop := start(t, testOptions(t, s))
	f.until("the lease is returned", func() bool { return len(f.returned) == 1 })
	f.untilResults(2) // the next bundle comes whole
	require.NoError(t, stop())
	require.Equal(t, refusedBundle, why.Code)
	require.Contains(t, why.Text, "broke off 4 times")
}

func TestCorruptedCacheIsMended(t *testing.T) {
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	stop := start(t, o)
	f.untilResults(2)
	require.NoError(t, stop())
	cached := filepath.Join(o.DataDir, "bundles", f.bundle.Digest)
	require.NoError(t, os.WriteFile(cached, []byte("spoilt"), 0o600))
	f.set(func() { f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}} })
	stop = start(t, o)
	f.untilResults(3)
	require.NoError(t, stop())
	text, err := os.ReadFile(cached)
	require.NoError(t, err)
	require.Equal(t, f.bundle.Archive(), text)
}

func TestLargeOutputsAreStoredFirst(t *testing.T) {
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	sizes := []int{maxInlineOutput, maxInlineOutput + 1}
	o.Sandbox = &fakeSandbox{run: func(_ context.Context, shard int64) (string, error) {
		return `"` + strings.Repeat("x", sizes[shard]-2) + `"`, nil
	}}
	stop := start(t, o)
	f.untilResults(2)
	require.NoError(t, stop())
	require.Len(t, f.results[0].Output, maxInlineOutput, "at the limit it travels with the result")
	require.Empty(t, f.results[1].Output)
	require.Len(t, f.outputs[f.results[1].OutputDigest], maxInlineOutput+1)
	require.EqualValues(t, maxInlineOutput+1, f.results[1].OutputBytes)
}

func TestResultThatIsRefusedDoesNotTakeOthersAlong(t *testing.T) {
	f, s := newFakeServer(t, 8)
	o := testOptions(t, s)
	o.Sandbox = &fakeSandbox{run: func(_ context.Context, shard int64) (string, error) { return fmt.Sprint(shard), nil }}
	refusing := int64(5)
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool { return refuse(f, w, r, refusing) }
	f.set(func() { f.perLease = 8 })
	stop := start(t, o)
	f.untilResults(7)
	f.until("the rest is returned", func() bool { return len(f.returned) == 1 })
	require.NoError(t, stop())
	require.NotContains(t, f.results, refusing)
}

func TestSandboxThatDoesNotWorkReturnsTheLease(t *testing.T) {
	for name, sandbox := range map[string]*fakeSandbox{
		"does not open": {openErr: errors.New("no interpreter")},
		"breaks":        {run: func(context.Context, int64) (string, error) { return "", errors.New("broken") }},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := newFakeServer(t, 2)
			o := testOptions(t, s)
			o.Sandbox = sandbox
			stop := start(t, o)
			f.until("the lease is returned", func() bool { return len(f.returned) == 1 })
			require.NoError(t, stop())
			require.Empty(t, f.results)
		})
	}
}

func TestWhatTheMachineDoesNotAcceptIsReturned(t *testing.T) {
	f, s := newFakeServer(t, 100)
	o := testOptions(t, s)
	o.Caps = Caps{MemoryBytes: bundle.DefaultLimits().MemoryBytes - 1}
	stop := start(t, o)
	f.until("two leases are returned", func() bool { return len(f.returned) == 2 })
	require.NoError(t, stop())
	require.Equal(t, []int{2, 1}, f.asked[:2], "it asks for less")
	require.Empty(t, f.results)
}

func TestOptionsAreChecked(t *testing.T) {
	_, s := newFakeServer(t, 0)
	for says, spoil := range map[string]func(*Options){
		"workers":             func(o *Options) { o.Workers = MaxWorkers + 1 },
		"-1 workers":          func(o *Options) { o.Workers = -1 },
		"of work":             func(o *Options) { o.LeaseWork = -1 },
		"cache":               func(o *Options) { o.CacheBytes = bundle.MaxArchiveBytes - 1 },
		"1 to 200 characters": func(o *Options) { o.Name = strings.Repeat("n", MaxNameLength+1) },
		"an agent's name":     func(o *Options) { o.Name = " " },
	} {
		o := testOptions(t, s)
		spoil(&o)
		require.ErrorContains(t, Run(t.Context(), o), says)
	}
}
