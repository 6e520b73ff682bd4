package verify

import "fmt"

// Stated is what is said of the draw about one accepted result.
type Stated struct {
	Shard  int64
	Agent  string // whose result it is
	Rate   Rate   // with which it was drawn whether it is audited at once
	Window int64  // in which it was gathered, as it was not; 0: in none
	Drawn  bool   // it was audited: at once, or, in a window, as one of those that were drawn of it
	Server bool   // the server executed the shard, and had the same bytes
	// Tolerant says that a validator decides what the same is: that the server had other bytes says nothing then.
	Tolerant bool
}

// Redrawn counts draws that were repeated.
type Redrawn struct {
	AtOnce   int64 // results that were drawn at once
	Gathered int64 // results of windows
	OfWindow int64 // of these: those that were drawn
	Windows  int64
	Quorum   int64 // draws about what a quorum has accepted
	Least    Rate  // of all rates
	Most     Rate
}

// Drawn is how many results were drawn.
func (r Redrawn) Drawn() int64 { return r.AtOnce + r.OfWindow }

// Redraw repeats the draws of one job by its secret. Memory grows with the number
// of windows only. It is for one goroutine.
type Redraw struct {
	Redrawn
	secret  []byte
	job     string
	quorum  bool
	agents  map[string]Draws
	lots    map[agentWindow]*lot
	windows map[agentWindow]*windowSeen
}

type agentWindow struct {
	agent  string
	number int64
}

// windowSeen is what is known of a window: the last of its drawn results, and the
// first of those that were not, in the order of the draw.
type windowSeen struct {
	some, left   bool
	last, before ticket
	results      int
	drawn        int
}

// redrawCache is for how many agents, and windows, the draws are kept ready.
const redrawCache = 1 << 12

// NewRedraw begins to repeat the draws of a job; quorum says that they are about
// shards that a quorum has accepted.
func NewRedraw(secret []byte, job string, quorum bool) *Redraw {
	return &Redraw{
		secret: secret, job: job, quorum: quorum, agents: map[string]Draws{}, lots: map[agentWindow]*lot{}, windows: map[agentWindow]*windowSeen{},
	}
}

// Repeat repeats the draw about one result, and says how it differs from what is
// stated. Each result is repeated once, in any order.
func (r *Redraw) Repeat(s Stated) error {
	if s.Rate < 1 || s.Rate > EveryResult || s.Window < 0 {
		return fmt.Errorf("shard %d: a draw at a rate of %d/%d, in window %d, is none", s.Shard, s.Rate, EveryResult, s.Window)
	}
	if r.Least == 0 || s.Rate < r.Least {
		r.Least = s.Rate
	}
	r.Most = max(r.Most, s.Rate)
	if r.quorum {
		return r.repeatQuorum(s)
	}
	atOnce := r.of(s.Agent).Draw(s.Shard, s.Rate)
	switch {
	case atOnce && (s.Window > 0 || !s.Drawn):
		return fmt.Errorf("shard %d: the secret draws the result of agent %s at once, at a rate of %v %%, and it is said not to have been drawn", s.Shard, s.Agent, 100*s.Rate.Share())
	case !atOnce && s.Window == 0 && s.Drawn:
		return fmt.Errorf("shard %d: the secret does not draw the result of agent %s at once, at a rate of %v %%, and it is said to have been drawn", s.Shard, s.Agent, 100*s.Rate.Share())
	case s.Window > 0:
		return r.repeatWindow(s)
	case s.Drawn:
		r.AtOnce++
	}
	return nil
}

func (r *Redraw) repeatQuorum(s Stated) error {
	if s.Window > 0 || s.Drawn {
		return fmt.Errorf("shard %d: what a quorum has accepted is in no window", s.Shard)
	}
	if r.of(QuorumAgent).Draw(s.Shard, s.Rate) {
		if !s.Server && !s.Tolerant {
			return fmt.Errorf("shard %d: the secret draws it for the server, at a rate of %v %%, and no server has executed it", s.Shard, 100*s.Rate.Share())
		}
		r.AtOnce++
	}
	r.Quorum++
	return nil
}

// repeatWindow makes sure that no result which was not drawn comes before one that
// was: which were drawn follows from how many.
func (r *Redraw) repeatWindow(s Stated) error {
	id := agentWindow{s.Agent, s.Window}
	w := r.windows[id]
	if w == nil {
		w = &windowSeen{}
		r.windows[id] = w
		r.Windows++
	}
	t := ticket{r.lotOf(id).of(s.Shard), s.Shard}
	r.Gathered++
	w.results++
	switch {
	case s.Drawn:
		r.OfWindow++
		w.drawn++
		if !w.some || t.compare(w.last) > 0 {
			w.some, w.last = true, t
		}
	case !w.left || t.compare(w.before) < 0:
		w.left, w.before = true, t
	}
	if w.some && w.left && w.before.compare(w.last) < 0 {
		return fmt.Errorf("shard %d: the secret draws it before shard %d in window %d of agent %s, and it is said not to have been drawn, as that one was",
			w.before.shard, w.last.shard, s.Window, s.Agent)
	}
	return nil
}

// Thin is how many windows have fewer audits than the bound asks of so many results
// of an owner with no more than the stated share. A sound job has hardly any:
// results of a window that were taken back while others were drawn are not in it.
func (r *Redraw) Thin(b Bound) (n int64) {
	for _, w := range r.windows {
		if least, _ := b.Closing(w.results, 1); w.left && w.drawn < least {
			n++
		}
	}
	return n
}

func (r *Redraw) of(agent string) Draws {
	d, found := r.agents[agent]
	if !found {
		if len(r.agents) >= redrawCache {
			clear(r.agents)
		}
		d = NewDraws(r.secret, r.job, agent)
		r.agents[agent] = d
	}
	return d
}

func (r *Redraw) lotOf(id agentWindow) *lot {
	l, found := r.lots[id]
	if !found {
		if len(r.lots) >= redrawCache {
			clear(r.lots)
		}
		l = windowLot(r.secret, r.job, id.agent, id.number)
		r.lots[id] = l
	}
	return l
}
