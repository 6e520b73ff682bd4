package verify

import (
	"fmt"
	"math"
)

// Hand is an agent that a job could be lent to.
type Hand struct {
	Agent string
	Owner string // empty: its own
	// Share is the part of the work that it is expected to do, in any unit: its
	// cores, or results an hour. All zero: they share alike.
	Share    float64
	Evidence Evidence
}

// Forecast is what a job is expected to take, and what its answer will be worth.
type Forecast struct {
	// PerShard is the number of executions a shard if no agent lies, those of
	// the server included; Worst is the number when as many results as assumed
	// are hostile and all of them are made again.
	PerShard float64 `json:"executions_per_shard"`
	Worst    float64 `json:"worst_executions_per_shard"`
	// Rechecks is the expected number of the server's executions.
	Rechecks float64 `json:"rechecks"`
	// ErrorBound is the largest share of wrong answers that is to be expected
	// when the share Hostile of the results is, and those agents agree on their
	// lies.
	ErrorBound float64 `json:"error_bound"`
	// AnswerRisk is the largest probability with which any result is wrong then.
	AnswerRisk float64 `json:"answer_risk"`
	Hostile    float64 `json:"assume_hostile"`
	// Audits close a window of Window results of one agent; a smaller one takes
	// fewer. Voices are the agents that must agree where nothing else decides.
	Audits int `json:"audits_per_window,omitempty"`
	Window int `json:"window,omitempty"`
	Voices int `json:"voices"`
	// Agents is the number of agents at hand, Owners that of independent owners
	// among them (those that gave the same wrong answers count as one), and
	// OwnersNeeded how many the job cannot do without.
	Agents       int `json:"-"`
	Owners       int `json:"owners"`
	OwnersNeeded int `json:"owners_needed"`
	// Confirmed is the number of executions to a shard if every result matters by
	// Policy.Confirm; without one it is left out. Each result that matters takes
	// its part of what lies between.
	Confirmed float64 `json:"confirmed_executions_per_shard,omitempty"`
	// Stuck says that the agents at hand cannot bring the job to its end.
	Stuck bool `json:"stuck"`
	// Notes say how the shards will be decided, for people.
	Notes []string `json:"notes"`
}

// Plan forecasts a job of so many shards on the agents at hand. Caught agents
// are left out.
func Plan(p Policy, hands []Hand, shards int64, m Means) (Forecast, error) {
	if err := p.Validate(); err != nil {
		return Forecast{}, fmt.Errorf("planning: %w", err)
	}
	hands = usable(hands)
	f := Forecast{Voices: p.quorum(), Hostile: DefaultHostile, Agents: len(hands), Owners: ownersOf(hands)}
	if p.AssumeHostile != 0 {
		f.Hostile = p.AssumeHostile
	}
	switch {
	case p.TargetError != 0:
		f.bounded(p, hands, shards, m)
	case p.Recheck != "":
		f.recheckAll(shards, m)
	case p.None:
		f.PerShard, f.Worst, f.ErrorBound = 1, 1, f.Hostile
		f.note("the first answer is believed: every hostile agent's is")
		f.needs(1)
	default:
		quorum := float64(p.Quorum)
		f.PerShard, f.Worst = quorum, quorum/(1-f.Hostile)
		f.ErrorBound = QuorumError(p.Quorum, f.Hostile)
		if p.Quorum == 1 {
			f.note("the first output of a shard is believed, whoever sent it: one agent that lies makes it wrong")
		} else {
			f.note("%d agents of different owners must give the same answer; it is wrong where all of them lie alike", p.Quorum)
		}
		if m.Recheck && f.Owners > 0 && f.Owners < p.Quorum {
			f.PerShard, f.Rechecks = float64(f.Owners)+1, float64(shards)
			f.note("agents of %d owners are at hand: the server executes every shard in the place of the others, and its answer counts", f.Owners)
			f.needs(1)
			break
		}
		f.needs(p.Quorum)
	}
	f.AnswerRisk = AnswerRisk(f.ErrorBound, shards)
	f.confirmed(p, m)
	f.priceOfCertainty(p, shards)
	return f, nil
}

// confirmed says what results that matter cost: how many there will be only the
// outputs tell.
func (f *Forecast) confirmed(p Policy, m Means) {
	switch {
	case p.Confirm == "":
	case p.Recheck != "":
		f.Confirmed = f.PerShard
		f.note("confirm costs nothing more: the server executes every shard")
	case m.Recheck:
		f.Confirmed = 2
		f.note("each result that fulfils confirm is executed by the server before it counts, one execution more; if all do, %.3g a shard", f.Confirmed)
	default:
		f.Confirmed = float64(f.Voices)
		f.note("each result that fulfils confirm is executed by %d further owners before it counts, since no server can; if all do, %.3g a shard", f.Voices-1, f.Confirmed)
		f.needs(f.Voices)
	}
}

// priceOfCertainty says in which way a policy keeps its answer's error.
func (f *Forecast) priceOfCertainty(p Policy, shards int64) {
	switch {
	case p.AnswerError == 0:
	case p.Recheck != "":
		f.note("that keeps the whole answer right, as far as the server is: %.3g executions a shard are the cheapest way to at most %g", f.PerShard, p.AnswerError)
	default:
		f.note("each of %d results may be wrong with at most %.2g, so that any of them is with at most %g", shards, p.TargetError, p.AnswerError)
	}
}

func usable(hands []Hand) (left []Hand) {
	for _, h := range hands {
		if standing, _ := StandingOf(h.Evidence); standing != Caught {
			left = append(left, h)
		}
	}
	return left
}

func ownersOf(hands []Hand) int {
	votes := make([]Attempt, len(hands))
	evidence := map[string]Evidence{}
	for i, h := range hands {
		votes[i] = Attempt{Agent: h.Agent, Owner: h.Owner}
		evidence[h.Agent] = h.Evidence
	}
	return voices(votes, evidence)
}

func (f *Forecast) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// needs marks the job as stuck when too few owners are at hand: two attempts at a
// shard never go to one.
func (f *Forecast) needs(owners int) {
	f.OwnersNeeded = owners
	if f.Owners < owners {
		f.Stuck = true
		f.note("it needs agents of %s: %d of the %d that a shard needs are there; enrol agents of others, or ask for less", moreOwners(owners-f.Owners), f.Owners, owners)
	}
}

func moreOwners(n int) string {
	if n == 1 {
		return "1 more independent owner"
	}
	return fmt.Sprintf("%d more independent owners", n)
}

func (f *Forecast) recheckAll(shards int64, m Means) {
	f.PerShard, f.Worst, f.Rechecks = 2, 2, float64(shards)
	f.note("the server executes every shard too, and its answer counts")
	f.needs(1)
	if !m.Recheck {
		f.Stuck = true
		f.note("no server can execute shards now: start one that can")
	}
}

// bounded forecasts a target error: live audits, and the audits that close the
// windows of each agent.
func (f *Forecast) bounded(p Policy, hands []Hand, shards int64, m Means) {
	b := Derive(p)
	f.ErrorBound, f.Audits, f.Window, f.Voices = b.TargetError, b.Audits, b.Window, b.Voices
	if b.Voices == 1 {
		f.PerShard, f.Worst, f.Audits, f.Window = 1, 1, 0, 0
		f.note("no more of the results are assumed to be hostile than may be wrong: the first answer is final")
		f.needs(1)
		return
	}
	e := b.expect(hands, shards, m)
	n := float64(max(1, shards))
	audits, extra := e.audits, e.audits
	if !m.Recheck { // each by as many further agents as make an answer credible
		extra *= float64(b.Voices - 1)
	}
	f.PerShard = 1 + (extra+e.replicas)/n
	f.Worst = (f.PerShard + e.apart/n) / (1 - f.Hostile)
	if m.Recheck {
		f.Rechecks = extra
		f.note("one agent executes a shard; %.0f further executions are audits by the server", extra)
	} else {
		f.note("one agent executes a shard; %.0f results are audited by %d further owners each, %.0f executions, since no server can execute shards now", audits, b.Voices-1, extra)
		f.note("without a server the error bound holds only as far as it is chance which other owners audit: accomplices who ask for work more often than others get more of the audits")
	}
	if e.together.Part > 0 {
		f.note("owners with a record have %.3g %% of their results audited together; if one of these audits fails, %.0f more are made", 100*e.together.Share, e.apart)
	}
	f.note("a window of %d results of one agent closes with %d audits; of %d with %d", b.Window, b.full(b.Window, m), perAgent(hands, shards), b.full(perAgent(hands, shards), m))
	if e.replicas > 0 {
		f.note("agents with so few results that audits could not hold the bound get theirs confirmed until %d agree: %.0f executions", b.Voices, e.replicas)
	}
	switch {
	case e.replicas > 0, !m.Recheck && extra > 0:
		f.needs(b.Voices)
	default:
		f.needs(1)
	}
}

// expected is how many executions beside the first ones a job takes.
type expected struct {
	audits, replicas float64
	together         Together
	apart            float64 // further audits where windows are not closed together after all
}

// expect forecasts what the results of the agents at hand cost: live audits, those
// that close their windows, and replicas where audits could not hold the bound.
func (b Bound) expect(hands []Hand, shards int64, m Means) (e expected) {
	parts := divide(hands, shards)
	given := ownersParts(hands, parts)
	waiting := make([]float64, len(hands)) // what the server, or enough others, confirmed is final
	for i, results := range parts {
		live := b.live(hands[i].Evidence, results, m)
		e.audits += live
		waiting[i] = results - live
	}
	e.together = b.forecastTogether(hands, waiting, m)
	rest := e.together.Rest(b)
	for i, results := range waiting {
		owner := Owner{Results: int64(math.Ceil(given[ownerOf(hands[i])])), All: shards, Shards: shards}
		closing, replicas := rest.forecast(owner, results, m)
		e.replicas += replicas
		if e.together.Part > 0 && !hands[i].Evidence.OnProbation() {
			first := float64(e.together.Audits(wholeResults(results))) * min(1, results)
			e.apart += max(0, closing-first)
			closing = first
		}
		e.audits += closing
	}
	return e
}

// full is how many audits close a window of n results.
func (b Bound) full(n int, m Means) int {
	audits, _ := b.Closing(n, b.Detection(m))
	return audits
}

func perAgent(hands []Hand, shards int64) int {
	return int(shards / int64(max(1, len(hands))))
}

// divide shares shards out among hands.
func divide(hands []Hand, shards int64) []float64 {
	sum := 0.0
	for _, h := range hands {
		sum += max(0, h.Share)
	}
	parts := make([]float64, len(hands))
	for i, h := range hands {
		if sum == 0 {
			parts[i] = float64(shards) / float64(len(hands))
		} else {
			parts[i] = float64(shards) * max(0, h.Share) / sum
		}
	}
	return parts
}

// ownerOf names the owner behind a hand.
func ownerOf(h Hand) string {
	if h.Owner == "" {
		return "agent " + h.Agent
	}
	return "owner " + h.Owner
}

// ownersParts is how much of the work each owner is expected to do.
func ownersParts(hands []Hand, parts []float64) map[string]float64 {
	sums := map[string]float64{}
	for i, part := range parts {
		sums[ownerOf(hands[i])] += part
	}
	return sums
}

// live is how many results of one agent are audited at once.
func (b Bound) live(e Evidence, results float64, m Means) float64 {
	probation := max(0, float64(ProbationAudits-e.SinceFailure)) / b.Rate(Evidence{}, m)
	early := min(results, probation)
	return early*b.Rate(Evidence{}, m) + (results-early)*b.Rate(Evidence{SinceFailure: ProbationAudits}, m)
}

// forecastTogether is how windows of the agents at hand are closed together: only
// where none of them is full before the job's end.
func (b Bound) forecastTogether(hands []Hand, waiting []float64, m Means) Together {
	var known, others []int
	few := 0.0 // of agents that will have one result or none
	for i, results := range waiting {
		n := wholeResults(results)
		if results < 1 {
			if few += results; few < 1-rounding {
				continue
			}
			few--
		}
		switch {
		case n >= b.Window:
			return Together{}
		case hands[i].Evidence.OnProbation():
			others = append(others, n)
		default:
			known = append(known, n)
		}
	}
	together, _ := b.Together(known, others, m)
	return together
}

func wholeResults(results float64) int { return int(math.Ceil(results - rounding)) }

// forecast is how many audits close the windows of one agent, in which so many
// results wait, and how many replicas are made where audits could not.
func (b Bound) forecast(owner Owner, waiting float64, m Means) (closing, replicas float64) {
	windows := math.Floor(waiting / float64(b.Window))
	closing = windows * float64(b.Close(Pool{Results: b.Window, Owner: owner}, m).Audits)
	rest := wholeResults(waiting - windows*float64(b.Window))
	c := b.Close(Pool{Results: rest, Owner: owner}, m)
	if c.Voices > 0 {
		return closing, (waiting - windows*float64(b.Window)) * float64(c.Voices-1)
	}
	return closing + float64(c.Audits)*min(1, waiting), 0 // who is to have a fourth of a result has one in four times
}
