package verify

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawPolicy(t *rapid.T) Policy {
	if rapid.Bool().Draw(t, "none") {
		return Policy{None: true, MaxAttempts: rapid.IntRange(0, 6).Draw(t, "max")}
	}
	quorum := rapid.IntRange(1, 5).Draw(t, "quorum")
	most := rapid.OneOf(rapid.Just(0), rapid.IntRange(quorum, quorum+6)).Draw(t, "max")
	return Policy{Quorum: quorum, MaxAttempts: most}
}

func drawAttempts(t *rapid.T, most int) []Attempt {
	attempt := rapid.Custom(func(t *rapid.T) Attempt {
		a := Attempt{
			ID:    fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "id")),
			Agent: fmt.Sprint("agent", rapid.IntRange(0, 9).Draw(t, "agent")),
			State: rapid.SampledFrom([]State{Leased, Reported, Reported, "expired"}).Draw(t, "state"),
		}
		if a.State == Reported {
			a.Status = rapid.SampledFrom(append(Statuses(), OK, OK, OK, "?")).Draw(t, "status")
			a.Digest = rapid.SampledFrom([]string{right, right, wrong, other, ""}).Draw(t, "digest")
		}
		return a
	})
	return rapid.SliceOfN(attempt, 0, most).Draw(t, "attempts")
}

func drawEvidence(t *rapid.T) map[string]Evidence {
	evidence := map[string]Evidence{}
	for i := range 10 {
		evidence[fmt.Sprint("agent", i)] = Evidence{
			Failed: int64(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "failed")),
			Caught: rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "caught"),
		}
	}
	return evidence
}

// What holds for any input, however wrong.
func TestDecideInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy, evidence := drawPolicy(t), drawEvidence(t)
		list := drawAttempts(t, 14)
		v := Decide(policy, list, evidence, Means{})

		require.Equal(t, v, Decide(policy, rapid.Permutation(list).Draw(t, "order"), evidence, Means{}), "the order of attempts decides nothing")
		require.Equal(t, v.Decision == Replicate, v.Wanted > 0)
		if v.Wanted > 0 {
			require.LessOrEqual(t, len(list)+v.Wanted, policy.maxAttempts())
		}
		if v.Decision == Accept || (v.Decision == Fail && v.Digest != "") {
			requireBacked(t, policy, list, evidence, v)
		}
		for _, d := range v.Deltas() {
			require.EqualValues(t, 1, d.Passed+d.Failed, "an agent is counted once")
		}
		require.NotEmpty(t, v.Reasons)
	})
}

// requireBacked checks that a quorum of distinct agents, none of them caught,
// gave the answer that was taken.
func requireBacked(t *rapid.T, p Policy, list []Attempt, evidence map[string]Evidence, v Verdict) {
	backers := map[string]bool{}
	for _, a := range list {
		standing, _ := StandingOf(evidence[a.Agent])
		if a.State == Reported && a.Status == v.Status && a.Digest == v.Digest && standing == Active {
			backers[a.Agent] = true
		}
	}
	require.GreaterOrEqual(t, len(backers), p.quorum())
	require.GreaterOrEqual(t, len(v.Agree), p.quorum())
	for _, vote := range v.Agree {
		require.True(t, backers[vote.Agent])
	}
}

// One liar among honest agents never gets its answer accepted, whatever the
// order, the time-outs and the quorum, and no honest agent pays for it.
func TestOneLiarNeverWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := Policy{Quorum: rapid.IntRange(2, 6).Draw(t, "quorum")}
		v := runToEnd(t, policy, func(agent int) Attempt {
			switch {
			case agent == 0:
				return Attempt{Status: rapid.SampledFrom([]Status{OK, Error, Timeout, CPULimit, DiskLimit}).Draw(t, "lie"), Digest: wrong}
			case rapid.IntRange(0, 9).Draw(t, "luck") == 0:
				return Attempt{Status: Timeout}
			default:
				return Attempt{Status: OK, Digest: right}
			}
		})
		require.NotEqual(t, wrong, v.Digest)
		for _, d := range v.Deltas() {
			require.Equal(t, d.Agent == "agent00", d.Failed > 0)
		}
	})
}

// Whatever agents answer and whenever, a shard comes to an end within its
// number of attempts.
func TestAlwaysEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runToEnd(t, drawPolicy(t), func(int) Attempt {
			return Attempt{
				Status: rapid.SampledFrom([]Status{OK, OK, Error, Timeout, CPULimit, LogLimit, Killed}).Draw(t, "status"),
				Digest: rapid.SampledFrom([]string{right, wrong, other, ""}).Draw(t, "digest"),
			}
		})
	})
}

// runToEnd lends a shard to fresh agents as the verdicts ask, lets them report
// in any order, and returns the verdict that ends it.
func runToEnd(t *rapid.T, p Policy, answer func(agent int) Attempt) Verdict {
	var list []Attempt
	order := rapid.Permutation(upTo(MaxMaxAttempts)).Draw(t, "agents")
	for range 2*MaxMaxAttempts + 1 {
		v := Decide(p, list, nil, Means{})
		switch v.Decision {
		case Replicate:
			for range v.Wanted {
				n := len(list)
				list = append(list, Attempt{ID: fmt.Sprintf("%03d", n), Agent: fmt.Sprintf("agent%02d", order[n]), State: Leased})
			}
			again := Decide(p, list, nil, Means{})
			require.Equal(t, Wait, again.Decision, "what was asked for is out: %+v", again)
		case Wait:
			report(t, list, order, answer)
		default:
			require.LessOrEqual(t, len(list), p.maxAttempts())
			return v
		}
	}
	t.Fatalf("no end: %+v", list)
	return Verdict{}
}

func report(t *rapid.T, list []Attempt, order []int, answer func(agent int) Attempt) {
	var out []int
	for i, a := range list {
		if a.State == Leased {
			out = append(out, i)
		}
	}
	require.NotEmpty(t, out, "waiting for nobody")
	i := rapid.SampledFrom(out).Draw(t, "who")
	a := answer(order[i])
	list[i].State, list[i].Status, list[i].Digest = Reported, a.Status, a.Digest
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
