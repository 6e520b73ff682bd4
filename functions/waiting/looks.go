package waiting

import (
	"context"
	"sync"
	"time"
)

// LooksOptions say what Looks looks at.
type LooksOptions[K comparable, V any] struct {
	// Look finds out how something is. last is what the look before has found; of the first, the zero value.
	Look func(ctx context.Context, key K, last V) (V, error)
	// Same says whether two looks have found the same; nil: never. What stays the same is looked at less often.
	Same func(a, b V) bool
	// Listen says when to look.
	Listen Listen[K]
	// Paces is how often to look when nothing is heard.
	Paces func() Paces
	// Gap is the time between two looks at the same thing, however much is heard of it; a few come without one after a while of quiet.
	Gap time.Duration
	// Limit bounds a look.
	Limit time.Duration
	// Room is for looks; nil: there is always room.
	Room Room
}

// Looks looks at each thing once for all who watch it.
type Looks[K comparable, V any] struct {
	o LooksOptions[K, V]

	mu  sync.Mutex
	all map[K]*sight[V]
}

// sight is one thing that is watched. Its looks are numbered from 1.
type sight[V any] struct {
	watched  int
	wanted   int64 // the look that somebody waits for
	begun    int64 // the newest look
	ended    int64 // the newest look that has ended, and what it has found:
	value    V
	err      error
	news     chan struct{} // closed when a look ends
	poke     chan struct{} // tells the goroutine that there is something to do
	unsubbed func()
}

// looksAtOnce is how many looks at a thing may follow one another at once after a while of quiet: the end of something small comes with
// some news before it.
const looksAtOnce = 4

// NewLooks makes Looks of nothing yet.
func NewLooks[K comparable, V any](o LooksOptions[K, V]) *Looks[K, V] {
	return &Looks[K, V]{o: o, all: map[K]*sight[V]{}}
}

// View is somebody's view of a thing. It is not for several goroutines at a time.
type View[K comparable, V any] struct {
	looks *Looks[K, V]
	of    *sight[V]
	next  int64 // the first look that is news to it
}

// Join begins to watch. The first that the view gets is a look that begins after now. Leave must be called.
func (l *Looks[K, V]) Join(key K) *View[K, V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.all[key]
	if s == nil {
		s = &sight[V]{news: make(chan struct{}), poke: make(chan struct{}, 1)}
		l.all[key] = s
		heard, stop := l.o.Listen(key) // before the first look, so that nothing is missed
		s.unsubbed = stop
		go l.run(key, s, heard)
	}
	s.watched++
	return &View[K, V]{looks: l, of: s, next: s.want()}
}

// want asks for a look that begins after now, and says which it will be. The caller holds the lock.
func (s *sight[V]) want() int64 {
	s.wanted = s.begun + 1
	s.poked()
	return s.wanted
}

func (s *sight[V]) poked() {
	select {
	case s.poke <- struct{}{}:
	default: // it has been told
	}
}

// Watched is how many things somebody watches.
func (l *Looks[K, V]) Watched() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// Again asks for another look, for somebody who wants to know how it is now.
func (v *View[K, V]) Again() {
	v.looks.mu.Lock()
	defer v.looks.mu.Unlock()
	v.next = v.of.want()
}

// Get returns the newest look where it is news; otherwise a channel that is closed when there may be some.
func (v *View[K, V]) Get() (news <-chan struct{}, value V, err error) {
	v.looks.mu.Lock()
	defer v.looks.mu.Unlock()
	if v.of.ended < v.next {
		return v.of.news, value, nil
	}
	v.next = v.of.ended + 1
	return nil, v.of.value, v.of.err
}

// Next waits for news.
func (v *View[K, V]) Next(ctx context.Context) (V, error) {
	for {
		news, value, err := v.Get()
		if news == nil {
			return value, err
		}
		select {
		case <-ctx.Done():
			return value, ctx.Err()
		case <-news:
		}
	}
}

// Leave ends watching.
func (v *View[K, V]) Leave() {
	v.looks.mu.Lock()
	defer v.looks.mu.Unlock()
	if v.of.watched--; v.of.watched == 0 {
		v.of.poked()
	}
}

// WaitFor watches until done says so or the time is up, and returns how the thing is then: no older than when the wait ended.
func (l *Looks[K, V]) WaitFor(ctx context.Context, key K, wait time.Duration, done func(V) bool) (V, error) {
	view := l.Join(key)
	defer view.Leave()
	value, err := view.Next(ctx)
	if err != nil || wait <= 0 || done(value) {
		return value, err
	}
	end := time.NewTimer(wait)
	defer end.Stop()
	for last := false; ; {
		news, found, err := view.Get()
		switch {
		case err != nil, news == nil && (last || done(found)):
			return found, err
		case news == nil:
			continue
		}
		select {
		case <-ctx.Done():
			return value, ctx.Err()
		case <-end.C:
			last = true
			view.Again()
		case <-news:
		}
	}
}

// run looks at one thing for as long as somebody watches it.
func (l *Looks[K, V]) run(key K, s *sight[V], heard <-chan struct{}) {
	var free time.Time // the gaps of all looks so far end then
	unchanged := 0
	for {
		asked, alive := l.due(key, s)
		if !alive {
			return
		}
		if !asked && !l.sleep(s, heard, unchanged) {
			continue
		}
		if early := time.Now().Add(-looksAtOnce * l.o.Gap); free.Before(early) {
			free = early
		}
		if pause := time.Until(free); !asked && pause > 0 {
			l.rest(s, pause)
		}
		if l.look(key, s) {
			unchanged++
		} else {
			unchanged = 0
		}
		free = free.Add(l.o.Gap)
	}
}

// due says whether somebody waits for a look, and whether anybody still watches.
func (l *Looks[K, V]) due(key K, s *sight[V]) (asked, alive bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.watched > 0 {
		return s.wanted > s.begun, true
	}
	s.unsubbed()
	delete(l.all, key)
	return false, false
}

// sleep waits until it is time for a look. It is false where something else is to be seen to.
func (l *Looks[K, V]) sleep(s *sight[V], heard <-chan struct{}, unchanged int) bool {
	timer := time.NewTimer(l.o.Paces().next(unchanged, l.Watched()))
	defer timer.Stop()
	select {
	case <-s.poke:
		return false
	case <-heard:
		return true
	case <-timer.C:
		return true
	}
}

// rest waits out the gap between two looks, unless somebody asks for one.
func (l *Looks[K, V]) rest(s *sight[V], pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-s.poke:
	case <-timer.C:
	}
}

// look looks once. It does so on a stack of its own, which does not stay large while nothing happens.
func (l *Looks[K, V]) look(key K, s *sight[V]) (same bool) {
	l.mu.Lock()
	s.begun++
	number, last, failed := s.begun, s.value, s.err != nil
	l.mu.Unlock()
	done := make(chan struct{})
	var value V
	var err error
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), l.o.Limit)
		defer cancel()
		if l.o.Room != nil {
			if err = l.o.Room.Enter(ctx); err != nil {
				return
			}
			defer l.o.Room.Leave()
		}
		value, err = l.o.Look(ctx, key, last)
	}()
	<-done
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		value = last // what the next look goes on from
	}
	s.ended, s.value, s.err = number, value, err
	close(s.news)
	s.news = make(chan struct{})
	return number > 1 && err == nil && !failed && l.o.Same != nil && l.o.Same(last, value)
}
