package waiting_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/waiting"
)

// wire is what those who wait listen to.
type wire struct {
	mu   sync.Mutex
	ears map[string]map[chan struct{}]bool
}

func newWire() *wire { return &wire{ears: map[string]map[chan struct{}]bool{}} }

func (w *wire) listen(key string) (<-chan struct{}, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ear := make(chan struct{}, 1)
	if w.ears[key] == nil {
		w.ears[key] = map[chan struct{}]bool{}
	}
	w.ears[key][ear] = true
	return ear, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.ears[key], ear); len(w.ears[key]) == 0 {
			delete(w.ears, key)
		}
	}
}

func (w *wire) say(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ear := range w.ears[key] {
		select {
		case ear <- struct{}{}:
		default:
		}
	}
}

func (w *wire) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ears) == 0
}

// thing is what is looked at.
type thing struct {
	*wire
	value, looks atomic.Int64
	fails        atomic.Bool
	gate         chan struct{} // no look ends before it is closed; nil: they do
}

var errLook = errors.New("the look failed")

func (f *thing) look(context.Context, string, int64) (int64, error) {
	f.looks.Add(1)
	value := f.value.Load()
	if f.gate != nil {
		<-f.gate
	}
	if f.fails.Load() {
		return 0, errLook
	}
	return value, nil
}

func (f *thing) looksAt(paces waiting.Paces) *waiting.Looks[string, int64] {
	return waiting.NewLooks(waiting.LooksOptions[string, int64]{
		Look: f.look, Same: func(a, b int64) bool { return a == b }, Listen: f.listen, Paces: func() waiting.Paces { return paces }, Limit: time.Minute,
		Room: waiting.NewRoom(2),
	})
}

func TestThousandsWhoWaitCostOneLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &thing{wire: newWire(), gate: make(chan struct{})}
		looks := f.looksAt(waiting.Paces{Soon: 10 * time.Minute, Rare: 10 * time.Minute})
		const many = 3000
		var done sync.WaitGroup
		var woken atomic.Int64
		for range many {
			done.Go(func() {
				v, err := looks.WaitFor(t.Context(), "job", time.Minute, func(v int64) bool { return v == 7 })
				if err == nil && v == 7 {
					woken.Add(1)
				}
			})
		}
		synctest.Wait()
		close(f.gate) // all have joined while the first look was under way
		synctest.Wait()
		require.LessOrEqual(t, f.looks.Load(), int64(2), "one for the first, and one for all who came while it was under way")
		require.Equal(t, 1, looks.Watched())
		before := f.looks.Load()
		time.Sleep(30 * time.Second) //nolint:forbidigo // time in the bubble is not real
		require.Equal(t, before, f.looks.Load(), "waiting costs nothing")
		f.say("job")
		synctest.Wait()
		require.Equal(t, before+1, f.looks.Load(), "one look for all")
		require.Zero(t, woken.Load())
		f.value.Store(7)
		f.say("job")
		done.Wait()
		require.EqualValues(t, many, woken.Load())
		require.Equal(t, before+2, f.looks.Load())
		synctest.Wait()
		require.Zero(t, looks.Watched())
		require.True(t, f.ended(), "nobody listens any more")
	})
}

func TestTheEndOfAWaitSaysHowItIsThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &thing{wire: newWire()}
		looks := f.looksAt(waiting.Paces{Soon: time.Hour, Rare: time.Hour})
		go func() {
			time.Sleep(time.Second) //nolint:forbidigo // time in the bubble is not real
			f.value.Store(3)        // and nobody says so
		}()
		began := time.Now()
		v, err := looks.WaitFor(t.Context(), "job", 5*time.Second, func(int64) bool { return false })
		require.NoError(t, err)
		require.EqualValues(t, 3, v)
		require.Equal(t, 5*time.Second, time.Since(began))
		v, err = looks.WaitFor(t.Context(), "job", 0, func(int64) bool { return false })
		require.NoError(t, err)
		require.EqualValues(t, 3, v, "who may not wait looks once")
		synctest.Wait()
	})
}

func TestWhatMovesIsLookedAtOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &thing{wire: newWire()}
		looks := f.looksAt(waiting.Paces{Soon: time.Second, Rare: 8 * time.Second, Share: 1})
		view := looks.Join("a")
		defer synctest.Wait()
		defer view.Leave()
		_, err := view.Next(t.Context())
		require.NoError(t, err)
		at := func() (pauses []time.Duration) {
			for range 6 {
				began := time.Now()
				_, err := view.Next(t.Context())
				require.NoError(t, err)
				pauses = append(pauses, time.Since(began))
			}
			return pauses
		}
		require.Equal(t, []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second, 8 * time.Second}, at())
		f.value.Store(1)
		require.Equal(t, 8*time.Second, at()[0])
		f.value.Store(2)
		_, _ = view.Next(t.Context())
		began := time.Now()
		_, _ = view.Next(t.Context())
		require.Equal(t, time.Second, time.Since(began), "it moves")
		other := looks.Join("b")
		defer other.Leave()
		_, _ = other.Next(t.Context())
		began = time.Now()
		_, _ = other.Next(t.Context())
		require.Equal(t, 2*time.Second, time.Since(began), "two things share what there may be of looks")
	})
}

func TestALookThatFailsIsToldAndRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &thing{wire: newWire()}
		f.fails.Store(true)
		looks := f.looksAt(waiting.Paces{Soon: time.Second, Rare: time.Second})
		_, err := looks.WaitFor(t.Context(), "job", time.Minute, func(int64) bool { return true })
		require.ErrorIs(t, err, errLook)
		f.fails.Store(false)
		_, err = looks.WaitFor(t.Context(), "job", time.Minute, func(int64) bool { return true })
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = looks.WaitFor(ctx, "job", time.Minute, func(int64) bool { return false })
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		require.Zero(t, looks.Watched())
	})
}

// TestNoNewsAreLost has many wait for values that come up while they join, look and leave.
func TestNoNewsAreLost(t *testing.T) {
	t.Parallel()
	f := &thing{wire: newWire()}
	looks := f.looksAt(waiting.Paces{Soon: time.Hour, Rare: time.Hour}) // only what is said wakes anybody
	const last = 300
	var done sync.WaitGroup
	for range 50 {
		done.Go(func() {
			for want := int64(1); want <= last; want += 7 {
				v, err := looks.WaitFor(t.Context(), "job", time.Hour, func(v int64) bool { return v >= want })
				if err != nil || v < want {
					t.Errorf("%d: %d, %v", want, v, err)
					return
				}
			}
		})
	}
	for range last {
		f.value.Add(1)
		f.say("job")
	}
	done.Wait()
}
