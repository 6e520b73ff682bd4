package waiting_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/waiting"
)

// shop has things of several kinds that agents take.
type shop struct {
	*wire
	mu    sync.Mutex
	has   map[string]int
	looks atomic.Int64
	tries atomic.Int64
	deaf  atomic.Bool
	most  atomic.Int64 // tries at a time
	now   atomic.Int64
	came  atomic.Int64
}

func (s *shop) free(_ context.Context, key string) (int, error) {
	s.looks.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.has[key], nil
}

func (s *shop) put(key string, n int) {
	s.mu.Lock()
	s.has[key] += n
	s.mu.Unlock()
	s.say(key)
}

func (s *shop) take(keys ...string) bool {
	s.tries.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if s.has[key] > 0 {
			s.has[key]--
			return true
		}
	}
	return false
}

func newShop() *shop { return &shop{wire: newWire(), has: map[string]int{}} }

func (s *shop) lines(paces waiting.Paces) *waiting.Lines[string] {
	return waiting.NewLines(waiting.LinesOptions[string]{
		Free: s.free, Listen: s.listen, Paces: func() waiting.Paces { return paces }, Deaf: s.deaf.Load, AtOnce: 4, Limit: time.Minute,
		Room: waiting.NewRoom(3), Log: slog.New(slog.DiscardHandler),
	})
}

// wait is what a poll does: it joins, tries, and waits for its turn until it has something. may says which kinds it may take now.
func (s *shop) wait(ctx context.Context, lines *waiting.Lines[string], may func() []string, keys ...string) bool {
	return s.waitAs(ctx, lines, may, "agent "+strconv.FormatInt(s.came.Add(1), 10), keys...)
}

// waitAs is a poll of an agent that may have others.
func (s *shop) waitAs(ctx context.Context, lines *waiting.Lines[string], may func() []string, who string, keys ...string) bool {
	w := lines.Join(who, keys...)
	defer w.Leave()
	for {
		if now := s.now.Add(1); now > s.most.Load() {
			s.most.Store(now)
		}
		got := s.take(may()...)
		s.now.Add(-1)
		if got {
			return true
		}
		w.Tried()
		select {
		case <-ctx.Done():
			return false
		case <-w.Turn():
		}
	}
}

func always(keys ...string) func() []string { return func() []string { return keys } }

const quiet = 24 * time.Hour

func TestAsManyAreCalledAsThereIsWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		lines := s.lines(waiting.Paces{Soon: quiet, Rare: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		var served atomic.Int64
		const many = 2000
		for range many {
			done.Go(func() {
				if s.wait(ctx, lines, always("work"), "work") {
					served.Add(1)
				}
			})
		}
		synctest.Wait()
		require.EqualValues(t, many, s.tries.Load(), "each tries once when it comes")
		looked := s.looks.Load()
		time.Sleep(time.Minute) //nolint:forbidigo // time in the bubble is not real
		require.Equal(t, looked, s.looks.Load(), "waiting costs nothing")
		s.say("work")
		synctest.Wait()
		require.Equal(t, looked+1, s.looks.Load(), "news without work cost one look")
		require.EqualValues(t, many, s.tries.Load())
		s.put("work", 10)
		synctest.Wait()
		require.EqualValues(t, 10, served.Load())
		require.EqualValues(t, many+10, s.tries.Load(), "nobody was called in vain")
		s.put("work", many-10)
		synctest.Wait()
		require.EqualValues(t, many, served.Load())
		done.Wait()
		synctest.Wait()
		require.Zero(t, lines.Waiting())
		require.True(t, s.ended())
		cancel()
	})
}

func TestWhoWaitsLongestIsCalledFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		lines := s.lines(waiting.Paces{Soon: quiet, Rare: quiet})
		var order []int
		var mu sync.Mutex
		var done sync.WaitGroup
		for i := range 10 {
			done.Go(func() {
				if s.wait(t.Context(), lines, always("work"), "work") {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, i)
				}
			})
			synctest.Wait()
		}
		for range 10 {
			s.put("work", 1)
			synctest.Wait()
		}
		done.Wait()
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, order)
	})
}

// TestWhoMayTakeNothingKeepsNobodyWaiting has one who may take the work behind a hundred who may not.
func TestWhoMayTakeNothingKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		lines := s.lines(waiting.Paces{Soon: quiet, Rare: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		for range 100 {
			done.Go(func() { s.wait(ctx, lines, always(), "work") })
		}
		synctest.Wait()
		got := make(chan bool, 1)
		done.Go(func() { got <- s.wait(ctx, lines, always("work"), "work") })
		synctest.Wait()
		s.most.Store(0)
		s.put("work", 50)
		require.True(t, <-got)
		require.LessOrEqual(t, s.most.Load(), int64(4), "so many at a time")
		tried := s.tries.Load()
		time.Sleep(time.Hour) //nolint:forbidigo // time in the bubble is not real
		require.LessOrEqual(t, s.tries.Load(), tried+100, "each is called once for a piece of news")
		cancel()
		done.Wait()
		synctest.Wait()
		require.Zero(t, lines.Waiting())
	})
}

func TestWhatTimeAloneAllowsIsFoundLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		lines := s.lines(waiting.Paces{Soon: time.Second, Rare: 10 * time.Second})
		var may atomic.Bool
		s.put("work", 1)
		got := make(chan bool, 1)
		go func() {
			got <- s.wait(t.Context(), lines, func() []string {
				if may.Load() {
					return []string{"work"}
				}
				return nil
			}, "work")
		}()
		time.Sleep(time.Minute) //nolint:forbidigo // time in the bubble is not real
		require.LessOrEqual(t, s.tries.Load(), int64(62))
		began := time.Now()
		may.Store(true) // a pause is over: nobody says so
		require.True(t, <-got)
		require.LessOrEqual(t, time.Since(began), time.Second)
		synctest.Wait()
	})
}

func TestWithoutNewsEveryLookMayFindSome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		s.deaf.Store(true)
		lines := s.lines(waiting.Paces{Soon: time.Second, Rare: time.Second})
		var done sync.WaitGroup
		for range 20 {
			done.Go(func() { s.wait(t.Context(), lines, always("work"), "work") })
		}
		synctest.Wait()
		s.mu.Lock()
		s.has["work"] = 20 // and nobody hears of it
		s.mu.Unlock()
		began := time.Now()
		done.Wait()
		require.LessOrEqual(t, time.Since(began), 2*time.Second)
		synctest.Wait()
	})
}

// TestNoWakeUpIsLost has agents that wait in several lines, are called, begin by themselves, move and leave, while work comes up. All of
// it is taken without any look that was not asked for.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	for _, parties := range []uint64{30, 3} { // each waits once, or ten times
		t.Run(strconv.FormatUint(parties, 10), func(t *testing.T) {
			t.Parallel()
			noWakeUpIsLost(t, parties)
		})
	}
}

func noWakeUpIsLost(t *testing.T, parties uint64) {
	t.Helper()
	s := newShop()
	lines := s.lines(waiting.Paces{Soon: quiet, Rare: quiet})
	kinds := []string{"a", "b", "c"}
	const each = 200
	var taken atomic.Int64
	all := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	for n := range uint64(30) {
		done.Go(func() {
			random := rand.New(rand.NewPCG(n, 13))
			may := kinds[:1+n%3]
			for ctx.Err() == nil {
				if agent(ctx, s, lines, random, strconv.FormatUint(n%parties, 10), may) && taken.Add(1) == 3*each {
					close(all)
				}
			}
		})
	}
	for range each {
		for _, kind := range kinds {
			s.put(kind, 1)
		}
	}
	<-all
	cancel()
	done.Wait()
}

// agent takes one thing, or gives up once in a while.
func agent(ctx context.Context, s *shop, lines *waiting.Lines[string], random *rand.Rand, who string, may []string) bool {
	w := lines.Join(who, may...)
	defer w.Leave()
	for {
		if s.take(may...) {
			return true
		}
		w.Tried()
		switch random.IntN(4) {
		case 0:
			w.Begin()
			continue
		case 1:
			w.Move(may[:1]...)
			w.Begin()
			w.Move(may...)
			if s.take(may...) {
				return true
			}
			w.Tried()
		case 2:
			if random.IntN(4) == 0 {
				return false // its connection breaks; it comes again
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-w.Turn():
		}
	}
}

// TestOneThatWaitsManyTimesIsCalledOnceAtATime has one with very many polls, none of which may take what there is: it finds that out once
// for each piece of news, and the one who comes after it has its turn at once.
func TestOneThatWaitsManyTimesIsCalledOnceAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		lines := s.lines(waiting.Paces{Soon: quiet, Rare: quiet})
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		const many = 10_000
		for range many {
			done.Go(func() { s.waitAs(ctx, lines, always("nothing that comes up"), "hostile", "work") })
		}
		synctest.Wait()
		done.Go(func() { s.wait(ctx, lines, always("work"), "work") })
		synctest.Wait()
		before := s.tries.Load()
		require.EqualValues(t, many+1, before, "each tries once when it comes")
		s.put("work", 1)
		synctest.Wait()
		s.mu.Lock()
		left := s.has["work"]
		s.mu.Unlock()
		require.Zero(t, left, "it is taken before any time has passed")
		require.LessOrEqual(t, s.tries.Load()-before, int64(2))
		cancel()
		done.Wait()
	})
}

// TestOneThatWaitsSeveralTimesIsServedSeveralTimes when there is enough for all of its polls.
func TestOneThatWaitsSeveralTimesIsServedSeveralTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShop()
		lines := s.lines(waiting.Paces{Soon: quiet, Rare: quiet})
		var done sync.WaitGroup
		for range 20 {
			done.Go(func() { s.waitAs(t.Context(), lines, always("work"), "one", "work") })
		}
		synctest.Wait()
		began := time.Now()
		s.put("work", 20)
		done.Wait()
		require.Less(t, time.Since(began), time.Second)
	})
}
