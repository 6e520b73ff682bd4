package recheck_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/recheck"
)

// asked is a project that waits for a slot, or has one.
type asked struct {
	project uuid.UUID
	got     chan error
}

// TestTurnsAreShared has projects ask for slots and give them back in any order. A slot is never idle while somebody waits who may hold one
// more, never more of them are out than there are, and who holds more than another one who waits is given none. No project holds the last.
func TestTurnsAreShared(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		slots := rapid.IntRange(1, 6).Draw(rt, "slots")
		long := rapid.Bool().Draw(rt, "long")
		turns := recheck.NewTurns(slots, nil)
		if long {
			slots = recheck.LongSlots(slots)
		}
		projects := make([]uuid.UUID, rapid.IntRange(1, 4).Draw(rt, "projects"))
		for i := range projects {
			projects[i] = uuid.New()
		}
		held, waiting := map[uuid.UUID]int{}, map[uuid.UUID]int{}
		var order []asked // that wait
		out := 0
		granted := func(n int) { // as many are given as there is room for
			for range n {
				var lucky asked
				for lucky.got == nil {
					for i, a := range order {
						select {
						case err := <-a.got:
							require.NoError(rt, err)
							lucky, order = a, append(order[:i:i], order[i+1:]...)
						default:
							continue
						}
						break
					}
				}
				for p, n := range waiting {
					require.True(rt, n == 0 || held[lucky.project] <= held[p], "one that holds more was given a slot")
				}
				held[lucky.project]++
				require.LessOrEqual(rt, held[lucky.project], slots, "one project holds a slot that is for others")
				waiting[lucky.project]--
				out++
			}
		}
		due := func() int { // how many are given at this moment
			for p, n := range waiting {
				if n > 0 && held[p] < slots && out <= slots {
					return 1
				}
			}
			return 0
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			if out > 0 && rapid.Bool().Draw(rt, "give") {
				var holders []uuid.UUID
				for _, p := range projects {
					if held[p] > 0 {
						holders = append(holders, p)
					}
				}
				p := rapid.SampledFrom(holders).Draw(rt, "giver")
				held[p]--
				out--
				turns.Give(p, long)
				granted(due())
				continue
			}
			p := rapid.SampledFrom(projects).Draw(rt, "taker")
			a := asked{project: p, got: make(chan error, 1)}
			before := turns.Waiting(p, long)
			go func() { a.got <- turns.Take(context.Background(), p, long) }()
			waiting[p]++
			order = append(order, a)
			if out <= slots && held[p] < slots {
				granted(1)
			} else {
				for turns.Waiting(p, long) == before {
				}
			}
			require.LessOrEqual(rt, out, slots+1)
			for _, p := range projects {
				others := 0 // that could have a slot which this one gives back
				for q, n := range waiting {
					if q != p && held[q] < slots {
						others += n
					}
				}
				require.Equal(rt, others > 0, turns.Wanted(p, long)) //nolint:testifylint // what was counted is what is expected
			}
		}
		for out > 0 { // so that nobody waits for ever
			for _, p := range projects {
				if held[p] > 0 {
					held[p]--
					out--
					turns.Give(p, long)
					granted(due())
				}
			}
		}
	})
}

// TestATurnThatIsNotTaken gives up, and leaves no slot behind.
func TestATurnThatIsNotTaken(t *testing.T) {
	t.Parallel()
	turns := recheck.NewTurns(1, nil)
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	require.NoError(t, turns.Take(t.Context(), a, false))
	require.NoError(t, turns.Take(t.Context(), c, false), "there is one more than a project may have")
	require.NoError(t, turns.Take(t.Context(), b, true), "functions that may take long have slots of their own")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, turns.Take(gone, b, false), context.Canceled)
	require.False(t, turns.Wanted(a, false))
	again, cancelAgain := context.WithCancel(t.Context())
	waits := make(chan error, 1)
	go func() { waits <- turns.Take(again, c, false) }()
	for turns.Waiting(c, false) == 0 {
	}
	require.False(t, turns.Wanted(a, false), "c has all it may, and waits for itself")
	cancelAgain()
	require.ErrorIs(t, <-waits, context.Canceled)
	turns.Give(a, false)
	require.NoError(t, turns.Take(t.Context(), b, false))
}
