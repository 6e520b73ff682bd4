package agent

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func directives(revision string, switches ...client.KillOrder) client.Directives {
	return client.Directives{Revision: revision, At: time.Now(), State: "active", Switches: switches, EndedLeases: []uuid.UUID{}}
}

// TestTheKillswitchEndsWhatRuns has a shard that would run for ever, and shards behind it.
func TestTheKillswitchEndsWhatRuns(t *testing.T) {
	t.Parallel()
	for name, byPoll := range map[string]bool{"a poll says so": true, "a heartbeat says so": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFakeServer(t, firstBatch) // none is left over, which would be returned in place of the one that comes
			f.ttl = 3                            // seconds: heartbeats come often
			if byPoll {
				f.orders = directives("one")
			}
			o := testOptions(t, s)
			begun := make(chan struct{}, 1)
			o.Sandbox = &fakeSandbox{run: func(ctx context.Context, shard int64) (string, error) {
				if shard == 1 {
					begun <- struct{}{}
					<-ctx.Done()
				}
				return "0", ctx.Err()
			}}
			stop := start(t, o)
			<-begun
			f.set(func() {
				f.orders = directives("two", client.KillOrder{ID: uuid.New(), Scope: client.KillOrderScopeEverything})
			})
			f.until("the lease is back", func() bool { return len(f.returned) == 1 })
			confirmed := func(revision string) func() bool {
				return func() bool {
					return slices.Contains(f.confirmed, revision) || slices.ContainsFunc(f.beats, func(b client.Heartbeat) bool { return b.CarriedOut == revision })
				}
			}
			f.until("it is confirmed", confirmed("two"))
			f.untilResults(1) // what was done counts
			f.set(func() {
				f.shards = append(f.shards, client.LeasedShard{Shard: 7, Input: `{"n":7}`})
			})
			f.until("a lease that comes all the same is returned untouched", func() bool { return len(f.returned) >= 2 })
			f.set(func() { f.orders = directives("three") })
			f.until("that it is off is confirmed", confirmed("three"))
			f.set(func() { f.shards = append(f.shards, client.LeasedShard{Shard: 8, Input: `{"n":8}`}) })
			f.untilResults(2)
			require.NoError(t, stop())
			f.mu.Lock()
			defer f.mu.Unlock()
			require.NotContains(t, f.results, int64(7))
			require.Contains(t, f.results, int64(8))
		})
	}
}

// TestASandboxIsEndedByOrder ends one at once and one after its shard; the agent goes on with others.
func TestASandboxIsEndedByOrder(t *testing.T) {
	t.Parallel()
	for name, force := range map[string]bool{"after its shard": false, "at once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFakeServer(t, 2)
			f.perLease = 2
			f.orders = directives("one")
			o := testOptions(t, s)
			begun, goOn := make(chan struct{}, 1), make(chan struct{})
			o.Sandbox = &fakeSandbox{run: func(ctx context.Context, shard int64) (string, error) {
				if shard != 0 {
					return "0", nil
				}
				begun <- struct{}{}
				select {
				case <-ctx.Done():
				case <-goOn:
				}
				return "0", ctx.Err()
			}}
			stop := start(t, o)
			<-begun
			var id uuid.UUID
			f.until("the sandbox is reported", func() bool {
				for _, b := range f.beats {
					for _, x := range b.Sandboxes {
						id = x.ID
						return x.Shard != nil && *x.Shard == 0
					}
				}
				return false
			})
			gone := uuid.New()
			f.set(func() {
				f.orders = directives("two")
				f.orders.Terminate = []client.TerminateOrder{{Sandbox: id, Force: force}, {Sandbox: gone, Force: true}}
			})
			ended := func(id uuid.UUID) func() bool {
				return func() bool {
					for _, b := range f.beats {
						for _, x := range b.Sandboxes {
							if x.ID == id && x.Ended {
								return true
							}
						}
					}
					return false
				}
			}
			f.until("the one that is not there is reported", ended(gone))
			if !force {
				close(goOn)
			}
			f.until("the sandbox is reported as ended", ended(id))
			f.until("what is left is returned", func() bool { return len(f.returned) == 1 })
			require.NoError(t, stop())
			f.mu.Lock()
			defer f.mu.Unlock()
			require.Equal(t, !force, len(f.results) == 1)
		})
	}
}

func TestDirectivesThatWereOvertakenChangeNothing(t *testing.T) {
	b := newOrderBook()
	everything := client.KillOrder{Scope: client.KillOrderScopeEverything}
	now := time.Now()
	on := client.Directives{Revision: "on", At: now, Switches: []client.KillOrder{everything}}
	before := client.Directives{Revision: "off", At: now.Add(-time.Second)}
	require.True(t, b.take(&on))
	require.False(t, b.take(&on))
	require.False(t, b.take(&before))
	require.True(t, b.holds(&client.Lease{}))
	require.Equal(t, "on", b.due())
	b.confirm("on")
	require.Empty(t, b.due())
	long := client.Directives{Revision: "off", At: now.Add(-time.Hour)}
	require.True(t, b.take(&long), "the server's clock went back")
	require.False(t, b.holds(&client.Lease{}))
	require.False(t, b.take(&client.Directives{}), "a server that knows no switches")
}

func TestWhatASwitchHolds(t *testing.T) {
	ours, theirs := uuid.New(), uuid.New()
	l := &client.Lease{Project: ours, Function: "f", Version: 3}
	for name, c := range map[string]struct {
		k    client.KillOrder
		want bool
	}{
		"everything":       {client.KillOrder{Scope: "everything"}, true},
		"our project":      {client.KillOrder{Scope: "project", Project: &ours}, true},
		"their project":    {client.KillOrder{Scope: "project", Project: &theirs}, false},
		"the function":     {client.KillOrder{Scope: "function", Project: &ours, Function: "f"}, true},
		"its version":      {client.KillOrder{Scope: "function", Project: &ours, Function: "f", Version: 3}, true},
		"another version":  {client.KillOrder{Scope: "function", Project: &ours, Function: "f", Version: 2}, false},
		"another function": {client.KillOrder{Scope: "function", Project: &ours, Function: "g"}, false},
		"their function":   {client.KillOrder{Scope: "function", Project: &theirs, Function: "f"}, false},
		"something new":    {client.KillOrder{Scope: "continent"}, true},
	} {
		require.Equal(t, c.want, holds(c.k, l), name)
	}
}

// TestASwitchForSomeWorkExplainsThatThereIsNone is not what somebody reads whose agent works on other things.
func TestASwitchForSomeWorkExplainsThatThereIsNone(t *testing.T) {
	project := uuid.New()
	function := client.KillOrder{Scope: client.KillOrderScopeFunction, Project: &project, Function: "f"}
	whole := client.KillOrder{Scope: client.KillOrderScopeProject, Project: &project}
	require.Zero(t, heldBy(nil))
	require.Contains(t, heldBy([]client.KillOrder{whole}).Text, "is on for the project "+project.String()+": ")
	require.Contains(t, heldBy([]client.KillOrder{function, whole}).Text, "is on for the function f of the project "+project.String()+" and 1 more: ")

	s := standing{log: slog.New(slog.DiscardHandler), asked: true}
	s.ordered(idle{}, heldBy([]client.KillOrder{function}))
	why, _ := s.find(time.Now(), sides{})
	require.Equal(t, IdleKilled, why.Code)
	why, _ = s.find(time.Now(), sides{working: 1})
	require.Empty(t, why.Code)
	s.ordered(idle{}, idle{})
	why, _ = s.find(time.Now(), sides{})
	require.Equal(t, IdleNoWork, why.Code)
}
