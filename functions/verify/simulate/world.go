package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/ostraka/ostraka/functions/verify"
)

// agent is one name. A machine whose agents return has several, one after the
// other.
type agent struct {
	name    string
	slot    int
	fair    bool
	late    float64
	behave  behaviour
	private answer

	results     int // given under this name
	firstLie    int // results when it lied first; -1: never
	caught      int // results when a lie was proven; -1: never
	tainted     int // the moment of the last taint; 0: never
	gone        bool
	quarantined bool

	owner *owner

	draws   verify.Draws
	window  int64
	waiting []int32 // shards that wait in the open window
	closing []int32 // those of the window that is being audited
	final   []int32 // results that are final by their windows
	valid   int     // BOINC's consecutive_valid

	passedAt int     // results when an audit of its own passed last; -1: none did
	held     []int32 // shards that it leases and keeps
	charged  int64   // failed checks of the job, and the audits that it lost by them
	lost     int64
}

// owner is who a machine belongs to, whatever names it takes: the token stays
// the same.
type owner struct {
	given int64   // results that were gathered in windows
	spent float64 // by windows that were drawn from

	credit      int64 // brought back, as loans count it
	brought     int64
	unconfirmed int64 // attempts without an answer where others gave one
}

// shard is what is written down about a shard.
type shard struct {
	agent    int32 // the name whose answer is accepted, by its index; -1: none
	answer   answer
	accepted int // the moment
	final    int // the moment; 0: not yet
	awaits   int64
	proven   bool // the server gave the answer as well
}

type world struct {
	o       Options
	pop     Population
	policy  verify.Policy
	bound   verify.Bound
	means   verify.Means
	secret  []byte
	dice    *rand.Rand
	hostile behaviour

	names    []*agent
	byName   map[string]int32
	slots    []*agent // who works now
	owners   []*owner // by slot
	given    int64    // results that were gathered in windows
	evidence map[string]verify.Evidence
	shards   []shard
	open     []int32  // to be lent again
	history  [][]vote // of shards that are not final
	spare    [][]vote // to be used again
	now      int
	digests  []string

	attempts []verify.Attempt
	others   []vote
	cell     Cell
	charges  int64 // in the job
	unsteady int64 // shards to which the server gave two answers

	together verify.Together // how windows of the job were closed together, if they were
	drawn    bool            // from some window

	done      float64 // the part of the job that was lent
	flooding  *agent  // who reports all that it has held
	postponed []int32 // audits that were drawn meanwhile
}

func newWorld(o Options, p Population, rule Rule) *world {
	w := &world{
		o: o, pop: p, dice: dice(o, p, rule), secret: []byte("the simulation's secret"),
		byName: map[string]int32{}, evidence: map[string]verify.Evidence{}, history: make([][]vote, o.Results),
		shards: make([]shard, o.Results), cell: Cell{Population: p.Name, Rule: rule, Shards: o.Results},
	}
	w.policy = verify.Policy{TargetError: o.TargetError, AssumeHostile: o.Assumed}
	w.bound = verify.Derive(w.policy)
	switch rule {
	case Rechecks:
		w.means.Recheck = true
	case Quorum2:
		w.policy = verify.Policy{Quorum: 2}
	case Quorum3:
		w.policy = verify.Policy{Quorum: 3}
	case Replicas, Adaptive:
	}
	w.hostile = p.hostile(w.bound)
	hostile := int(o.Hostile*float64(o.Agents) + 0.5)
	strangers := &owner{}
	for slot := range o.Agents {
		w.owners = append(w.owners, &owner{})
		if p.strangers && slot < hostile {
			w.owners[slot] = strangers
		}
		w.slots = append(w.slots, w.join(slot, slot < hostile))
	}
	for i := range w.shards {
		w.shards[i].agent = -1
	}
	if n := o.Record; n > 0 { // who comes back under a new name has none
		for _, a := range w.slots {
			w.evidence[a.name] = verify.Evidence{Passed: n, SinceFailure: n, Vouched: n, Record: n}
		}
	}
	return w
}

// join gives a machine a new name.
func (w *world) join(slot int, special bool) *agent {
	a := &agent{
		name: fmt.Sprintf("agent-%06d", len(w.names)), slot: slot, fair: !special || w.pop.fair, private: own + answer(slot),
		firstLie: -1, caught: -1, passedAt: -1, window: 1, behave: honest(w.bound), owner: w.owners[slot],
	}
	if special {
		a.behave, a.late = w.hostile, w.pop.late
	}
	a.draws = verify.NewDraws(w.secret, job, a.name)
	w.byName[a.name] = int32(len(w.names))
	w.names = append(w.names, a)
	return a
}

// run settles every shard, with a target error to the last audit.
func (w *world) run() {
	for n := range w.shards {
		w.done = float64(n) / float64(len(w.shards))
		w.settle(int32(n))
		for len(w.open) > 0 {
			w.settleOpen()
		}
	}
	for w.floodAll() {
		for len(w.open) > 0 {
			w.settleOpen()
		}
	}
	for w.policy.TargetError != 0 && w.tail() {
		for len(w.open) > 0 || w.floodAll() {
			if len(w.open) > 0 {
				w.settleOpen()
			}
		}
	}
}

func (w *world) settleOpen() {
	last := len(w.open) - 1
	n := w.open[last]
	w.open = w.open[:last]
	w.settle(n)
}

// settle lends a shard until it is decided.
func (w *world) settle(n int32) {
	var late *agent
	for wanted := w.policy.Initial(); wanted > 0; {
		for range wanted {
			a := w.pick(n, late)
			if a != nil && late == nil && a.late > 0 && w.dice.Float64() < a.late {
				late = a // its lease expires, and the shard is leased to another
				a = w.pick(n, late)
			}
			if a == nil {
				w.review(n)
				return
			}
			if w.hold(n, a) {
				return
			}
			w.execute(n, a)
		}
		v := w.decide(n, w.means, nil)
		if wanted = v.Wanted; v.Decision != verify.Replicate {
			w.carryOut(n, v)
		}
	}
	if late == nil || late.gone {
		return
	}
	if w.shards[n].final != 0 {
		late.results++
		w.cell.Executions++ // in vain
		return
	}
	w.execute(n, late)
	w.again(n, w.means)
}

// again reconsiders a shard, and carries out what is new.
func (w *world) again(n int32, m verify.Means) { w.further(n, m, nil) }

// further does so when the server has executed the shard, and got these answers.
func (w *world) further(n int32, m verify.Means, server []answer) verify.Verdict {
	for {
		v := w.decide(n, m, server)
		switch v.Decision {
		case verify.Replicate:
			for range v.Wanted {
				a := w.pick(n, nil)
				if a == nil {
					w.review(n)
					return v
				}
				w.execute(n, a)
			}
		case verify.Recheck:
			server = w.recheck(n, server)
		default:
			w.carryOut(n, v)
			return v
		}
	}
}

// recheck has the server execute a shard again. It is always right, where
// the function gives one answer.
func (w *world) recheck(n int32, server []answer) []answer {
	w.cell.Executions++
	w.cell.Rechecks++
	given := right
	if w.pop.unstable != nil {
		given = w.pop.unstable(w.dice, n)
	}
	return append(server, given)
}

// decide asks the engine. server is what the server got each time that it has
// executed the shard.
func (w *world) decide(n int32, m verify.Means, server []answer) verify.Verdict {
	w.attempts = w.attempts[:0]
	if s := w.shards[n]; s.agent >= 0 {
		m.Holder = w.names[s.agent].name
	}
	m.Runs = verify.RunsFor(0, w.charges)
	for _, v := range w.history[n] {
		w.attempts = append(w.attempts, w.attempt(v))
	}
	for i, got := range server {
		w.attempts = append(w.attempts, verify.Attempt{ID: serverIDs[i], Server: true, State: verify.Reported, Status: verify.OK, Digest: w.digest(got)})
	}
	return verify.Decide(w.policy, w.attempts, w.evidence, m)
}

var serverIDs = func() (ids [verify.MaxServerRuns]string) {
	for i := range ids {
		ids[i] = fmt.Sprintf("server-%d", i+1)
	}
	return ids
}()

func (w *world) attempt(v vote) verify.Attempt {
	a := verify.Attempt{ID: v.agent.name, Agent: v.agent.name, Owner: w.ownerOf(v.agent), State: verify.Reported, Status: verify.OK, Void: v.void}
	if v.answer == timeout {
		a.Status = verify.Timeout
	} else {
		a.Digest = w.digest(v.answer)
	}
	return a
}

// ownerOf is whose agent it is. Every name has an owner of its own, which is best
// for who lies, but for strangers: they are one owner, whatever they say.
func (w *world) ownerOf(a *agent) string {
	if w.pop.strangers && !a.fair {
		return "strangers"
	}
	return a.name
}

func (w *world) digest(a answer) string {
	if a >= varies {
		return fmt.Sprintf("%064x", a)
	}
	for len(w.digests) <= int(a) {
		w.digests = append(w.digests, fmt.Sprintf("%064x", len(w.digests)))
	}
	return w.digests[a]
}

// pick chooses a machine that works and has not answered this shard.
func (w *world) pick(n int32, but *agent) *agent {
	const tries = 10_000
	captured := w.pop.captures > 0 && len(w.history[n]) > 0 && w.dice.Float64() < w.pop.captures
	for try := range tries {
		if len(w.slots) == 0 {
			return nil
		}
		a := w.slots[w.dice.IntN(len(w.slots))]
		if most := w.pop.speed; most > 1 && a.fair && w.dice.Float64()*most > 1 {
			continue // the others ask more often
		}
		if captured && a.fair && try < tries/10 {
			continue
		}
		if a != but && (len(w.history[n]) == 0 || !slices.ContainsFunc(w.history[n], func(v vote) bool { return w.kin(v, a) })) {
			return a
		}
	}
	return nil
}

// kin says whether an agent must not try a shard at which that vote was given.
func (w *world) kin(v vote, a *agent) bool {
	return v.agent == a || w.pop.strangers && !v.void && !a.fair && !v.agent.fair
}

// execute has an agent answer a shard.
func (w *world) execute(n int32, a *agent) {
	w.cell.Executions++
	w.others = w.others[:0]
	for _, v := range w.history[n] {
		if !v.void {
			w.others = append(w.others, v)
		}
	}
	given := right
	if w.pop.unstable != nil {
		given = w.pop.unstable(w.dice, n)
	}
	if lie, with := a.behave(w.sightOf(n, a)); lie {
		if given = with; with == own {
			given = a.private
		}
		if a.firstLie < 0 {
			a.firstLie = a.results
		}
	}
	a.results++
	a.owner.brought++
	if last := len(w.spare) - 1; w.history[n] == nil && last >= 0 {
		w.history[n], w.spare = w.spare[last], w.spare[:last]
	}
	w.history[n] = append(w.history[n], vote{agent: a, answer: given})
}

func (w *world) sightOf(n int32, a *agent) sight {
	s := sight{results: a.results, dice: w.dice, others: w.others, shard: n, done: w.done, since: -1}
	if a.passedAt >= 0 {
		s.since = a.results - a.passedAt
	}
	if s.trusted = !w.evidence[a.name].OnProbation(); w.cell.Rule == Adaptive {
		s.trusted = a.valid >= unreplicated
	}
	return s
}

// carryOut writes down what was decided.
func (w *world) carryOut(n int32, v verify.Verdict) {
	w.weighClaims(n, v)
	switch v.Decision {
	case verify.Recheck:
		w.again(n, w.means)
		return
	case verify.Accept:
		w.accept(n, v)
	default:
		w.review(n)
	}
	w.learn(v)
}

func (w *world) accept(n int32, v verify.Verdict) {
	s := &w.shards[n]
	who := int32(-1)
	if i, found := w.byName[v.Canonical]; found {
		who = i
	}
	fresh := s.accepted == 0 || s.agent != who
	if s.agent, s.answer = who, w.answerOf(v.Digest); fresh {
		w.now++
		s.accepted = w.now
	}
	s.proven = s.proven || v.Proven
	switch {
	case !v.Provisional:
		w.finish(n)
	case fresh:
		w.wait(n, w.names[who])
	}
}

func (w *world) answerOf(digest string) answer {
	if w.pop.unstable != nil {
		n, _ := strconv.ParseInt(digest, 16, 32) // as digest has written it
		return answer(n)
	}
	return answer(slices.Index(w.digests, digest))
}

// finish makes a shard's answer final.
func (w *world) finish(n int32) {
	s := &w.shards[n]
	w.now++
	s.final = w.now
	if w.history[n] != nil {
		w.spare = append(w.spare, w.history[n][:0])
		w.history[n] = nil
	}
}

// review has a person decide, who is always right.
func (w *world) review(n int32) {
	w.cell.Reviews++
	w.shards[n].agent, w.shards[n].answer = -1, right
	w.finish(n)
}
