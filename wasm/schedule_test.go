package wasm

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// request asks for a slot without waiting; granted tells when it came.
func request(s *schedule, project string) (granted chan error) {
	granted = make(chan error, 1)
	waiting := make(chan struct{})
	go func() {
		close(waiting)
		granted <- s.acquire(context.Background(), project)
	}()
	<-waiting
	return granted
}

func (s *schedule) waits(project string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting[project])
}

func TestScheduleIsRoundRobin(t *testing.T) {
	s := newSchedule(1)
	require.NoError(t, s.acquire(t.Context(), "a"))
	type grant struct {
		project string
		err     error
	}
	order := make(chan grant)
	for i, project := range []string{"a", "a", "a", "b", "b", "c"} {
		go func() {
			err := s.acquire(context.Background(), project)
			order <- grant{project, err}
		}()
		// The order of asking must be the one written here.
		require.Eventually(t, func() bool {
			return s.waits("a")+s.waits("b")+s.waits("c") == i+1
		}, waitFor, tick)
	}
	var got []string
	s.release("a")
	for range 6 {
		g := <-order
		require.NoError(t, g.err)
		got = append(got, g.project)
		s.release(g.project)
	}
	require.Equal(t, []string{"a", "b", "c", "a", "b", "a"}, got)
	require.Equal(t, 1, s.free)
	require.Empty(t, s.round)
	require.Empty(t, s.waiting)
}

func TestScheduleGivesAProjectOneSlot(t *testing.T) {
	s := newSchedule(2)
	require.NoError(t, s.acquire(t.Context(), "a"))
	second := request(s, "a")
	require.NoError(t, s.acquire(t.Context(), "b"), "the free slot is for others")
	s.release("a")
	require.NoError(t, <-second)
}

func TestScheduleCancelled(t *testing.T) {
	s := newSchedule(1)
	require.NoError(t, s.acquire(t.Context(), "a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.acquire(ctx, "b"), context.Canceled)
	require.Empty(t, s.round)
	s.release("a")
	require.NoError(t, s.acquire(t.Context(), "b"))
}

// Whatever happens in whatever order, no more slots are lent than there are,
// none to a project twice, and none is left free while somebody may have it.
func TestScheduleInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 3).Draw(t, "slots")
		s := newSchedule(slots)
		var held []string
		queued := map[string][]chan struct{}{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			project := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "project"))
			if len(held) > 0 && rapid.Bool().Draw(t, "release") {
				s.mu.Lock()
				s.giveBack(held[0])
				s.mu.Unlock()
				held = held[1:]
			} else {
				turn := make(chan struct{})
				s.mu.Lock()
				if len(s.waiting[project]) == 0 {
					s.round = append(s.round, project)
				}
				s.waiting[project] = append(s.waiting[project], turn)
				s.hand()
				s.mu.Unlock()
				queued[project] = append(queued[project], turn)
			}
			held = collectGrants(held, queued)
			require.LessOrEqual(t, len(held), slots)
			busy := map[string]bool{}
			for _, p := range held {
				require.False(t, busy[p], "project %s holds two slots", p)
				busy[p] = true
			}
			for p, turns := range queued {
				require.False(t, len(turns) > 0 && len(held) < slots && !busy[p], "project %s waits for nothing", p)
			}
		}
	})
}

// collectGrants moves the turns that have come from queued to held.
func collectGrants(held []string, queued map[string][]chan struct{}) []string {
	for p, turns := range queued {
		for len(turns) > 0 && isClosed(turns[0]) {
			held, turns = append(held, p), turns[1:]
		}
		queued[p] = turns
	}
	return held
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
