package turns_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ostraka/ostraka/functions/turns"
)

// line is what the lease path does with package turns: projects with jobs that have some turns' work each.
type line struct {
	projects []*project
	made     byte
}

type project struct {
	id     uuid.UUID
	turn   turns.Account
	weight int
	jobs   []*job
	served int
}

type job struct {
	id       uuid.UUID
	turn     turns.Account
	priority int
	left     int // turns; negative: it never ends
	served   int
}

// endless is the work of a job that has always some.
const endless = -1

func (l *line) id() uuid.UUID {
	l.made++
	return uuid.UUID{l.made}
}

func (l *line) project(weight int) *project {
	p := &project{id: l.id(), weight: weight}
	l.projects = append(l.projects, p)
	return p
}

func (p *project) clock() (at float64) {
	for _, j := range p.jobs {
		at = max(at, j.turn.Start)
	}
	return at
}

func (l *line) submit(p *project, priority, left int) *job {
	j := &job{id: l.id(), priority: priority, left: left, turn: turns.Enter(p.clock(), turns.PriorityStride(priority))}
	p.jobs = append(p.jobs, j)
	return j
}

func (l *line) candidates() (list []turns.Candidate) {
	var clock float64
	for _, p := range l.projects {
		if len(p.jobs) > 0 {
			clock = max(clock, p.turn.Start)
		}
	}
	for _, p := range l.projects {
		for _, j := range p.jobs {
			list = append(list, turns.Candidate{Project: p.id, Job: j.id, ProjectTurn: p.turn, JobTurn: j.turn, ProjectClock: clock, JobClock: p.clock()})
		}
	}
	return list
}

// serve gives one turn away, and says to whom. Nil: nobody has work.
func (l *line) serve() *job {
	for _, c := range turns.Order(l.candidates()) {
		if j := l.give(c); j != nil {
			return j
		}
	}
	return nil
}

// give gives the candidate a turn, if it has work.
func (l *line) give(c turns.Candidate) *job {
	p := l.projects[slices.IndexFunc(l.projects, func(p *project) bool { return p.id == c.Project })]
	j := p.jobs[slices.IndexFunc(p.jobs, func(j *job) bool { return j.id == c.Job })]
	if j.left == 0 {
		return nil
	}
	j.left--
	p.served++
	j.served++
	p.turn = p.turn.After(turns.Cost(c.ProjectClock, turns.WeightStride(p.weight)))
	j.turn = j.turn.After(turns.Cost(c.JobClock, turns.PriorityStride(j.priority)))
	return j
}

func TestProjectsHaveTurnsInProportionToTheirWeights(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l line
		total := 0
		for range rapid.IntRange(1, 6).Draw(rt, "projects") {
			p := l.project(rapid.IntRange(1, 40).Draw(rt, "weight"))
			total += p.weight
			l.submit(p, turns.DefaultPriority, endless)
		}
		for range rapid.IntRange(1, 3).Draw(rt, "rounds") * total {
			require.NotNil(rt, l.serve())
			served := 0
			for _, p := range l.projects {
				served += p.served
			}
			for _, p := range l.projects {
				due := float64(served) * float64(p.weight) / float64(total)
				require.InDelta(rt, due, p.served, float64(len(l.projects)), "nobody is further from its share than the others have a turn each")
			}
		}
	})
}

func TestJobsHaveTurnsByTheirPriorities(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l line
		p := l.project(turns.DefaultWeight)
		total := 0
		for range rapid.IntRange(2, 5).Draw(rt, "jobs") {
			j := l.submit(p, rapid.IntRange(turns.MinPriority, turns.MaxPriority).Draw(rt, "priority"), endless)
			total += 1 << (j.priority - 1)
		}
		for range 2 * total {
			require.NotNil(rt, l.serve())
		}
		for _, j := range p.jobs {
			require.InDelta(rt, 2<<(j.priority-1), j.served, float64(len(p.jobs)), "priority %d", j.priority)
			for _, other := range p.jobs {
				if j.priority > other.priority {
					require.GreaterOrEqual(rt, j.served, other.served, "who has the higher priority is not served less")
				}
			}
		}
	})
}

// TestNobodyStarves: in whatever order others come and go, an old job of the lowest priority has its share of all turns at least.
func TestNobodyStarves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l line
		p, q := l.project(rapid.IntRange(10, 100).Draw(rt, "weight")), l.project(rapid.IntRange(10, 100).Draw(rt, "other"))
		mine := l.submit(p, rapid.IntRange(3, turns.MaxPriority).Draw(rt, "priority"), endless)
		for mine.served < 5 {
			for _, into := range []*project{p, q} { // jobs of one turn, without end
				into.jobs = slices.DeleteFunc(into.jobs, func(j *job) bool { return j.left == 0 })
				if len(into.jobs) < 4 {
					l.submit(into, rapid.IntRange(turns.MinPriority, turns.MaxPriority).Draw(rt, "new"), 1)
				}
			}
			require.NotNil(rt, l.serve())
			require.Less(rt, p.served+q.served, 20_000, "it is passed over without end")
		}
	})
}

// TestANewJobIsNextAtOnce: beside a job that has had any number of turns.
func TestANewJobIsNextAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l line
		p := l.project(turns.DefaultWeight)
		l.submit(p, turns.DefaultPriority, endless)
		for range rapid.IntRange(1, 3000).Draw(rt, "before") {
			l.serve()
		}
		small := l.submit(p, rapid.IntRange(turns.DefaultPriority, turns.MaxPriority).Draw(rt, "priority"), 10)
		require.Same(rt, small, l.serve())
	})
}

// TestWhoWasAwayKeepsNobodyOut: a project that had no work for long has no more than its credit before the others.
func TestWhoWasAwayKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	var l line
	busy, away := l.project(turns.DefaultWeight), l.project(turns.DefaultWeight)
	l.submit(busy, turns.DefaultPriority, endless)
	for range 100_000 {
		l.serve()
	}
	l.submit(away, turns.DefaultPriority, endless)
	before := busy.served
	for busy.served == before {
		l.serve()
	}
	require.LessOrEqual(t, away.served, turns.Credit+1)
	require.Positive(t, away.served)
	for range 1000 {
		l.serve()
	}
	require.InDelta(t, 500, busy.served-before, turns.Credit+2)
}

// TestSomebodyWithWorkIsAlwaysServed whatever the others have, and how often they were served.
func TestSomebodyWithWorkIsAlwaysServed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l line
		left := 0
		for range rapid.IntRange(1, 4).Draw(rt, "projects") {
			p := l.project(rapid.IntRange(turns.MinWeight, turns.MaxWeight).Draw(rt, "weight"))
			for range rapid.IntRange(0, 2*turns.Tries).Draw(rt, "jobs") {
				n := rapid.IntRange(0, 3).Draw(rt, "work")
				left += n
				l.submit(p, rapid.IntRange(turns.MinPriority, turns.MaxPriority).Draw(rt, "priority"), n)
			}
		}
		for ; left > 0; left-- {
			require.NotNil(rt, l.serve())
		}
		require.Nil(rt, l.serve())
	})
}

// TestOrderIsTheSameWhateverTheRowsCameIn: and has every candidate once.
func TestOrderIsTheSameWhateverTheRowsCameIn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l line
		for range rapid.IntRange(1, 4).Draw(rt, "projects") {
			p := l.project(turns.DefaultWeight)
			p.turn.End = float64(rapid.IntRange(0, 3).Draw(rt, "end"))
			for range rapid.IntRange(1, 2*turns.Tries).Draw(rt, "jobs") {
				l.submit(p, turns.DefaultPriority, endless).turn.End = float64(rapid.IntRange(0, 3).Draw(rt, "job"))
			}
		}
		list := l.candidates()
		want := turns.Order(list)
		shuffled := slices.Clone(list)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		require.Equal(rt, want, turns.Order(shuffled))
		require.ElementsMatch(rt, list, want)
		// Whatever one project has, others are reached after so many tries of each.
		seen := map[uuid.UUID]bool{}
		for i, c := range want {
			if !seen[c.Project] {
				require.LessOrEqual(rt, i, turns.Tries*len(seen))
			}
			seen[c.Project] = true
		}
	})
}

// TestLeasesAtOnceKeepTheShares: polls that come at the same moment see the same accounts and all take the same project.
func TestLeasesAtOnceKeepTheShares(t *testing.T) {
	t.Parallel()
	var l line
	three, one := l.project(300), l.project(100)
	l.submit(three, turns.DefaultPriority, endless)
	l.submit(one, turns.DefaultPriority, endless)
	for range 400 {
		next := turns.Order(l.candidates())[0]
		for range turns.Credit / 2 {
			require.NotNil(t, l.give(next))
		}
	}
	require.InDelta(t, 3, float64(three.served)/float64(one.served), 0.3)
}

// TestWhatIsHeldForLongCountsAsTurns: of two projects, one with leases that last for ten turns' time, each has half of the agents in the end.
func TestWhatIsHeldForLongCountsAsTurns(t *testing.T) {
	t.Parallel()
	var l line
	long, short := l.project(turns.DefaultWeight), l.project(turns.DefaultWeight)
	slow, quick := l.submit(long, turns.DefaultPriority, endless), l.submit(short, turns.DefaultPriority, endless)
	const agents, lasts = 40, 10
	busy := make([]int, agents) // with slow leases: until when
	held := 0                   // by slow leases, in sum
	for now := range 400 {
		open := 0
		for i := range busy {
			if busy[i] > now {
				open++
				continue
			}
			if l.serve() == slow {
				busy[i] = now + lasts
				open++
			}
		}
		long.turn = long.turn.Held(open, open, turns.WeightStride(long.weight))
		if now >= 200 {
			held += open
		}
	}
	require.Positive(t, quick.served)
	require.InDelta(t, 0.5, float64(held)/(200*agents), 0.1)
	debt := long.turn.Held(1_000_000, 1_000_000, 1)
	require.InDelta(t, debt.Start+turns.MaxDebt, debt.End, 1e-6, "it is kept out for no longer than this")
}

func TestShares(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, turns.Share(1, []float64{1}), 0)
	require.InDelta(t, 0.75, turns.Share(turns.WeightStride(300), []float64{turns.WeightStride(300), turns.WeightStride(100)}), 1e-9)
	require.InDelta(t, 0.8, turns.Share(turns.PriorityStride(7), []float64{turns.PriorityStride(7), turns.PriorityStride(5)}), 1e-9)
	require.InDelta(t, 1, turns.Share(1, nil), 0)
}

// TestOneAgentThatHoldsMuchCostsItsProjectLittle: whatever it holds, and for however long, another project has not many more turns than it
// would have had.
func TestOneAgentThatHoldsMuchCostsItsProjectLittle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l line
		victim, other := l.project(turns.DefaultWeight), l.project(turns.DefaultWeight)
		l.submit(victim, turns.DefaultPriority, endless)
		l.submit(other, turns.DefaultPriority, endless)
		for range rapid.IntRange(0, 100).Draw(rt, "before") {
			l.serve()
		}
		agents := rapid.IntRange(1, 5).Draw(rt, "agents")
		for range rapid.IntRange(1, 100).Draw(rt, "times") {
			before := victim.turn
			victim.turn = victim.turn.Held(rapid.IntRange(1, 1000).Draw(rt, "leases"), agents, turns.WeightStride(victim.weight))
			require.GreaterOrEqual(rt, victim.turn.End, before.End, "it gains nothing by it")
		}
		begun := other.served
		for served := victim.served; victim.served == served; {
			require.NotNil(rt, l.serve())
		}
		require.LessOrEqual(rt, other.served-begun, turns.Credit+agents+2)
	})
}
