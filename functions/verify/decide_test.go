package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	right = strings.Repeat("a", 64)
	wrong = strings.Repeat("b", 64)
	other = strings.Repeat("c", 64)
)

// attempts reads "agent:status:digest" words; "agent" alone is a lease. The ID
// of an attempt is its place in the list.
func attempts(words ...string) []Attempt {
	digests := map[string]string{"right": right, "wrong": wrong, "other": other, "": ""}
	var list []Attempt
	for i, word := range words {
		parts := append(strings.Split(word, ":"), "", "")
		a := Attempt{ID: fmt.Sprintf("%03d", i), Agent: parts[0], State: Leased}
		if parts[1] != "" {
			a.State, a.Status, a.Digest = Reported, Status(parts[1]), digests[parts[2]]
		}
		list = append(list, a)
	}
	return list
}

func agents(votes []Vote) string {
	var names []string
	for _, v := range votes {
		names = append(names, v.Agent)
	}
	return strings.Join(names, " ")
}

func TestDecide(t *testing.T) {
	caught := map[string]Evidence{"evil": {Caught: true}, "liar": {Passed: 7, Failed: 2}}
	for _, tc := range []struct {
		name     string
		policy   Policy
		attempts []Attempt
		decision Decision
		wanted   int
		status   Status
		agree    string
		disagree string
		reason   ReasonCode
	}{
		{"nothing yet", Policy{Quorum: 2}, nil, Replicate, 2, "", "", "", ReasonShort},
		{"two out", Policy{Quorum: 2}, attempts("a", "b"), Wait, 0, "", "", "", ReasonShort},
		{"two out, unknown where", Policy{Quorum: 2}, attempts("", ""), Wait, 0, "", "", "", ReasonShort},
		{"one in, one out", Policy{Quorum: 2}, attempts("a:ok:right", "b"), Wait, 0, "", "a", "", ReasonShort},
		{"one in", Policy{Quorum: 2}, attempts("a:ok:right"), Replicate, 1, "", "a", "", ReasonShort},
		{"agreement", Policy{Quorum: 2}, attempts("b:ok:right", "a:ok:right"), Accept, 0, OK, "b a", "", ReasonAgreed},
		{"quorum of one", Policy{Quorum: 1}, attempts("a:ok:right"), Accept, 0, OK, "a", "", ReasonAgreed},
		{"quorum of one, two answers", Policy{Quorum: 1}, attempts("a:ok:right", "b:ok:wrong"), Replicate, 1, "", "a", "b", ReasonTied},
		{"disagreement", Policy{Quorum: 2}, attempts("a:ok:right", "b:ok:wrong"), Replicate, 1, "", "a", "b", ReasonDiffers},
		{"disagreement, third out", Policy{Quorum: 2}, attempts("a:ok:right", "b:ok:wrong", "c"), Wait, 0, "", "a", "b", ReasonDiffers},
		{"out-voted", Policy{Quorum: 2}, attempts("a:ok:right", "b:ok:wrong", "c:ok:right"), Accept, 0, OK, "a c", "b", ReasonDiffers},
		{"two pairs", Policy{Quorum: 2}, attempts("a:ok:right", "b:ok:wrong", "c:ok:right", "d:ok:wrong"), Replicate, 1, "", "a c", "b d", ReasonTied},
		{"all used up", Policy{Quorum: 2, MaxAttempts: 3}, attempts("a:ok:right", "b:ok:wrong", "c:ok:other"), Review, 0, "", "a", "b c", ReasonMaxAttempts},
		{"last one out", Policy{Quorum: 2, MaxAttempts: 3}, attempts("a:ok:right", "b:ok:wrong", "c"), Wait, 0, "", "a", "b", ReasonShort},
		{"budget less than the need", Policy{Quorum: 3, MaxAttempts: 4}, attempts("a:ok:right", "b:ok:wrong", "c:ok:other"), Replicate, 1, "", "a", "b c", ReasonShort},

		{"same exception", Policy{Quorum: 2}, attempts("a:error:right", "b:error:right"), Fail, 0, Error, "a b", "", ReasonAgreed},
		{"exceptions out-vote", Policy{Quorum: 2}, attempts("a:error:right", "b:ok:wrong", "c:error:right"), Fail, 0, Error, "a c", "b", ReasonAgreed},
		{"an exception is no contradiction", Policy{Quorum: 2}, attempts("a:ok:right", "b:error:wrong", "c:ok:right"), Accept, 0, OK, "a c", "", ReasonAgreed},
		{"the same digest in another status", Policy{Quorum: 2}, attempts("a:ok:right", "b:error:right"), Replicate, 1, "", "a", "", ReasonShort},
		{"exceptions that differ, at the limit", Policy{Quorum: 2}, attempts("a:error:right", "b:error:wrong", "c:error:other"), Fail, 0, Error, "a b c", "", ReasonFailures},
		{"exceptions that differ, below the limit", Policy{Quorum: 2}, attempts("a:error:right", "b:error:wrong"), Replicate, 1, "", "a", "", ReasonFailures},
		{"a time-out is replaced", Policy{Quorum: 2}, attempts("a:ok:right", "b:timeout"), Replicate, 1, "", "a", "", ReasonFailures},
		{"time-outs at the limit", Policy{Quorum: 2}, attempts("a:timeout", "b:memory", "c:timeout"), Fail, 0, Timeout, "a c", "", ReasonFailures},
		{"time-outs, but one answered", Policy{Quorum: 2}, attempts("a:timeout", "b:ok:right", "c:timeout", "d:timeout"), Replicate, 1, "", "b", "", ReasonFailures},
		{"an output without a digest", Policy{Quorum: 1}, attempts("a:ok"), Replicate, 1, "", "", "", ReasonUnusable},
		{"an unknown status", Policy{Quorum: 1}, attempts("a:fine:right"), Replicate, 1, "", "", "", ReasonUnusable},

		{"caught agents have no vote", Policy{Quorum: 2}, attempts("evil:ok:wrong", "liar:ok:wrong", "a:ok:right"), Replicate, 1, "", "a", "", ReasonCaught},
		{"a lease of a caught agent is replaced", Policy{Quorum: 1}, attempts("evil"), Replicate, 1, "", "", "", ReasonCaught},
		{"caught agents use up attempts", Policy{Quorum: 2, MaxAttempts: 2}, attempts("evil:ok:wrong", "a:ok:right"), Review, 0, "", "a", "", ReasonMaxAttempts},
		{"one agent twice", Policy{Quorum: 2}, attempts("a:ok:wrong", "a:ok:wrong"), Replicate, 1, "", "a", "", ReasonRepeated},
		{"a result speaks before a lease", Policy{Quorum: 1}, attempts("a", "a:ok:right"), Accept, 0, OK, "a", "", ReasonRepeated},

		{"none", Policy{None: true}, attempts("b:ok:right", "a:ok:wrong"), Accept, 0, OK, "b", "a", ReasonUnverified},
		{"none, nothing yet", Policy{None: true}, nil, Replicate, 1, "", "", "", ReasonShort},
		{"none, an exception", Policy{None: true}, attempts("a:error:right"), Fail, 0, Error, "a", "", ReasonUnverified},
		{"none, a limit", Policy{None: true}, attempts("a:timeout"), Fail, 0, Timeout, "a", "", ReasonUnverified},
		{"none, once more", Policy{None: true}, attempts("a:killed"), Replicate, 1, "", "", "", ReasonFailures},
		{"none, twice", Policy{None: true}, attempts("a:killed", "b:killed"), Fail, 0, Killed, "a b", "", ReasonFailures},
		{"none, caught", Policy{None: true}, attempts("evil:ok:wrong"), Replicate, 1, "", "", "", ReasonCaught},

		{"no policy", Policy{}, attempts("a:ok:right"), Review, 0, "", "", "", ReasonPolicy},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := Decide(tc.policy, tc.attempts, caught, Means{})
			require.Equal(t, tc.decision, v.Decision, "%+v", v)
			require.Equal(t, tc.wanted, v.Wanted)
			require.Equal(t, tc.status, v.Status)
			require.Equal(t, tc.agree, agents(v.Agree))
			require.Equal(t, tc.disagree, agents(v.Disagree))
			var codes []ReasonCode
			for _, r := range v.Reasons {
				codes = append(codes, r.Code)
				require.NotEmpty(t, r.Text)
			}
			require.Contains(t, codes, tc.reason)
		})
	}
}

func TestDecideNamesTheAnswer(t *testing.T) {
	v := Decide(Policy{Quorum: 2}, attempts("x:ok:wrong", "b:ok:right", "a:ok:right"), nil, Means{})
	require.Equal(t, right, v.Digest)
	require.Equal(t, "001", v.Canonical)
	require.Equal(t, []Reason{
		{ReasonAgreed, "2 agents agree on aaaaaaaaaaaa…, and 2 must"},
		{ReasonDiffers, "agent x differs: bbbbbbbbbbbb…"},
	}, v.Reasons)
	require.Equal(t, []Delta{{"a", 1, 0}, {"b", 1, 0}, {"x", 0, 1}}, v.Deltas())
}

func TestDeltasNeedSupport(t *testing.T) {
	require.Empty(t, Decide(Policy{Quorum: 1}, attempts("a:ok:right"), nil, Means{}).Deltas(), "a lone answer was not checked")
	require.Empty(t, Decide(Policy{None: true}, attempts("a:ok:right", "b:ok:wrong"), nil, Means{}).Deltas(), "one against one proves nothing")
	require.Empty(t, Decide(Policy{Quorum: 2}, attempts("a:ok:right", "b:ok:wrong"), nil, Means{}).Deltas(), "not decided yet")
	require.Empty(t, Decide(Policy{Quorum: 2}, attempts("a:error:right", "b:error:right", "c:ok:wrong"), nil, Means{}).Deltas(), "exceptions are no evidence")
}

func TestLate(t *testing.T) {
	late := attempts("a:ok:right", "a:ok:wrong", "a:timeout", "a", "a:error:wrong")
	for _, tc := range []struct {
		name          string
		attempt       Attempt
		support       int
		passed        int64
		failed        int64
		contradiction bool
	}{
		{"agrees", late[0], 2, 1, 0, false},
		{"differs", late[1], 2, 0, 1, true},
		{"agrees with a lone answer", late[0], 1, 0, 0, false},
		{"differs from a lone answer", late[1], 1, 0, 0, true},
		{"time-out", late[2], 2, 0, 0, false},
		{"still out", late[3], 2, 0, 0, false},
		{"exception", late[4], 2, 0, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			delta, contradiction := Late(Accepted{Digest: right, Support: tc.support}, tc.attempt)
			require.Equal(t, Delta{Agent: "a", Passed: tc.passed, Failed: tc.failed}, delta)
			require.Equal(t, tc.contradiction, contradiction)
		})
	}
}

func TestStanding(t *testing.T) {
	for _, tc := range []struct {
		evidence Evidence
		want     Standing
	}{
		{Evidence{}, Active},
		{Evidence{Failed: CatchFailures - 1}, Active},
		{Evidence{Failed: CatchFailures}, Caught},
		{Evidence{Passed: 2*ForgivenPerFailure - 1, Failed: 2}, Caught},
		{Evidence{Passed: 2 * ForgivenPerFailure, Failed: 2}, Active},
		{Evidence{Passed: 2 * ForgivenPerFailure, Failed: 3}, Caught},
		{Evidence{Passed: 1 << 40, Caught: true}, Caught},
	} {
		got, why := StandingOf(tc.evidence)
		require.Equal(t, tc.want, got, "%+v: %s", tc.evidence, why)
		require.NotEmpty(t, why)
	}
}

func TestPolicyValidate(t *testing.T) {
	for _, p := range []Policy{
		{Quorum: 1},
		{Quorum: MaxQuorum},
		{None: true},
		{Quorum: 3, MaxAttempts: 3},
		{Quorum: 1, MaxAttempts: MaxMaxAttempts},
		{None: true, MaxAttempts: 1},
	} {
		require.NoError(t, p.Validate(), "%+v", p)
		require.LessOrEqual(t, p.maxAttempts(), MaxMaxAttempts)
		require.LessOrEqual(t, p.FailureLimit(), p.maxAttempts())
	}
	for _, p := range []Policy{
		{},
		{Quorum: -1},
		{Quorum: MaxQuorum + 1},
		{None: true, Quorum: 1},
		{Quorum: 1, MaxAttempts: -1},
		{Quorum: 1, MaxAttempts: MaxMaxAttempts + 1},
		{Quorum: 3, MaxAttempts: 2},
	} {
		require.Error(t, p.Validate(), "%+v", p)
	}
}

// TestOneOwnerIsOneVoiceOfAQuorum: neither its agreement nor its failures count more than once.
func TestOneOwnerIsOneVoiceOfAQuorum(t *testing.T) {
	two := Policy{Quorum: 2}
	linked := map[string]Evidence{"a": {Cluster: "c"}, "b": {Cluster: "c"}}
	for _, tc := range []struct {
		name     string
		policy   Policy
		attempts []Attempt
		evidence map[string]Evidence
		want     Decision
		wanted   int
	}{
		{"agents of one owner", two, ballots("a:ok:wrong:me", "b:ok:wrong:me"), nil, Replicate, 1},
		{"agents of two", two, ballots("a:ok:right:me", "b:ok:right:you"), nil, Accept, 0},
		{"agents that lied alike", two, ballots("a:ok:wrong:me", "b:ok:wrong:you"), linked, Replicate, 1},
		{"a crowd of one owner does not out-vote two", two, ballots("a:ok:wrong:me", "b:ok:wrong:me", "c:ok:wrong:me", "d:ok:right", "e:ok:right"), nil, Accept, 0},
		{"four time-outs of one owner", two, ballots("a:timeout::me", "b:timeout::me", "c:timeout::me", "d:timeout::me"), nil, Replicate, 2},
		{"time-outs of as many owners as it takes", two, ballots("a:timeout::x", "b:timeout::x", "c:timeout::y", "d:timeout::z"), nil, Fail, 0},
		{"one less", two, ballots("a:timeout::x", "b:timeout::x", "c:timeout::y", "d:timeout::y"), nil, Replicate, 2},
		{"crashes, without verification", Policy{None: true}, ballots("a:killed::me", "b:killed::me"), nil, Fail, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := Decide(tc.policy, tc.attempts, tc.evidence, Means{})
			require.Equal(t, tc.want, v.Decision, "%+v", v)
			require.Equal(t, tc.wanted, v.Wanted)
			if v.Decision == Accept {
				require.Equal(t, right, v.Digest)
				require.Equal(t, 2, v.Voices)
			}
		})
	}
	believed := Decide(Policy{None: true}, ballots("a:ok:wrong:me", "b:ok:wrong:me", "c:ok:right"), nil, Means{})
	require.Equal(t, Accept, believed.Decision)
	require.Empty(t, believed.Deltas(), "one owner alone accuses nobody")
}
