package audit_test

import (
	"encoding/hex"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

// claiming is the check of a receipt whose statement says of so many signatures and results, by the log of whoever wrote it, with the keys of its
// agents read.
func claiming(t *testing.T, agents int, shards, submissions, results int64) (*signing, *audit.SignatureCheck) {
	t.Helper()
	s := newSigning(t, agents, shards, 1)
	root := audit.Leaf(nil)
	text := s.book.receipt(func(st *audit.Statement, _ *audit.Record) {
		st.Shards = audit.ShardsStated{Total: shards, Accepted: shards, Root: hex.EncodeToString(root[:])}
		st.Answer = nil
		st.Signed = &audit.SignedStated{Agents: int64(agents), Submissions: submissions, Results: results, Root: hex.EncodeToString(root[:])}
	})
	r, err := audit.OpenReceipt(text, s.book.verifier())
	require.NoError(t, err)
	check := audit.NewSignatureCheck(r)
	for i := range agents {
		require.NoError(t, check.Line(s.signer(i)))
	}
	return s, check
}

// signer is the line with an agent's key.
func (s *signing) signer(agent int) []byte {
	l := audit.SignerLine{Signer: s.record(agent)}
	var err error
	l.Proof, err = audit.ProveRecord(s.at[agent], int64(len(s.book.records)), s.book.read)
	require.NoError(s.t, err)
	text, err := l.Canonical()
	require.NoError(s.t, err)
	return text
}

// claim is a line that nobody has signed: so many results, and which of them are shown.
func (s *signing) claim(agent, results int, lines ...int64) []byte {
	said := audit.SubmissionStated{Agent: s.agents[agent], Lease: signedLease, Results: results, Lines: lines, Signature: "AA=="}
	text, err := audit.SubmissionLine{Submission: said}.Canonical()
	require.NoError(s.t, err)
	return text
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestASmallReceiptTakesNoMemory: lines of 200 bytes claim 1024 results each, of which they show one or all, and the lines of their shards never come.
func TestASmallReceiptTakesNoMemory(t *testing.T) {
	const shards = audit.MaxReceiptShards
	for name, c := range map[string]struct {
		lines func(i int64) []int64
		most  int64
	}{
		"one is shown":  {func(i int64) []int64 { return []int64{-1, 1023, i, 1} }, 16 << 20},
		"all are shown": {func(i int64) []int64 { return []int64{i * 1024, 1024} }, 256 << 20},
	} {
		s, check := claiming(t, 1, shards, shards, shards)
		before, read, err := heap(), int64(0), error(nil)
		for err == nil && read < 9000 {
			err = check.Line(s.claim(0, 1024, c.lines(read)...))
			read++
		}
		took := heap() - before
		t.Logf("%s: %d lines took %d bytes", name, read, took)
		require.ErrorContains(t, err, "more than 1048576 results are signed before their lines", name)
		require.Less(t, took, c.most, name)
		runtime.KeepAlive(check)
	}
}

// TestSignaturesEndWithTheStatement: what the statement does not say of is refused where it stands, and not at the end of the file.
func TestSignaturesEndWithTheStatement(t *testing.T) {
	t.Parallel()
	s, check := claiming(t, 2, 40, 3, 30)
	require.ErrorContains(t, check.Line(s.signer(0)), "keys of more than 2 agents")
	require.ErrorContains(t, check.Line(s.claim(0, 1, 40, 1)), "shard 40 of a job that has 40")
	require.ErrorContains(t, check.Line(s.claim(0, 31, 0, 31)), "more than 30 results are signed")

	s, check = claiming(t, 2, 40, 3, 30)
	require.NoError(t, check.Line(s.claim(0, 10, 0, 10)))
	require.NoError(t, check.Line(s.claim(1, 10, 0, 10)))
	require.NoError(t, check.Line(s.claim(0, 10, 20, 10)), "the third, and all 30 results")
	require.ErrorContains(t, check.Line(s.claim(1, 10, 20, 10)), "more than 3 signatures")
}

// TestNoShardIsSignedByMoreThanItsLineNames: the line of a shard has room for so many agents.
func TestNoShardIsSignedByMoreThanItsLineNames(t *testing.T) {
	t.Parallel()
	s, check := claiming(t, audit.MaxShardAgents+1, 40, 40, 40)
	for i := range audit.MaxShardAgents {
		require.NoError(t, check.Line(s.claim(i, 1, 7, 1)))
	}
	require.ErrorContains(t, check.Line(s.claim(audit.MaxShardAgents, 1, 7, 1)), "more than 16 agents have signed a result of shard 7")
	require.ErrorContains(t, check.Line([]byte(`{"submission":{"agent":"`+s.agents[0]+`","lease":"l","results":1,"lines":[0,1],"hidden":["",""],"signature":""}}`)), "which results")
}
