package engine_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
)

// attack is one kind of hostile owners, against ten in all on the real decisions: leases, windows, audits and rechecks. bench/trust has them
// against a million shards.
type attack struct {
	agents  int                       // hostile ones
	kin     bool                      // of one owner, who says to be several
	server  bool                      // one executes shards again
	policy  func(*functions.NewJob)   // nil: exactly so strict that ten results of an owner are all audited
	shards  int64                     // 0: 100
	batch   int                       // how many shards a hostile agent asks for; 0: as many as others
	above   bool                      // they give more than the stated share, and the job says so
	turn    func(a *agent, batch int) // nil: it leases and reports
	answers func(a *agent, job functions.Job, dice *rand.Rand) func(input string) functions.Result
}

// lieWhen lies where a condition holds.
func lieWhen(lies func(input string) bool) func(input string) functions.Result {
	return func(input string) functions.Result {
		if lies(input) {
			return liar(input)
		}
		return honest(input)
	}
}

func lieAlways(*agent, functions.Job, *rand.Rand) func(string) functions.Result { return liar }

// lieInTheEnd is honest until hardly anything is left to do.
func lieInTheEnd(a *agent, job functions.Job, _ *rand.Rand) func(string) functions.Result {
	return lieWhen(func(string) bool {
		return a.w.count("select count(*) from shards where job_id = $1 and state = 'open'", job.ID) <= 20
	})
}

// lieAtTheEndOfAWindow is honest for all but the last results of those that it is lent here.
func lieAtTheEndOfAWindow(*agent, functions.Job, *rand.Rand) func(string) functions.Result {
	given := 0
	return lieWhen(func(string) bool {
		given++
		return given%10 > 7
	})
}

// lieAfterAPassedAudit is told by an insider whenever one has passed, and tells one lie then.
func lieAfterAPassedAudit(a *agent, _ functions.Job, _ *rand.Rand) func(string) functions.Result {
	passed := int64(0)
	return lieWhen(func(string) bool {
		now := a.w.count("select coalesce(sum(audits_passed), 0)::bigint from trust where agent_id = $1", a.id)
		was := passed
		passed = now
		return now > was
	})
}

// lieAtRandom lies in one of so many results.
func lieAtRandom(of int) func(*agent, functions.Job, *rand.Rand) func(string) functions.Result {
	return func(_ *agent, _ functions.Job, dice *rand.Rand) func(string) functions.Result {
		return lieWhen(func(string) bool { return dice.IntN(of) == 0 })
	}
}

func claimTimeouts(*agent, functions.Job, *rand.Rand) func(string) functions.Result {
	return func(string) functions.Result { return functions.Result{Status: "timeout"} }
}

// holdAndFlood holds all that it is lent until others have nothing to do, and then reports lies.
func holdAndFlood(a *agent, batch int) {
	if lease := a.lease(batch); lease != nil {
		a.held = append(a.held, lease)
		return
	}
	for _, lease := range a.held {
		if _, err := a.post(lease.ID, a.results(lease.Shards)...); !lostLease(err) { // it may be caught by now
			require.NoError(a.w.t, err)
		}
	}
	a.held = nil
}

// attacks are the kinds. A function that gives no answer twice is in unsteady_test.go, accomplices who ask ten times as often as others, where no
// server executes shards, in newcomers_test.go, two owners who lease everything first under a quorum in shares_lent_test.go, and liars about the
// results that matter in confirm_test.go.
func attacks() map[string]attack {
	return map[string]attack{
		"always":                     {agents: 1, server: true, answers: lieAlways},
		"faster than all":            {agents: 1, server: true, batch: 40, above: true, answers: lieAtRandom(10)},
		"end of window":              {agents: 1, server: true, answers: lieAtTheEndOfAWindow},
		"tail of the job":            {agents: 1, server: true, answers: lieInTheEnd},
		"after each passed audit":    {agents: 1, server: true, batch: 3, answers: lieAfterAPassedAudit},
		"hold and flood":             {agents: 1, server: true, turn: holdAndFlood, answers: lieAlways},
		"targeted":                   {agents: 1, server: true, answers: lieAtRandom(100)},
		"time-out claims":            {agents: 1, server: true, answers: claimTimeouts},
		"small job":                  {agents: 1, server: true, shards: 20, batch: 2, answers: lieAlways},
		"beyond the stated share":    {agents: 3, server: true, batch: 20, above: true, answers: lieAlways},
		"captured replicas":          {agents: 3, kin: true, shards: 8, answers: lieAlways},
		"invented owners, a quorum":  {agents: 5, kin: true, shards: 20, policy: func(j *functions.NewJob) { j.Quorum = 2 }, answers: lieAlways},
		"no server":                  {agents: 1, shards: 8, answers: lieAlways},
		"no server, lies to a tenth": {agents: 1, shards: 20, answers: lieAtRandom(10)},
	}
}

// TestHostileKinds: the answer is exactly right whatever a hostile owner does, and where it has more of the job than is stated the job says so.
// Honest owners are charged with nothing.
func TestHostileKinds(t *testing.T) {
	t.Parallel()
	for name, kind := range attacks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *engine.Options) {
				if kind.server {
					withCourt(&court{})(o)
				}
			})
			if kind.server {
				w.opened()
			}
			for seed := range uint64(2) {
				w.attackOnce(kind, seed)
			}
			w.requireQuiet()
		})
	}
}

// attackOnce runs one job with ten owners, new ones each time.
func (w *world) attackOnce(kind attack, seed uint64) {
	w.t.Helper()
	dice := rand.New(rand.NewPCG(seed, 19))
	shards, policy := cmp.Or(kind.shards, 100), kind.policy
	if policy == nil {
		policy = bounded(1e-5)
	}
	job := w.submit(shards, policy)
	w.settleAll()
	hostile, all := map[*agent]bool{}, []*agent{}
	token := w.newToken(w.project)
	for i := range 10 {
		var a *agent
		switch {
		case i >= kind.agents:
			a = w.stranger(fmt.Sprintf("honest-%d-%d", seed, i), honest)
		case kind.kin:
			a = w.enrol(token, fmt.Sprintf("hostile-%d-%d", seed, i), nil)
		default:
			a = w.stranger(fmt.Sprintf("hostile-%d-%d", seed, i), nil)
		}
		if i < kind.agents {
			a.answer, hostile[a] = kind.answers(a, job, dice), true
		}
		all = append(all, a)
	}
	for round := 0; !w.job(job.ID).State.Ended(); round++ {
		require.Less(w.t, round, 100, "%+v", w.job(job.ID))
		dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, a := range all {
			w.takeTurn(kind, a, hostile[a], int(max(shards/10, 1)))
		}
		w.settleAll()
	}
	done := w.job(job.ID)
	require.Equal(w.t, functions.JobFinished, done.State, "seed %d: %s", seed, done.Error)
	requireTruth(w.t, done, truth(rangeOf(shards)))
	w.check(job.ID)
	for _, a := range all {
		if !hostile[a] {
			require.Zero(w.t, w.count("select count(*) from trust where agent_id = $1 and (failed > 0 or audits_failed > 0 or caught_at is not null)", a.id), "seed %d: an honest agent", seed)
		}
	}
	if kind.above {
		require.NotNil(w.t, done.Owners)
		require.True(w.t, done.Owners.Above, "seed %d: %+v", seed, done.Owners)
	}
}

// takeTurn has an agent work once, a hostile one in its own way.
func (w *world) takeTurn(kind attack, a *agent, hostile bool, batch int) {
	if hostile && kind.batch > 0 {
		batch = kind.batch
	}
	if hostile && kind.turn != nil {
		kind.turn(a, batch)
		return
	}
	a.do(batch)
}
