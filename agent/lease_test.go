package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestStopReturnsTheRest(t *testing.T) {
	f, s := newFakeServer(t, 2)
	o := testOptions(t, s)
	executing := make(chan struct{})
	o.Sandbox = &fakeSandbox{run: func(ctx context.Context, shard int64) (string, error) {
		if shard == 0 {
			return "0", nil
		}
		close(executing)
		<-ctx.Done()
		return "", ctx.Err()
	}}
	stop := start(t, o)
	<-executing
	require.NoError(t, stop())
	require.Contains(t, f.results, int64(0), "what is done is sent")
	require.NotContains(t, f.results, int64(1))
	require.Len(t, f.returned, 1, "the rest is returned")
}

func TestDirectiveEndsALease(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1) // a heartbeat comes when the sandbox is two seconds old; the lease does not expire before
	o := testOptions(t, s)
	var sawEnd atomic.Bool
	o.Sandbox = &fakeSandbox{run: func(ctx context.Context, shard int64) (string, error) {
		if shard == 9 {
			return "9", nil
		}
		f.set(func() { f.endNamed = true })
		<-ctx.Done()
		sawEnd.Store(errors.Is(context.Cause(ctx), errLeaseEnded))
		f.set(func() { f.shards = []client.LeasedShard{{Shard: 9, Input: "{}"}} })
		return "", ctx.Err()
	}}
	stop := start(t, o)
	f.untilResults(1)
	require.NoError(t, stop())
	require.True(t, sawEnd.Load())
	require.Empty(t, f.returned, "there is nothing to return")
	require.True(t, slices.ContainsFunc(f.beats, func(b client.Heartbeat) bool { return len(b.Leases) == 1 }))
}

func TestDirectiveStopsTheAgent(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	o.Sandbox = &fakeSandbox{run: func(ctx context.Context, _ int64) (string, error) {
		f.set(func() { f.stop = true }) // not before: an agent that has no lease yet returns none
		<-ctx.Done()
		return "", ctx.Err()
	}}
	require.NoError(t, Run(t.Context(), o))
	require.Len(t, f.returned, 1)
}

func TestLeaseThatHasExpiredIsDropped(t *testing.T) {
	f, s := newFakeServer(t, 4)
	o := testOptions(t, s)
	f.perLease = 2
	var expired atomic.Bool
	o.Sandbox = &fakeSandbox{run: func(_ context.Context, shard int64) (string, error) {
		if expired.CompareAndSwap(false, true) { // the server lends the shards again while the first one is executed
			f.set(func() {
				for id, lent := range f.leases {
					f.shards = append(f.shards, lent...)
					delete(f.leases, id)
				}
			})
		}
		return fmt.Sprint(shard), nil
	}}
	stop := start(t, o)
	f.untilResults(4)
	require.NoError(t, stop())
	require.Empty(t, f.returned)
}

func TestLeaseGoesStaleWithoutHeartbeats(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	f.ttl = 1
	f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v1/agent/heartbeat" {
			problem(w, 503, "database_unavailable")
			return true
		}
		return false
	}
	// On a slow machine a second may be over before the sandbox runs: the shard is lent again.
	lent := f.shards
	f.onReturn = func(client.Refusal) { f.shards = lent }
	stale := make(chan error, 1)
	o := testOptions(t, s)
	o.Sandbox = &fakeSandbox{run: func(ctx context.Context, _ int64) (string, error) {
		<-ctx.Done()
		select {
		case stale <- context.Cause(ctx):
		default: // the first is enough
		}
		return "", ctx.Err()
	}}
	stop := start(t, o)
	require.ErrorIs(t, <-stale, errLeaseStale)
	require.NoError(t, stop())
}
