package agent

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// restSandbox opens sessions that can rest, and counts what becomes of them.
type restSandbox struct {
	fakeSandbox
	mu                   sync.Mutex
	opened, woken, ended int
}

type restSession struct {
	fakeSession
	of *restSandbox
}

func (s *restSandbox) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (isolation.Session, error) {
	if _, err := s.fakeSandbox.Open(ctx, b, settings); err != nil {
		return nil, err
	}
	s.count(&s.opened)
	return &restSession{fakeSession{&s.fakeSandbox}, s}, nil
}

func (s *restSandbox) count(of *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*of++
}

func (s *restSandbox) counts() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []int{s.opened, s.woken, s.ended}
}

func (s *restSession) Rest() bool { return true }

func (s *restSession) Wake(string) error {
	s.of.count(&s.of.woken)
	return nil
}

func (s *restSession) Close() error {
	s.of.count(&s.of.ended)
	return nil
}

// TestASandboxIsKeptForTheNextLease: the leases of one function share one, until a switch holds it; then it has ended before that is
// confirmed.
func TestASandboxIsKeptForTheNextLease(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 3)
	f.perLease, f.orders = 1, directives("one")
	o := testOptions(t, s)
	sandbox := &restSandbox{}
	o.Sandbox = sandbox
	stop := start(t, o)
	f.untilResults(3)
	f.until("the last lease is over", func() bool { return slices.Equal(sandbox.counts(), []int{1, 2, 0}) })
	f.set(func() {
		f.orders = directives("two", client.KillOrder{ID: uuid.New(), Scope: client.KillOrderScopeEverything})
	})
	f.until("the switch is confirmed", func() bool {
		return slices.Contains(f.confirmed, "two") || slices.ContainsFunc(f.beats, func(b client.Heartbeat) bool { return b.CarriedOut == "two" })
	})
	require.Equal(t, []int{1, 2, 1}, sandbox.counts())
	f.set(func() {
		f.orders, f.shards = directives("three"), append(f.shards, client.LeasedShard{Shard: 8, Input: `{"n":8}`})
	})
	f.untilResults(4)
	require.NoError(t, stop())
	require.Equal(t, []int{2, 2, 2}, sandbox.counts(), "none outlives the agent")
}

func TestWhatRestsMakesPlace(t *testing.T) {
	t.Parallel()
	sandbox := &restSandbox{}
	left := 0
	box := func(project uuid.UUID, digest string) *warmBox {
		session := &restSession{fakeSession{&sandbox.fakeSandbox}, sandbox}
		return &warmBox{lease: &client.Lease{Project: project, BundleDigest: digest}, session: session, leave: func() { left++ }, since: time.Now()}
	}
	var w warmBoxes
	project := uuid.New()
	a, b, c := box(project, "a"), box(project, "b"), box(project, "c")
	for _, x := range []*warmBox{a, b, c} {
		w.keep(x, 1)
	}
	require.Same(t, b, w.take(project, "b"))
	require.Zero(t, left, "what is taken is not ended")
	require.Nil(t, w.take(uuid.New(), "c"), "another project's is never taken")
	require.Equal(t, 1, left, "the one that has rested longest made place")
	require.False(t, w.any(func(x *warmBox) bool { return x == a }))
	require.True(t, w.any(allWarm))
	require.False(t, w.drop(func(x *warmBox) bool { return x != c }))
	require.True(t, w.drop(allWarm))
	require.Equal(t, 2, left)
	require.Nil(t, w.take(project, "c"))
	require.Equal(t, []int{0, 0, 2}, sandbox.counts())
}

// TestAFunctionAsksForWarmSandboxes: those that it asks for stay when others need place, and rest for longer; what is more does not.
func TestAFunctionAsksForWarmSandboxes(t *testing.T) {
	t.Parallel()
	sandbox := &restSandbox{}
	began := time.Now()
	project := uuid.New()
	box := func(digest string, asked int) *warmBox {
		session := &restSession{fakeSession{&sandbox.fakeSandbox}, sandbox}
		return &warmBox{lease: &client.Lease{Project: project, BundleDigest: digest}, session: session, leave: func() {}, since: began, asked: asked}
	}
	var w warmBoxes
	for _, x := range []*warmBox{box("two", 2), box("plain", 0), box("two", 2), box("two", 2)} {
		w.keep(x, 4)
	}
	require.Equal(t, 3, w.resting(project, "two"))
	require.Nil(t, w.take(project, "another"))
	require.Equal(t, []int{2, 1}, []int{w.resting(project, "two"), w.resting(project, "plain")}, "the third that nobody asked for made place, as the oldest")
	require.Nil(t, w.take(project, "another"))
	require.Nil(t, w.take(project, "another"))
	require.Equal(t, []int{2, 0}, []int{w.resting(project, "two"), w.resting(project, "plain")}, "those that are asked for make none")

	w.keep(box("plain", 0), 4)
	w.tire(began.Add(warmFor))
	require.Equal(t, []int{2, 0}, []int{w.resting(project, "two"), w.resting(project, "plain")})
	w.tire(began.Add(keptWarmFor - 1))
	require.Equal(t, 2, w.resting(project, "two"))
	w.keep(box("one", 1), 2)
	require.Equal(t, []int{1, 1}, []int{w.resting(project, "two"), w.resting(project, "one")}, "no more rest than there are places")
	w.tire(began.Add(keptWarmFor))
	require.False(t, w.any(allWarm))
}

// TestSpareSandboxesAreOpened: a function that asks for three finds as many as there are workers, after its first lease.
func TestSpareSandboxesAreOpened(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	f.bundle = packedWith(t, "warm = 3\n", "def handler(x):\n    return 2 * x['n']\n")
	o := testOptions(t, s)
	o.Workers = 2
	sandbox := &restSandbox{}
	o.Sandbox = sandbox
	stop := start(t, o)
	f.untilResults(1)
	f.until("a second one is opened", func() bool { return slices.Equal(sandbox.counts(), []int{2, 0, 0}) })
	f.set(func() { f.shards = append(f.shards, client.LeasedShard{Shard: 8, Input: `{"n":8}`}) })
	f.untilResults(2)
	f.until("it rests again", func() bool { return slices.Equal(sandbox.counts(), []int{2, 1, 0}) })
	require.NoError(t, stop())
	require.Equal(t, []int{2, 1, 2}, sandbox.counts(), "none outlives the agent")
}
