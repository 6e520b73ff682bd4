package waiting

import (
	"container/list"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// LinesOptions say what is waited for in lines.
type LinesOptions[K comparable] struct {
	// Free says how much work there is, up to a bound of its own; 0: nothing.
	Free func(ctx context.Context, key K) (int, error)
	// Listen says when there may be more.
	Listen Listen[K]
	// Paces is how often to look without news: Soon if there is work that nobody takes, Rare if there is none.
	Paces func() Paces
	// Deaf says that nothing can be heard at the moment: then every look may find what is new.
	Deaf func() bool
	// AtOnce is how many are called at a time.
	AtOnce int
	// Limit bounds a look.
	Limit time.Duration
	// Room is for looks; nil: there is always room.
	Room Room
	Log  *slog.Logger
}

const (
	// waveLimit is how long those who were called may take before others are.
	waveLimit = 250 * time.Millisecond
	// vainPause is by how much each call in vain delays the next, longestVain by how much at most: where many wait and none of them may
	// take what there is, finding that out is no hurry.
	vainPause, longestVain = 5 * time.Millisecond, 50 * time.Millisecond
	// failedPause is how long a look that failed is not repeated.
	failedPause = time.Second
)

// Lines are where agents wait until there is something to take, a line for each place that they may take it from. When something comes up
// about as many are called as there is to take, those called longest ago first; one that finds nothing goes to the end.
// A new member tries once by itself, and each is called once after each piece of news for as long as there is something to take.
type Lines[K comparable] struct {
	o LinesOptions[K]

	mu      sync.Mutex
	all     map[K]*line[K]
	parties map[K]*party[K]
}

// party are those who wait for the same one: what one of them is not given none of them is.
type party[K comparable] struct {
	of     map[*Waiter[K]]struct{}
	trying int
}

// line is the line of one key.
type line[K comparable] struct {
	places  *list.List // of *place, those first that tried longest ago
	news    int64      // how often something was heard
	settled int64      // of which news it is known that nothing is left
	calling int        // who was called and is not back
	taken   bool       // since the last look
	failing bool       // the last look did; of the line's goroutine alone
	poke    chan struct{}
	stop    func()
}

// place is where one stands in one line.
type place[K comparable] struct {
	of      *Waiter[K]
	line    *line[K]
	key     K
	tried   int64 // which news there was when it tried last
	element *list.Element
}

// Waiter is one who waits, in as many lines as it may take from.
type Waiter[K comparable] struct {
	lines  *Lines[K]
	who    K
	party  *party[K]
	places []*place[K]
	turn   chan struct{}
	trying bool
	called *line[K] // which line has called it; nil: it tries by itself
}

// NewLines makes empty lines.
func NewLines[K comparable](o LinesOptions[K]) *Lines[K] {
	return &Lines[K]{o: o, all: map[K]*line[K]{}, parties: map[K]*party[K]{}}
}

// Join lines who up, and begins a try: the caller tries after it has joined, and says Tried or Leave. Leave must be called in the end. One
// may wait several times at once; it is called once at a time all the same, and what it has tried for in vain counts for all of these.
func (l *Lines[K]) Join(who K, keys ...K) *Waiter[K] {
	w := &Waiter[K]{lines: l, who: who, turn: make(chan struct{}, 1), trying: true}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.party = l.parties[who]; w.party == nil {
		w.party = &party[K]{of: map[*Waiter[K]]struct{}{}}
		l.parties[who] = w.party
	}
	w.party.of[w] = struct{}{}
	w.party.trying++
	for _, key := range keys {
		w.enter(key)
	}
	return w
}

// Waiting is in how many lines somebody waits.
func (l *Lines[K]) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

func (w *Waiter[K]) enter(key K) {
	of := w.lines.all[key]
	if of == nil {
		of = &line[K]{places: list.New(), poke: make(chan struct{}, 1)}
		w.lines.all[key] = of
		heard, stop := w.lines.o.Listen(key)
		of.stop = stop
		go w.lines.run(key, of, heard)
	}
	p := &place[K]{of: w, line: of, key: key, tried: of.news}
	p.element = of.places.PushBack(p)
	w.places = append(w.places, p)
}

// Turn gets a token when it is the waiter's turn to try. It then says Tried or Leave.
func (w *Waiter[K]) Turn() <-chan struct{} { return w.turn }

// Begin begins a try without having been called.
func (w *Waiter[K]) Begin() {
	w.lines.mu.Lock()
	defer w.lines.mu.Unlock()
	select {
	case <-w.turn: // it was called at the same moment: that is one try
	default:
	}
	if !w.trying {
		w.begin(nil)
	}
}

// begin notes that what there is now is being tried. The caller holds the lock.
func (w *Waiter[K]) begin(by *line[K]) {
	w.trying, w.called = true, by
	w.party.trying++
	for _, p := range w.places {
		p.tried = p.line.news
		p.line.places.MoveToBack(p.element)
	}
}

// Tried says that there was nothing for it: it waits again.
func (w *Waiter[K]) Tried() {
	w.lines.mu.Lock()
	defer w.lines.mu.Unlock()
	w.back(false)
	for _, p := range w.places {
		p.share()
		if p.tried < p.line.news {
			p.line.poked() // there were news meanwhile
		}
	}
}

// share has the others who wait for the same one stand behind this place, if they have tried less: it found nothing.
func (p *place[K]) share() {
	for other := range p.of.party.of {
		if other.trying {
			continue
		}
		for _, o := range other.places {
			if o.line == p.line && o.tried < p.tried {
				o.tried = p.tried
				p.line.places.MoveAfter(o.element, p.element)
			}
		}
	}
}

func (w *Waiter[K]) back(took bool) {
	if w.called != nil {
		w.called.calling--
		w.called.taken = w.called.taken || took
		w.called.poked()
	}
	if w.trying {
		w.party.trying--
	}
	if w.party.trying == 0 && len(w.party.of) > 1 { // others of it were passed over meanwhile
		for _, p := range w.places {
			p.line.poked()
		}
	}
	w.trying, w.called = false, nil
}

// Move goes to other lines. It keeps its place in those where it is.
func (w *Waiter[K]) Move(keys ...K) {
	w.lines.mu.Lock()
	defer w.lines.mu.Unlock()
	w.places = slices.DeleteFunc(w.places, func(p *place[K]) bool {
		if slices.Contains(keys, p.key) {
			return false
		}
		p.leave()
		return true
	})
	for _, key := range keys {
		if !slices.ContainsFunc(w.places, func(p *place[K]) bool { return p.key == key }) {
			w.enter(key)
		}
	}
}

// Leave ends waiting, with or without what it waited for.
func (w *Waiter[K]) Leave() {
	w.lines.mu.Lock()
	defer w.lines.mu.Unlock()
	w.back(true)
	for _, p := range w.places {
		p.leave()
	}
	w.places = nil
	if delete(w.party.of, w); len(w.party.of) == 0 {
		delete(w.lines.parties, w.who)
	}
}

func (p *place[K]) leave() {
	p.line.places.Remove(p.element)
	if p.line.places.Len() == 0 {
		p.line.poked()
	}
}

func (l *line[K]) poked() {
	select {
	case l.poke <- struct{}{}:
	default:
	}
}

// due says whether somebody has not tried since the last news.
func (l *line[K]) due() bool { return l.settled < l.news && l.nextDue() != nil }

func placeAt[K comparable](e *list.Element) *place[K] {
	p, ok := e.Value.(*place[K])
	if !ok {
		panic("waiting: a line holds something else than places")
	}
	return p
}

// nextDue is the first that has not tried since the last news, and whose party has no member that tries just now.
func (l *line[K]) nextDue() *place[K] {
	for e := l.places.Front(); e != nil; e = e.Next() {
		p := placeAt[K](e)
		if p.tried >= l.news {
			return nil // all behind it have tried as well
		}
		if p.of.party.trying == 0 {
			return p
		}
	}
	return nil
}

// run calls those who wait in a line for as long as somebody does.
func (l *Lines[K]) run(key K, of *line[K], heard <-chan struct{}) {
	free, vain := 0, 0
	for {
		due, alive := l.state(key, of)
		if !alive {
			return
		}
		ticked := false
		if !due {
			var look bool
			if look, ticked = l.sleep(of, heard, free); !look {
				continue
			}
		}
		select {
		case <-heard:
			l.heard(of)
		default:
		}
		var ok bool
		if free, ok = l.look(key, of); !ok {
			l.pause(of, heard, failedPause)
			continue
		}
		if free == 0 {
			vain = 0
			continue
		}
		l.call(of, free, ticked)
		if l.gather(of, heard) {
			vain = 0
		} else {
			vain++
			l.pause(of, heard, min(time.Duration(vain-1)*vainPause, longestVain))
		}
	}
}

// state says whether somebody is to be called, and whether anybody waits.
func (l *Lines[K]) state(key K, of *line[K]) (due, alive bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of.places.Len() > 0 {
		return of.due(), true
	}
	of.stop()
	delete(l.all, key)
	return false, false
}

// sleep waits for news, or until it is time to look without. ticked says that nothing was heard.
func (l *Lines[K]) sleep(of *line[K], heard <-chan struct{}, free int) (look, ticked bool) {
	pace, waiting := l.o.Paces(), l.Waiting()
	pause := pace.next(0, waiting)
	if free == 0 {
		pause = pace.next(64, waiting)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-of.poke:
		return false, false
	case <-heard:
		l.heard(of)
		return true, false
	case <-timer.C:
		if l.o.Deaf() {
			l.heard(of)
			return true, false
		}
		return true, true
	}
}

func (l *Lines[K]) heard(of *line[K]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.news++
}

// look finds out how much there is. Where there is nothing, all news are settled that came before.
func (l *Lines[K]) look(key K, of *line[K]) (free int, ok bool) {
	l.mu.Lock()
	news := of.news
	l.mu.Unlock()
	done := make(chan struct{})
	var err error
	go func() { // on a stack of its own
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), l.o.Limit)
		defer cancel()
		if l.o.Room != nil {
			if err = l.o.Room.Enter(ctx); err != nil {
				return
			}
			defer l.o.Room.Leave()
		}
		free, err = l.o.Free(ctx, key)
	}()
	<-done
	if err != nil {
		if !of.failing {
			l.o.Log.Warn("looking whether there is something for those who wait failed; trying again", "of", key, "error", err)
		}
		of.failing = true
		return 0, false
	}
	of.failing = false
	if free == 0 {
		l.mu.Lock()
		of.settled = max(of.settled, news)
		l.mu.Unlock()
	}
	return free, true
}

// call gives some their turn: not more than there is to take, and not more at once than may be. When it was only time to look, those are
// called who tried longest ago: what one may take can also change by time alone.
func (l *Lines[K]) call(of *line[K], free int, ticked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.taken = false
	most := min(free, l.o.AtOnce, 2*l.o.AtOnce-of.calling)
	for range most {
		p := of.nextDue()
		if p == nil && ticked {
			p = of.longest()
		}
		if p == nil {
			return
		}
		p.of.begin(of)
		of.calling++
		p.of.turn <- struct{}{} // there is room: its last turn was taken up
	}
}

// longest is who tried longest ago and does not try just now.
func (l *line[K]) longest() *place[K] {
	for e := l.places.Front(); e != nil; e = e.Next() {
		p := placeAt[K](e)
		if p.of.party.trying == 0 {
			return p
		}
	}
	return nil
}

// gather waits until those who were called are back, and says whether any of them has taken something.
func (l *Lines[K]) gather(of *line[K], heard <-chan struct{}) (taken bool) {
	timer := time.NewTimer(waveLimit)
	defer timer.Stop()
	for {
		l.mu.Lock()
		back, taken := of.calling == 0, of.taken
		l.mu.Unlock()
		if back {
			return taken
		}
		select {
		case <-of.poke:
		case <-heard:
			l.heard(of)
		case <-timer.C:
			return taken
		}
	}
}

// pause waits, and takes in what is heard meanwhile.
func (l *Lines[K]) pause(of *line[K], heard <-chan struct{}, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-heard:
			l.heard(of)
		case <-timer.C:
			return
		}
	}
}
