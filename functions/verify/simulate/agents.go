package simulate

import (
	"math/rand/v2"

	"github.com/ostraka/ostraka/functions/verify"
)

// answer is what an agent returned for a shard: right, the colluders' wrong
// answer, or a wrong answer of the agent's own.
type answer int32

const (
	right  answer = 0
	shared answer = 1 // the wrong answer that colluding agents agree on
	own    answer = 2 // and above: a wrong answer that no other agent gives

	// timeout is no answer: the agent says that it ran out of time.
	timeout answer = -1
)

// sight is what an agent can know when it answers: how many results it has
// given under its name, its dice, and the answers that others gave to the shard
// (colluders tell one another, and copiers are assumed to see them all). Some of
// it only an insider knows.
type sight struct {
	results int
	dice    *rand.Rand
	others  []vote
	shard   int32
	done    float64 // the part of the job's shards that was leased
	since   int     // results since an audit of its own passed; -1: none did
	trusted bool    // it is looked at less closely than one that is new
}

// vote is one agent's answer to a shard.
type vote struct {
	agent   *agent
	answer  answer
	void    bool
	counted bool // as an attempt without an answer where others gave one
}

// behaviour decides whether an agent lies, and with which answer.
type behaviour func(sight) (lie bool, with answer)

// Population is 100 agents or so, of whom some share behaves in one way.
type Population struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// hostile makes the behaviour of the hostile agents. It may depend on the
	// rule's numbers: who attacks knows them.
	hostile func(verify.Bound) behaviour
	// returning agents take a new name as soon as they are caught at one lie.
	returning bool
	// fair marks behaviours of agents that mean well: to quarantine one is a
	// false accusation.
	fair bool
	// late is the share of leases that such an agent lets expire; its results
	// come in all the same, after somebody else's.
	late float64
	// speed is how many times as fast as the others hostile agents are: 0 is 1.
	// Who does not compute is as fast as it wants.
	speed float64
	// holds marks agents that keep what they lease, as much as they may, and
	// then report all of it at once: audits of it come too late for the rest.
	holds bool
	// captures is the part of all further attempts at a shard that hostile agents
	// get hold of, however few they are.
	captures float64
	// strangers marks hostile agents that came to an open project through another
	// one, each under an owner that it has invented.
	strangers bool
	// targets is of how many shards one matters; 0: all do.
	targets int32
	// unstable draws an answer of a function that does not give one answer.
	unstable func(*rand.Rand, int32) answer
}

func honest(verify.Bound) behaviour {
	return func(sight) (bool, answer) { return false, right }
}

// wrongWith lies with probability p.
func wrongWith(p float64) func(verify.Bound) behaviour {
	return func(verify.Bound) behaviour {
		return func(s sight) (bool, answer) { return s.dice.Float64() < p, own }
	}
}

// worstRate lies as often as does most harm: one result in as many as there are
// audits to a window.
func worstRate(b verify.Bound) behaviour { return wrongWith(1 / float64(b.Audits+1))(b) }

// patient is honest for so many windows and some results, then lies always.
func patient(windows float64, results int) func(verify.Bound) behaviour {
	return func(b verify.Bound) behaviour {
		honest := int(windows*float64(b.Window)) + results
		return func(s sight) (bool, answer) { return s.results >= honest, own }
	}
}

// bursts lies b times in a row, then is honest for a while, again and again.
func bursts(lies, pause int) func(verify.Bound) behaviour {
	return func(verify.Bound) behaviour {
		return func(s sight) (bool, answer) { return s.results%(lies+pause) < lies, own }
	}
}

// lastOfWindow knows its windows and lies at the end of each, so that audits
// made at once have little time. It tells as many lies as pay best against both
// kinds of audits: one in as many results as share an audit of either kind.
func lastOfWindow(b verify.Bound) behaviour {
	perResult := verify.LiveRate + 1/float64(verify.ResultsPerAudit)
	lies := max(1, int(1/perResult))
	return func(s sight) (bool, answer) { return s.results%b.Window >= b.Window-lies, own }
}

// firstBurst lies as long as pays best for who comes back under a new name when
// it is caught, and is honest ever after once it was not.
func firstBurst(b verify.Bound) behaviour {
	const lies = 70 // 3.5 times the results between two audits at 5 %
	return func(s sight) (bool, answer) { return s.results < lies, own }
}

// colluding lies with probability p, all with the same wrong answer, and backs
// the lies of its kind.
func colluding(p float64) func(verify.Bound) behaviour {
	return func(verify.Bound) behaviour {
		return func(s sight) (bool, answer) {
			for _, v := range s.others {
				if v.answer == shared {
					return true, shared
				}
			}
			return len(s.others) == 0 && s.dice.Float64() < p, shared
		}
	}
}

// copying never computes: it gives the answer that somebody else gave, and a
// guess, which is wrong, where nobody has answered yet and it dares.
func copying(p float64) func(verify.Bound) behaviour {
	return func(verify.Bound) behaviour {
		return func(s sight) (bool, answer) {
			for _, v := range s.others {
				return v.answer != right, v.answer
			}
			return s.dice.Float64() < p, own
		}
	}
}

// Populations lists those of the tables: Attacks has more.
func Populations() []Population {
	return []Population{
		{Name: "honest", About: "all agents are honest", hostile: honest, fair: true},
		{Name: "flaky", About: "honest, but one answer in 10,000 is wrong (memory)", hostile: wrongWith(1e-4), fair: true},
		{Name: "slow", About: "honest, but lets three leases in ten expire and reports late", hostile: honest, fair: true, late: 0.3},
		{Name: "always", About: "always wrong", hostile: wrongWith(1)},
		{Name: "half", About: "wrong with probability 0.5", hostile: wrongWith(0.5)},
		{Name: "tenth", About: "wrong with probability 0.1", hostile: wrongWith(0.1)},
		{Name: "hundredth", About: "wrong with probability 0.01", hostile: wrongWith(0.01)},
		{Name: "thousandth", About: "wrong with probability 0.001", hostile: wrongWith(0.001)},
		{Name: "worst-rate", About: "wrong as often as harms most: once in A+1", hostile: worstRate},
		{Name: "bursty", About: "20 lies in a row, then 2,000 honest answers, and so on", hostile: bursts(20, 2000)},
		{Name: "patient-200", About: "honest for 200 results, then always wrong", hostile: patient(0, 200)},
		{Name: "patient-window", About: "honest for exactly one window, then always wrong", hostile: patient(1, 0)},
		{Name: "patient-final", About: "honest until just before its second window closes, then always wrong", hostile: patient(2, -30)},
		{Name: "window-end", About: "lies only in the last results of each window", hostile: lastOfWindow},
		{Name: "colluding", About: "always wrong, all with the same answer", hostile: colluding(1)},
		{Name: "colluding-1%", About: "wrong in 1 %, all with the same answer, and backs such lies", hostile: colluding(0.01)},
		{Name: "copying", About: "copies others' answers, guesses where there is none", hostile: copying(1)},
		{Name: "copying-1%", About: "copies others' answers, else guesses in 1 %", hostile: copying(0.01)},
		{Name: "returning", About: "always wrong, and back under a new name when caught", hostile: wrongWith(1), returning: true},
		{Name: "returning-worst", About: "wrong once in A+1, and back under a new name when caught", hostile: worstRate, returning: true},
		{Name: "returning-burst", About: "lies 70 times first, then is honest; new name when caught", hostile: firstBurst, returning: true},
		{Name: "returning-end", About: "lies at the end of each window; new name when caught", hostile: lastOfWindow, returning: true},
		{Name: "fast-worst", About: "ten times as fast as the others, wrong as often as harms most", hostile: worstRate, speed: 10},
		{Name: "fast-end", About: "ten times as fast, lies at the end of each window; new name when caught", hostile: lastOfWindow, returning: true, speed: 10},
		{Name: "fastest-end", About: "fifty times as fast, lies at the end of each window; new name when caught", hostile: lastOfWindow, returning: true, speed: 50},
		{Name: "returning-collude", About: "colluding in 1 %, new name when caught", hostile: colluding(0.01), returning: true},
	}
}
