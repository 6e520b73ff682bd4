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
	"github.com/ostraka/ostraka/agent/resting"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// restSandbox opens sessions that can rest, and counts what becomes of them.
type restSandbox struct {
	fakeSandbox
	mu                   sync.Mutex
	opened, woken, ended int
	opening              func(number int) // nil: nothing holds it up
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
	if s.opening != nil {
		s.opening(s.counts()[0])
	}
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
	box := func(project uuid.UUID, digest string) *resting.Box {
		session := &restSession{fakeSession{&sandbox.fakeSandbox}, sandbox}
		return &resting.Box{Lease: &client.Lease{Project: project, BundleDigest: digest}, Session: session, Leave: func() { left++ }, Since: time.Now()}
	}
	var w resting.Boxes
	project := uuid.New()
	a, b, c := box(project, "a"), box(project, "b"), box(project, "c")
	for _, x := range []*resting.Box{a, b, c} {
		w.Keep(x, 1)
	}
	require.Same(t, b, w.Take(project, "b"))
	require.Zero(t, left, "what is taken is not ended")
	require.Nil(t, w.Take(uuid.New(), "c"), "another project's is never taken")
	require.Equal(t, 1, left, "the one that has rested longest made place")
	require.False(t, w.Any(func(x *resting.Box) bool { return x == a }))
	require.True(t, w.Any(resting.All))
	require.False(t, w.Drop(func(x *resting.Box) bool { return x != c }))
	require.True(t, w.Drop(resting.All))
	require.Equal(t, 2, left)
	require.Nil(t, w.Take(project, "c"))
	require.Equal(t, []int{0, 0, 2}, sandbox.counts())
}

// TestAFunctionAsksForWarmSandboxes: those that it asks for stay when others need place, and rest for longer; what is more does not.
func TestAFunctionAsksForWarmSandboxes(t *testing.T) {
	t.Parallel()
	sandbox := &restSandbox{}
	began := time.Now()
	project := uuid.New()
	box := func(digest string, asked int) *resting.Box {
		session := &restSession{fakeSession{&sandbox.fakeSandbox}, sandbox}
		return &resting.Box{Lease: &client.Lease{Project: project, BundleDigest: digest}, Session: session, Leave: func() {}, Since: began, Asked: asked}
	}
	var w resting.Boxes
	for _, x := range []*resting.Box{box("two", 2), box("plain", 0), box("two", 2), box("two", 2)} {
		w.Keep(x, 4)
	}
	require.Equal(t, 3, w.Count(project, "two"))
	require.Nil(t, w.Take(project, "another"))
	require.Equal(t, []int{2, 1}, []int{w.Count(project, "two"), w.Count(project, "plain")}, "the third that nobody asked for made place, as the oldest")
	require.Nil(t, w.Take(project, "another"))
	require.Nil(t, w.Take(project, "another"))
	require.Equal(t, []int{2, 0}, []int{w.Count(project, "two"), w.Count(project, "plain")}, "those that are asked for make none")

	w.Keep(box("plain", 0), 4)
	w.Tire(began.Add(resting.For))
	require.Equal(t, []int{2, 0}, []int{w.Count(project, "two"), w.Count(project, "plain")})
	w.Tire(began.Add(resting.KeptFor - 1))
	require.Equal(t, 2, w.Count(project, "two"))
	w.Keep(box("one", 1), 2)
	require.Equal(t, []int{1, 1}, []int{w.Count(project, "two"), w.Count(project, "one")}, "no more rest than there are places")
	w.Tire(began.Add(resting.KeptFor))
	require.False(t, w.Any(resting.All))
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

// TestASpareThatWasOvertakenDoesNotRest: while one is opened all others are ended, for other preferences or by an order. It ends with them.
func TestASpareThatWasOvertakenDoesNotRest(t *testing.T) {
	t.Parallel()
	for name, overtake := range map[string]func(*fakeServer, Options){
		"other preferences": func(_ *fakeServer, o Options) { setPrefs(t, o, "sandboxes = 2\n") },
		"an order": func(f *fakeServer, _ Options) {
			f.set(func() {
				f.orders = directives("two")
				f.orders.Terminate = []client.TerminateOrder{{Sandbox: uuid.New(), Force: true}}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, s := newFakeServer(t, 1)
			f.orders = directives("one")
			f.bundle = packedWith(t, "warm = 3\n", "def handler(x):\n    return 2 * x['n']\n")
			o := testOptions(t, s)
			o.Workers = 2
			begun, goOn := make(chan struct{}), make(chan struct{})
			sandbox := &restSandbox{opening: func(number int) {
				if number == 2 {
					close(begun)
					<-goOn
				}
			}}
			o.Sandbox = sandbox
			stop := start(t, o)
			<-begun
			overtake(f, o)
			f.until("the one that rests has ended", func() bool { return slices.Equal(sandbox.counts(), []int{2, 0, 1}) })
			close(goOn)
			f.until("the spare has ended too", func() bool { return slices.Equal(sandbox.counts(), []int{2, 0, 2}) })
			require.NoError(t, stop())
		})
	}
}
