package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// ballots reads "agent:status:digest:owner:class" words. The agent "server" is
// the server; one that begins with "-" has a void result.
func ballots(words ...string) []Attempt {
	digests := map[string]string{"right": right, "wrong": wrong, "other": other}
	var list []Attempt
	for i, word := range words {
		parts := append(strings.Split(word, ":"), "", "", "", "")
		a := Attempt{ID: fmt.Sprintf("%03d", i), Agent: strings.TrimPrefix(parts[0], "-"), State: Leased, Owner: parts[3], Class: parts[4]}
		a.Server, a.Void = parts[0] == "server", strings.HasPrefix(parts[0], "-")
		if parts[1] != "" {
			a.State, a.Status, a.Digest = Reported, Status(parts[1]), digests[parts[2]]
		}
		list = append(list, a)
	}
	return list
}

func TestDecideWithABound(t *testing.T) {
	target := Policy{TargetError: 1e-3}
	all := Policy{Recheck: RecheckAll}
	can, cannot := Means{Recheck: true}, Means{}
	record := Evidence{Record: ProbationAudits}
	known := map[string]Evidence{"a": record, "b": record, "c": record, "d": record}
	for _, tc := range []struct {
		name        string
		policy      Policy
		attempts    []Attempt
		means       Means
		decision    Decision
		provisional bool
		wanted      int
		agree       string
		disagree    string
		divergence  Divergence
	}{
		{"nothing yet", target, nil, can, Replicate, false, 1, "", "", ""},
		{"one out", target, ballots("a"), can, Wait, false, 0, "", "", ""},
		{"one answer", target, ballots("a:ok:right"), can, Accept, true, 0, "a", "", ""},
		{"two agree", target, ballots("a:ok:right", "b:ok:right"), can, Accept, true, 0, "a b", "", ""},
		{"enough agree", target, ballots("a:ok:right", "b:ok:right", "c:ok:right", "d:ok:right"), cannot, Accept, false, 0, "a b c d", "", ""},
		{"enough agree, but of one owner", target, ballots("a:ok:right:me", "b:ok:right:me", "c:ok:right:me", "d:ok:right:me"), cannot, Accept, true, 0, "a b c d", "", ""},
		{"a replica audits", target, ballots("a:ok:right"), Means{Support: 2}, Replicate, false, 1, "a", "", ""},
		{"a replica audits, out", target, ballots("a:ok:right", "b"), Means{Support: 2}, Wait, false, 0, "a", "", ""},
		{"a replica confirms", target, ballots("a:ok:right", "b:ok:right"), Means{Support: 2}, Accept, true, 0, "a b", "", ""},
		{"a replica of the same owner does not", target, ballots("a:ok:right:me", "b:ok:right:me"), Means{Support: 2}, Replicate, false, 1, "a b", "", ""},
		{"confirmed until it is final", target, ballots("a:ok:right", "b:ok:right"), Means{Support: 4}, Replicate, false, 2, "a b", "", ""},
		{"a contradiction, the server decides", target, ballots("a:ok:right", "b:ok:wrong"), can, Recheck, false, 0, "a", "b", ""},
		{"a contradiction, agents decide", target, ballots("a:ok:right", "b:ok:wrong"), cannot, Replicate, false, 4, "a", "b", ""},
		{"out-voted", target, ballots("a:ok:right", "b:ok:wrong", "c:ok:right", "d:ok:right", "e:ok:right", "f:ok:right"), cannot, Accept, false, 0, "a c d e f", "b", ""},
		{"not yet out-voted", target, ballots("a:ok:right", "b:ok:wrong", "c:ok:right", "d:ok:right", "e:ok:right"), cannot, Replicate, false, 1, "a c d e", "b", ""},
		{"more agents of one owner are no more voices", target, ballots("a:ok:wrong:me", "b:ok:wrong:me", "c:ok:wrong:me", "d:ok:right", "e:ok:right"), cannot, Replicate, false, 3, "d e", "a b c", ""},
		{"used up", Policy{TargetError: 1e-3, MaxAttempts: 2}, ballots("a:ok:right", "b:ok:wrong"), cannot, Review, false, 0, "a", "b", ""},
		{"an exception, the server decides", target, ballots("a:error:right"), can, Recheck, false, 0, "a", "", ""},
		{"an exception, agents decide", target, ballots("a:error:right"), cannot, Replicate, false, 3, "a", "", ""},
		{"exceptions agree", target, ballots("a:error:right", "b:error:right", "c:error:right", "d:error:right"), cannot, Fail, false, 0, "a b c d", "", ""},
		{"a time-out", target, ballots("a:timeout"), can, Replicate, false, 1, "", "", ""},
		{"a time-out and an answer", target, ballots("a:timeout", "b:ok:right"), can, Accept, true, 0, "b", "", ""},
		{"time-outs of one owner", target, ballots("a:timeout::me", "b:timeout::me", "c:timeout::me", "d:timeout::me", "e:timeout::me"), can, Replicate, false, 1, "", "", ""},
		{"time-outs at the limit", target, ballots("a:timeout", "b:timeout", "c:timeout", "d:timeout", "e:timeout"), cannot, Fail, false, 0, "a b c d e", "", ""},
		{"before that the server tries", target, ballots("a:timeout", "b:timeout", "c:timeout", "d:timeout", "e:timeout"), can, Recheck, false, 0, "", "", ""},
		{"and answers", target, ballots("a:timeout", "b:timeout", "c:timeout", "d:timeout", "e:timeout", "server:ok:right"), can, Accept, false, 0, "", "", ""},
		{"and runs out of time too", target, ballots("a:timeout", "b:timeout", "c:timeout", "d:timeout", "e:timeout", "server:timeout"), can, Fail, false, 0, "a b c d e", "", ""},
		{"a time-out that the server confirms", target, ballots("a:timeout", "server:timeout"), can, Fail, false, 0, "a", "", ""},
		{"it confirms none that is void", target, ballots("-a:timeout", "server:timeout"), can, Replicate, false, 1, "", "", ""},
		{"nor where somebody has an answer", target, ballots("a:timeout", "b:ok:right", "server:timeout"), cannot, Accept, true, 0, "b", "", ""},
		{"it confirms another end than the agent's", target, ballots("a:memory", "server:timeout"), can, Replicate, false, 1, "", "", ""},
		{"under a quorum too", Policy{Quorum: 2}, ballots("a:memory", "b:timeout", "server:memory"), cannot, Fail, false, 0, "a", "", ""},
		{"a result that was taken back", target, ballots("-a:ok:wrong"), can, Replicate, false, 1, "", "", ""},
		{"and another answer", target, ballots("-a:ok:wrong", "b:ok:right"), can, Accept, true, 0, "b", "", ""},
		{"no more liars than may be wrong", Policy{TargetError: 0.2}, ballots("a:ok:right"), can, Accept, false, 0, "a", "", ""},

		{"the server confirms", target, ballots("a:ok:right", "server:ok:right"), can, Accept, false, 0, "a", "", ""},
		{"the server contradicts, once", target, ballots("a:ok:wrong", "server:ok:right"), can, Recheck, false, 0, "a", "", ""},
		{"the server contradicts", target, ballots("a:ok:wrong", "server:ok:right", "server:ok:right"), can, Accept, false, 0, "", "a", ""},
		{"the server contradicts an exception", target, ballots("a:error:wrong", "server:ok:right", "server:ok:right"), can, Accept, false, 0, "", "a", ""},
		{"the server finds the exception", target, ballots("a:error:right", "server:error:right"), can, Fail, false, 0, "a", "", ""},
		{"the server is not stable", target, ballots("a:ok:wrong", "server:ok:right", "server:ok:other"), can, Review, false, 0, "a", "", Unstable},
		{"the server runs out of time", target, ballots("a:ok:right", "server:timeout"), cannot, Accept, true, 0, "a", "", ""},
		{"the server out-votes any number", target, ballots("a:ok:wrong", "b:ok:wrong", "c:ok:wrong", "d:ok:wrong", "e:ok:wrong", "server:ok:right", "server:ok:right"), can, Accept, false, 0, "", "a b c d e", ""},
		{"the server under a quorum", Policy{Quorum: 2}, ballots("a:ok:wrong", "b:ok:wrong", "server:ok:right", "server:ok:right"), can, Accept, false, 0, "", "a b", ""},

		{"a platform of its own", target, ballots("a:ok:wrong:x:arm", "b:ok:wrong:y:arm", "server:ok:right::amd", "server:ok:right::amd"), can, Accept, false, 0, "", "a b", Platform},
		{"accomplices invent a platform", target, ballots("new1:ok:wrong:x:none", "new2:ok:wrong:y:none", "server:ok:right::amd", "server:ok:right::amd"), can, Accept, false, 0, "", "new1 new2", ""},
		{"one of them has a record", target, ballots("a:ok:wrong:x:none", "new2:ok:wrong:y:none", "server:ok:right::amd", "server:ok:right::amd"), can, Accept, false, 0, "", "a new2", ""},
		{"the server's platform is not known", target, ballots("a:ok:wrong:x:arm", "b:ok:wrong:y:arm", "server:ok:right", "server:ok:right"), can, Accept, false, 0, "", "a b", ""},
		{"one owner is no platform", target, ballots("a:ok:wrong:x:arm", "b:ok:wrong:x:arm", "server:ok:right::amd", "server:ok:right::amd"), can, Accept, false, 0, "", "a b", ""},
		{"an agent of it agrees with the server", target, ballots("a:ok:wrong:x:arm", "b:ok:wrong:y:arm", "c:ok:right:z:arm", "server:ok:right::amd", "server:ok:right::amd"), can, Accept, false, 0, "c", "a b", ""},
		{"new agents on two platforms, without a server", target, ballots("a:ok:wrong:x:arm", "new1:ok:wrong:y:arm", "c:ok:right:z:amd", "d:ok:right:w:amd"), cannot, Replicate, false, 4, "c d", "a new1", ""},
		{"platforms without a server", target, ballots("a:ok:wrong:x:arm", "b:ok:wrong:y:arm", "c:ok:right:z:amd", "d:ok:right:w:amd"), cannot, Review, false, 0, "c d", "a b", Platform},

		{"recheck: nothing yet", all, nil, can, Replicate, false, 1, "", "", ""},
		{"recheck: an answer", all, ballots("a:ok:right"), cannot, Recheck, false, 0, "a", "", ""},
		{"recheck: an exception", all, ballots("a:error:right"), can, Recheck, false, 0, "a", "", ""},
		{"recheck: confirmed", all, ballots("a:ok:right", "server:ok:right"), can, Accept, false, 0, "a", "", ""},
		{"recheck: a time-out, which the server tries at once", all, ballots("a:timeout"), can, Recheck, false, 0, "", "", ""},
		{"recheck: and confirms", all, ballots("a:timeout", "server:timeout"), can, Fail, false, 0, "a", "", ""},
		{"recheck: and ends otherwise", all, ballots("a:timeout", "server:memory"), can, Replicate, false, 1, "", "", ""},
		{"recheck: time-outs", all, ballots("a:timeout", "b:timeout"), can, Recheck, false, 0, "", "", ""},
		{"recheck: time-outs, and the server's", all, ballots("a:timeout", "b:timeout", "server:timeout"), can, Fail, false, 0, "a b", "", ""},
		{"recheck: time-outs without a server", all, ballots("a:timeout", "b:timeout"), cannot, Fail, false, 0, "a b", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.means.Runs = ServerRuns // see TestWhoIsAccusedForTheFirstTime
			v := Decide(tc.policy, tc.attempts, known, tc.means)
			require.Equal(t, tc.decision, v.Decision, "%+v", v)
			require.Equal(t, tc.provisional, v.Provisional)
			require.Equal(t, tc.wanted, v.Wanted)
			require.Equal(t, tc.agree, agents(v.Agree))
			require.Equal(t, tc.disagree, agents(v.Disagree))
			require.Equal(t, tc.divergence, v.Divergence)
			if v.Provisional || v.Divergence != "" {
				require.Empty(t, v.Deltas())
			}
			for _, r := range v.Reasons {
				require.NotEmpty(t, r.Text)
			}
		})
	}
}

func TestServerProves(t *testing.T) {
	list := ballots("a:ok:wrong", "b:ok:wrong", "c:ok:right", "server:ok:right", "server:ok:right")
	v := Decide(Policy{TargetError: 1e-3}, list, nil, Means{Runs: ServerRuns})
	require.True(t, v.Proven)
	require.Equal(t, "002", v.Canonical, "an agent's attempt is canonical where one is right")
	require.Equal(t, []Delta{{"a", 0, 1}, {"b", 0, 1}, {"c", 1, 0}}, v.Deltas())
	require.Equal(t, []Alike{{"a", "b", 1}}, v.WrongAlike(list))
	before := ballots("a:ok:wrong", "-b:ok:wrong", "-c:ok:right", "d:ok:other", "server:ok:right", "server:ok:right")
	require.Equal(t, []Alike{{"a", "b", 1}}, Decide(Policy{TargetError: 1e-3}, before, nil, Means{Runs: ServerRuns}).WrongAlike(before), "a lie that was taken back is one all the same")
	agreed := ballots("a:ok:right", "b:ok:right", "server:ok:right")
	require.Empty(t, Decide(Policy{TargetError: 1e-3}, agreed, nil, Means{Runs: ServerRuns}).WrongAlike(agreed))
	alone := Decide(Policy{TargetError: 1e-3}, ballots("a:ok:wrong", "server:ok:right", "server:ok:right"), nil, Means{Runs: ServerRuns})
	require.Equal(t, "001", alone.Canonical)
	require.Equal(t, []Delta{{"a", 0, 1}}, alone.Deltas())
}

// TestAPlatformIsNoCoverForOthers: who gave a third answer, or another platform's, is not excused along with it.
func TestAPlatformIsNoCoverForOthers(t *testing.T) {
	record := Evidence{Record: ProbationAudits}
	list := ballots("a:ok:wrong:x:arm", "b:ok:wrong:y:arm", "c:ok:other:z:amd", "server:ok:right::amd", "server:ok:right::amd")
	v := Decide(Policy{TargetError: 1e-3}, list, map[string]Evidence{"a": record, "b": record}, Means{Runs: ServerRuns})
	require.Equal(t, Platform, v.Divergence)
	require.Equal(t, "a b c", agents(v.Disagree))
	require.Equal(t, "a b", agents(v.Excused))
}

func TestHolderStays(t *testing.T) {
	for _, holder := range []string{"a", "b"} {
		v := Decide(Policy{TargetError: 1e-3}, ballots("b:ok:right", "a:ok:right"), nil, Means{Holder: holder})
		require.Equal(t, map[string]string{"a": "001", "b": "000"}[holder], v.Canonical)
	}
}

func TestVoices(t *testing.T) {
	evidence := map[string]Evidence{
		"c1": {Cluster: "c"}, "c2": {Cluster: "c"}, "old": {SinceFailure: ProbationAudits}, "older": {SinceFailure: ProbationAudits},
	}
	vote := func(agent, owner, block string) Attempt {
		return Attempt{ID: agent, Agent: agent, Owner: owner, Block: block}
	}
	for _, tc := range []struct {
		want  int
		votes []Attempt
	}{
		{0, nil},
		{2, []Attempt{vote("a", "", ""), vote("b", "", "")}},
		{1, []Attempt{vote("a", "x", ""), vote("b", "x", "")}},
		{1, []Attempt{vote("c1", "", ""), vote("c2", "", "")}},
		{1, []Attempt{vote("a", "", "10.1"), vote("b", "", "10.1")}},
		{2, []Attempt{vote("old", "", "10.1"), vote("older", "", "10.1")}},
		{2, []Attempt{vote("old", "", "10.1"), vote("a", "", "10.1")}},
		{1, []Attempt{vote("a", "x", "10.1"), vote("b", "x", "10.2"), vote("c", "y", "10.2")}},
		{2, []Attempt{vote("a", "x", ""), vote("c1", "y", ""), vote("b", "x", ""), vote("c2", "z", "")}},
	} {
		require.Equal(t, tc.want, voices(tc.votes, evidence), "%+v", tc.votes)
	}
}

// What is accepted for good without the server is credible enough: with
// independent hosts, of whom the share f always gives the same wrong answer, an
// exact enumeration of all ways to vote shows that it is wrong no more often
// than stated.
func TestNeverFinalBelowTheBound(t *testing.T) {
	for _, p := range []Policy{{TargetError: 1e-3}, {TargetError: 1e-2}, {TargetError: 0.05, AssumeHostile: 0.3}, {TargetError: 1e-2, AssumeHostile: 0.4}} {
		final, wrongly := 0.0, 0.0
		f := Derive(p).Hostile
		reached := map[[2]int]float64{{0, 0}: 1} // honest and lying votes: the order decides nothing
		for len(reached) > 0 {
			next := map[[2]int]float64{}
			for votes, probability := range reached {
				v := Decide(p, split(votes[0], votes[1]), nil, Means{Support: Derive(p).Voices})
				switch v.Decision {
				case Accept:
					require.False(t, v.Provisional)
					final += probability
					if v.Digest == wrong {
						wrongly += probability
					}
				case Replicate:
					next[[2]int{votes[0] + 1, votes[1]}] += probability * (1 - f)
					next[[2]int{votes[0], votes[1] + 1}] += probability * f
				default:
					require.Equal(t, Review, v.Decision)
				}
			}
			reached = next
		}
		require.Greater(t, final, 0.1, "most are decided, but for so many liars that it takes a person")
		require.LessOrEqual(t, wrongly/final, p.TargetError, "%+v", p)
	}
}

// split makes attempts of so many honest and lying agents.
func split(honest, lying int) (list []Attempt) {
	for i := range honest + lying {
		name := fmt.Sprintf("%03d", i)
		list = append(list, Attempt{ID: name, Agent: name, State: Reported, Status: OK, Digest: right})
		if i >= honest {
			list[i].Digest = wrong
		}
	}
	return list
}

// For any attempts: the order decides nothing, asking twice gives the same, and
// nothing is final without the server or enough independent voices.
func TestDecideInvariantsWithABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Policy{TargetError: rapid.SampledFrom([]float64{1e-4, 1e-3, 0.05}).Draw(t, "target")}
		if rapid.IntRange(0, 5).Draw(t, "all") == 0 {
			p = Policy{Recheck: RecheckAll}
		}
		list, evidence := drawAttempts(t, 14), drawEvidence(t)
		for i := range list {
			list[i].Server = rapid.IntRange(0, 9).Draw(t, "server") == 0
			list[i].Void = rapid.IntRange(0, 9).Draw(t, "void") == 0
			list[i].Owner = rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "owner")
			list[i].Class = rapid.SampledFrom([]string{"", "arm", "amd"}).Draw(t, "class")
		}
		m := Means{Recheck: rapid.Bool().Draw(t, "recheck"), Support: rapid.IntRange(0, 4).Draw(t, "support")}
		v := Decide(p, list, evidence, m)
		if distinct(list) {
			require.Equal(t, v, Decide(p, rapid.Permutation(list).Draw(t, "order"), evidence, m), "the order of attempts decides nothing")
		}
		require.Equal(t, v, Decide(p, list, evidence, m), "asked twice, the answer is the same")
		require.Equal(t, v.Decision == Replicate, v.Wanted > 0)
		require.NotEmpty(t, v.Reasons)
		if v.Decision == Accept && !v.Provisional && !v.Proven {
			require.NotZero(t, p.TargetError)
			require.GreaterOrEqual(t, len(v.Agree), Derive(p).Voices)
		}
		for _, d := range v.Deltas() {
			require.EqualValues(t, 1, d.Passed+d.Failed)
		}
	})
}

// distinct says whether every attempt has an ID of its own, as callers give them.
func distinct(list []Attempt) bool {
	seen := map[string]bool{}
	for _, a := range list {
		if seen[a.ID] {
			return false
		}
		seen[a.ID] = true
	}
	return true
}

// Without a server votes speak against somebody only where two of them are of agents with a record.
func TestVotesOfNewcomersAreNoEvidence(t *testing.T) {
	p := Policy{TargetError: 1e-3}
	list := attempts("a:ok:right", "b:ok:right", "c:ok:right", "d:ok:right", "e:ok:right", "x:ok:wrong")
	known := Evidence{Vouched: ProbationAudits, SinceFailure: ProbationAudits}
	for name, c := range map[string]struct {
		evidence map[string]Evidence
		hearsay  bool
	}{
		"all are new":         {nil, true},
		"one has a record":    {map[string]Evidence{"a": known}, true},
		"one audit too few":   {map[string]Evidence{"a": known, "b": {Vouched: ProbationAudits - 1, SinceFailure: 100}}, true},
		"the accused has one": {map[string]Evidence{"a": known, "x": known}, true},
		"two have a record":   {map[string]Evidence{"a": known, "b": known}, false},

		"audits among newcomers": {map[string]Evidence{"a": {SinceFailure: 100, Record: 100}, "b": {SinceFailure: 100, Record: 100}}, true},
	} {
		v := Decide(p, list, c.evidence, Means{})
		require.Equal(t, Accept, v.Decision, name)
		require.Equal(t, 5, v.Voices, name)
		require.Equal(t, c.hearsay, v.Hearsay, name)
		require.Equal(t, c.hearsay, len(v.Deltas()) == 0, name)
		require.Equal(t, c.hearsay, len(v.WrongAlike(append(list, attempts("y:ok:wrong")...))) == 0, name)
	}
	require.False(t, Decide(Policy{Quorum: 2}, list, nil, Means{}).Hearsay, "a quorum is votes")
	require.Len(t, Accusers(Policy{Quorum: 2}, list, nil), 6)
	require.Empty(t, Accusers(p, list, nil))
	require.Len(t, Accusers(p, list, map[string]Evidence{"a": known}), 1)
	require.Len(t, Accusers(p, append([]Attempt{{ID: "server", Server: true}}, list...), nil), 7)
}

func TestAuditedByAgents(t *testing.T) {
	require.False(t, AuditedByAgents(0, 10, 0, false), "nothing is promised")
	require.True(t, AuditedByAgents(1e-3, 0, 0, false))
	require.False(t, AuditedByAgents(1e-3, 0, 0, true))
	require.True(t, AuditedByAgents(1e-3, 10, 9, true), "agents made one")
	require.False(t, AuditedByAgents(1e-3, 10, 10, true))
	require.False(t, AuditedByAgents(1e-3, 5, 10, false), "servers did before")
}
