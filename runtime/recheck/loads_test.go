package recheck_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/runtime/recheck"
)

// clock is a time that only the test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func take(t require.TestingT, turns *recheck.Turns, project uuid.UUID) {
	require.NoError(t, turns.Take(context.Background(), project, false))
}

// TestWhoTakesMoreThanOthersHasItsPart follows one project that takes all it may and one that takes little.
func TestWhoTakesMoreThanOthersHasItsPart(t *testing.T) {
	t.Parallel()
	var c clock
	loads := recheck.NewLoads(c.now)
	turns := recheck.NewTurns(8, loads)
	greedy, modest := uuid.New(), uuid.New()
	may := func(project uuid.UUID, want int, all bool) {
		t.Helper()
		part, free := loads.Part(project, 4)
		require.Equal(t, want, part)
		require.Equal(t, all, free)
	}
	for range 6 {
		take(t, turns, greedy)
	}
	c.pass(time.Minute)
	may(greedy, 4, true) // nobody else is there
	take(t, turns, modest)
	c.pass(time.Millisecond)
	may(greedy, 4, true) // nobody else has done anything to speak of
	turns.Give(modest, false)
	for range 100 {
		c.pass(95 * time.Millisecond)
		take(t, turns, modest)
		c.pass(5 * time.Millisecond)
		turns.Give(modest, false)
	}
	may(greedy, 2, false) // short slots add up
	may(modest, 4, true)
	c.pass(time.Minute)
	may(greedy, 4, true) // the other one has left
	for range 6 {
		turns.Give(greedy, false)
	}
	c.pass(time.Hour)
	take(t, turns, modest)
	c.pass(time.Minute)
	may(modest, 4, true) // what somebody did an hour ago is forgotten
}

// TestWhatOthersDoNotUseIsNotKeptForThem has a project take much beside others that take next to nothing, and beside one that takes as much.
func TestWhatOthersDoNotUseIsNotKeptForThem(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		slots        int
		modest, busy int // others that hold a slot for 5 ms of 100, and that hold 16 always
		want         int
	}{
		{"one that asks for little", 8, 1, 0, 6},
		{"many that ask for little", 8, 10, 0, 6},
		{"so many that they use a slot", 8, 30, 0, 5},
		{"one more that takes all it can", 8, 0, 1, 4},
		{"both", 8, 10, 1, 3},
		{"a small machine", 2, 1, 0, 1},
		{"a small machine and many", 2, 10, 1, 1},
		{"no slot to spare", 1, 10, 0, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var c clock
			loads := recheck.NewLoads(c.now)
			turns := recheck.NewOpenTurns(100, 0, loads)
			greedy := uuid.New()
			for range 32 {
				take(t, turns, greedy)
			}
			for range row.busy {
				busy := uuid.New()
				for range 16 {
					take(t, turns, busy)
				}
			}
			modest := make([]uuid.UUID, row.modest)
			for i := range modest {
				modest[i] = uuid.New()
			}
			for range 200 {
				c.pass(95 * time.Millisecond)
				for _, p := range modest {
					take(t, turns, p)
				}
				c.pass(5 * time.Millisecond)
				for _, p := range modest {
					turns.Give(p, false)
				}
			}
			part, all := loads.Part(greedy, row.slots)
			require.False(t, all)
			require.Equal(t, row.want, part)
		})
	}
}

// TestSomebodyMayAlwaysHaveAll has projects take and give back slots at any times: nobody's part is less than one slot or more than there are,
// and who holds least of those at work is never bounded.
func TestSomebodyMayAlwaysHaveAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var c clock
		loads := recheck.NewLoads(c.now)
		projects := make([]uuid.UUID, rapid.IntRange(1, 6).Draw(rt, "projects"))
		turns := recheck.NewTurns(6*len(projects), loads)
		for i := range projects {
			projects[i] = uuid.New()
		}
		held, out := map[uuid.UUID]int{}, 0
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			p := rapid.SampledFrom(projects).Draw(rt, "project")
			switch {
			case held[p] > 0 && rapid.Bool().Draw(rt, "give"):
				turns.Give(p, false)
				held[p], out = held[p]-1, out-1
			case out < 6*len(projects):
				take(rt, turns, p)
				held[p], out = held[p]+1, out+1
			}
			c.pass(time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(rt, "pause")))
			n := rapid.IntRange(1, 32).Draw(rt, "slots")
			bounded := 0
			for _, p := range projects {
				part, all := loads.Part(p, n)
				require.GreaterOrEqual(rt, part, 1)
				require.LessOrEqual(rt, part, n)
				if !all {
					bounded++
				}
			}
			require.Less(rt, bounded, len(projects), "nobody may have all")
		}
	})
}

// TestTransactionsOfWhoTakesMore has one project ask for all slots over and over, and another one for some of them: the first has its part
// of those that are shared while the other is at work, and all again afterwards.
func TestTransactionsOfWhoTakesMore(t *testing.T) {
	t.Parallel()
	var c clock
	turns := recheck.NewSharedTurns(4, 2, recheck.NewLoads(c.now))
	greedy, modest := uuid.New(), uuid.New()
	got := make(chan struct{}, 100)
	ask := func() {
		before := turns.Waiting(greedy, false)
		go func() {
			if turns.Take(context.Background(), greedy, false) == nil {
				got <- struct{}{}
			}
		}()
		for turns.Waiting(greedy, false) == before && len(got) == 0 {
		}
	}
	for range 4 {
		take(t, turns, greedy)
	}
	for range 8 {
		ask()
	}
	c.pass(time.Second)
	take(t, turns, modest) // the one that is left to others
	c.pass(time.Second)
	for range 3 {
		turns.Give(greedy, false)
	}
	for range 3 {
		take(t, turns, modest) // at once: what was given back was not given to the other again
	}
	require.Empty(t, got)
	turns.Give(greedy, false) // its last one: it may always have one
	<-got
	for range 4 {
		turns.Give(modest, false)
	}
	require.Empty(t, got)
	c.pass(time.Minute) // the other has left
	turns.Give(greedy, false)
	for range 4 {
		<-got
	}
}

// TestABatchOfWhoTakesMoreYields says when, and for how long.
func TestABatchOfWhoTakesMoreYields(t *testing.T) {
	t.Parallel()
	var c clock
	loads := recheck.NewLoads(c.now)
	turns, others := recheck.NewTurns(1, loads), recheck.NewTurns(8, loads)
	greedy, modest := uuid.New(), uuid.New()
	take(t, turns, greedy)
	for range 3 {
		take(t, others, greedy)
	}
	c.pass(time.Second)
	require.Zero(t, turns.Yield(greedy, false, time.Second), "it is alone")
	take(t, others, modest)
	c.pass(time.Second)
	require.Zero(t, turns.Yield(greedy, false, time.Second), "the other executes nothing")
	take(t, turns, modest)
	require.Equal(t, 3*time.Second, turns.Yield(greedy, false, time.Second))
	require.Zero(t, turns.Yield(modest, false, time.Second), "it takes less")
	require.Zero(t, turns.Yield(greedy, true, time.Second), "it executes nothing in the other lane")
}
