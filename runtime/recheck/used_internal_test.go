package recheck

import (
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hand is a clock that is moved by hand.
type hand struct{ at time.Time }

func (h *hand) now() time.Time { return h.at }

func usedAt(h *hand) *Used {
	u := NewUsed()
	u.now = h.now
	return u
}

// TestUsedIsWhatRanOfLate has batches of projects begin and end at any time: what is counted is the sum over their seconds, each worth less
// the longer ago it is, however often anybody looked; and of two projects one at most has used less.
func TestUsedIsWhatRanOfLate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := &hand{time.Unix(1_000_000, 0)}
		u := usedAt(h)
		projects := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
		ends := map[uuid.UUID][]func(){}
		want := map[uuid.UUID]float64{}
		pass := func(d time.Duration) {
			const step = 10 * time.Millisecond // by which the sum is taken
			for range d / step {
				for _, p := range projects {
					want[p] = (want[p] + float64(len(ends[p]))*step.Seconds()) * math.Exp2(-step.Seconds()/usedHalfLife.Seconds())
				}
			}
			h.at = h.at.Add(d)
		}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			p := rapid.SampledFrom(projects).Draw(rt, "project")
			if n := len(ends[p]); n > 0 && rapid.Bool().Draw(rt, "end") {
				ends[p][n-1]()
				ends[p][n-1]() // once
				ends[p] = ends[p][:n-1]
			} else {
				ends[p] = append(ends[p], u.Begin(p))
			}
			pass(time.Duration(rapid.IntRange(0, 200).Draw(rt, "tenths")) * 100 * time.Millisecond)
			for _, p := range projects {
				require.InDelta(rt, want[p], u.spent(p, h.at), 0.05+want[p]/100)
				for _, q := range projects {
					require.False(rt, u.Less(p, q) && u.Less(q, p))
				}
			}
		}
	})
}

// TestWhoHasUsedLessComesFirst while it runs something, and nobody else: a newcomer outdoes who has executed for long, until it has used as
// much itself.
func TestWhoHasUsedLessComesFirst(t *testing.T) {
	t.Parallel()
	h := &hand{time.Unix(1_000_000, 0)}
	u := usedAt(h)
	long, short := uuid.New(), uuid.New()
	u.Begin(long)
	require.False(t, u.Outdone(long))
	h.at = h.at.Add(time.Minute)
	require.True(t, u.Less(short, long))
	require.False(t, u.Outdone(long), "the other one runs nothing")
	end := u.Begin(short)
	require.True(t, u.Outdone(long))
	require.False(t, u.Outdone(short))
	h.at = h.at.Add(time.Second)
	require.True(t, u.Outdone(long))
	end()
	require.False(t, u.Outdone(long))
	u.Begin(short)
	u.Begin(short)
	h.at = h.at.Add(time.Minute)
	require.False(t, u.Outdone(long), "it has used more by now")
	require.True(t, u.Outdone(short))
}

// TestWhatIsLongAgoIsForgotten leaves nothing behind.
func TestWhatIsLongAgoIsForgotten(t *testing.T) {
	t.Parallel()
	h := &hand{time.Unix(1_000_000, 0)}
	u := usedAt(h)
	end := u.Begin(uuid.New())
	h.at = h.at.Add(time.Hour)
	end()
	h.at = h.at.Add(time.Hour)
	u.Begin(uuid.New())()
	require.Empty(t, u.of)
}
