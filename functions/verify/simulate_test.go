package verify

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// population runs shards one after the other on a handful of agents with the
// real decisions, and keeps their evidence. Agent 0 lies with probability lie.
type population struct {
	dice     *rand.Rand
	policy   Policy
	agents   int
	lie      float64
	evidence map[string]Evidence

	executions, accepted, acceptedWrong int
	caughtAfter                         int // results of the liar when it was caught
	results                             int // results of the liar
}

func (p *population) shard(n int) {
	var list []Attempt
	for _, agent := range p.dice.Perm(p.agents) {
		name := fmt.Sprintf("agent%d", agent)
		if standing, _ := StandingOf(p.evidence[name]); standing == Caught {
			continue
		}
		if v := Decide(p.policy, list, p.evidence, Means{}); v.Decision != Replicate {
			break
		}
		list = append(list, p.execute(n, agent, name))
	}
	v := Decide(p.policy, list, p.evidence, Means{})
	p.executions += len(list)
	if v.Decision == Accept {
		p.accepted++
		if v.Digest != truth(n) {
			p.acceptedWrong++
		}
	}
	p.learn(v)
}

func (p *population) execute(n, agent int, name string) Attempt {
	a := Attempt{ID: name, Agent: name, State: Reported, Status: OK, Digest: truth(n)}
	if agent == 0 {
		p.results++
		if p.dice.Float64() < p.lie {
			a.Digest = fmt.Sprintf("lie %d", p.dice.Uint64())
		}
	}
	return a
}

func (p *population) learn(v Verdict) {
	for _, d := range v.Deltas() {
		e := p.evidence[d.Agent]
		e.Passed += d.Passed
		e.Failed += d.Failed
		standing, _ := StandingOf(e)
		if standing == Caught && d.Agent == "agent0" && p.caughtAfter == 0 {
			p.caughtAfter = p.results
		}
		p.evidence[d.Agent] = e
	}
}

func truth(n int) string { return fmt.Sprintf("truth %d", n) }

func TestOneLiarInAPopulation(t *testing.T) {
	const shards = 2000
	for _, lie := range []float64{0, 0.01, 0.1, 0.3, 1} {
		p := &population{
			dice: rand.New(rand.NewPCG(1, 2)), policy: Policy{Quorum: 2}, agents: 4, lie: lie,
			evidence: map[string]Evidence{},
		}
		for n := range shards {
			p.shard(n)
		}
		t.Logf("lies %4.0f %%: %.3f executions a shard, %d wrong, caught after %d results",
			100*lie, float64(p.executions)/shards, p.acceptedWrong, p.caughtAfter)
		require.Equal(t, shards, p.accepted, "every shard is accepted")
		require.Zero(t, p.acceptedWrong)
		require.Equal(t, lie > 0, p.caughtAfter > 0)
		for agent, e := range p.evidence {
			if agent != "agent0" {
				require.Zero(t, e.Failed, "no honest agent is accused")
			}
		}
	}
}
