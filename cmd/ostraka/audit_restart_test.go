package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
)

// restartedLog is the head of a log that began anew some times, each record a restart.
func restartedLog(t *testing.T, times int) client.AuditHead {
	t.Helper()
	key, origin := audit.NewKey(), audit.ServerOrigin("x")
	var head client.AuditHead
	var nodes []audit.Hash
	read := func(numbers []int64) (hashes []audit.Hash, err error) {
		for _, n := range numbers {
			hashes = append(hashes, nodes[n])
		}
		return hashes, nil
	}
	added, root, err := audit.Grow(0, []audit.Hash{audit.Leaf([]byte("the first record"))}, read)
	require.NoError(t, err)
	nodes = added
	for i := range int64(times) {
		size := i + 1
		r := audit.Restart{Reason: "restored", From: origin, Origin: audit.NextEpoch(time.Unix(1_800_000_000, 0), origin), Restored: audit.State(audit.Checkpoint{Size: size, Root: root})}
		detail, err := r.Detail()
		require.NoError(t, err)
		record, err := audit.Record{Seq: size + 1, At: time.Unix(1_800_000_000, 0), Actor: "operator:ada", Action: audit.RestartAction, Detail: detail}.Canonical()
		require.NoError(t, err)
		added, root, err = audit.Grow(size, []audit.Hash{audit.Leaf(record)}, read)
		require.NoError(t, err)
		nodes, origin = append(nodes, added...), r.Origin
		head.Key, err = key.Verifier(origin)
		require.NoError(t, err)
		note, err := key.Sign(audit.Checkpoint{Origin: origin, Size: size + 1, Root: root})
		require.NoError(t, err)
		proof, err := audit.Prove(size, size+1, note, read)
		require.NoError(t, err)
		head.Origin, head.Size, head.Checkpoint = origin, size+1, string(note)
		head.Restarts = append(head.Restarts, client.LogRestart{Index: size, Record: string(record), Proof: string(proof)})
	}
	return head
}

// TestNoRestartIsLeftOut has a server hide a time that its log began anew.
func TestNoRestartIsLeftOut(t *testing.T) {
	head := restartedLog(t, 3)
	var said strings.Builder
	require.NoError(t, sayRestarts(&terminal{talk: &said}, head))
	require.Equal(t, 3, strings.Count(said.String(), "the log began anew"))
	require.NoError(t, sayRestarts(&terminal{talk: &said}, client.AuditHead{Origin: audit.ServerOrigin("x")}))
	for name, c := range map[string]struct {
		left [2]int // the first and one past the last that are left out
		why  string
	}{
		"the first":      {[2]int{0, 1}, "leaves out why the log that was called ostraka/server/x began anew as ostraka/server/x/20270115T080000Z"},
		"in the middle":  {[2]int{1, 2}, "leaves out why the log that was called ostraka/server/x/20270115T080000Z"},
		"all before one": {[2]int{0, 2}, "leaves out why the log that was called ostraka/server/x began anew"},
		"the last":       {[2]int{2, 3}, "does not hold"},
		"all":            {[2]int{0, 3}, "does not say why it began anew"},
	} {
		t.Run(name, func(t *testing.T) {
			shown := head
			shown.Restarts = slices.Delete(slices.Clone(head.Restarts), c.left[0], c.left[1])
			var said strings.Builder
			require.ErrorContains(t, sayRestarts(&terminal{talk: &said}, shown), c.why)
			require.Empty(t, said.String(), "of a list with a hole nothing is said as if it were whole")
		})
	}
	head.Origin = audit.ServerOrigin("x")
	require.ErrorContains(t, sayRestarts(&terminal{talk: &said}, head), "does not say why", "the last one has another name than the head")
}
