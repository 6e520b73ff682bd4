package audit_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ostraka/ostraka/audit"
)

// TestThePathOfEveryLeaf holds that a tree that is read once gives the paths that RFC 6962 has, of every leaf of trees of many sizes.
func TestThePathOfEveryLeaf(t *testing.T) {
	var peaks audit.Peaks
	var leaves []audit.Hash
	for size := int64(1); size <= 130; size++ {
		leaves = append(leaves, audit.Leaf(fmt.Append(nil, size)))
		peaks.Add(leaves[size-1])
		for index := range size {
			var finder audit.PathFinder
			for i, leaf := range leaves {
				finder.Add(leaf, int64(i) == index)
			}
			at, path, err := finder.Path()
			require.NoError(t, err)
			require.Equal(t, index, at)
			require.NoError(t, tlog.CheckRecord(path, size, peaks.Root(), index, leaves[index]), "leaf %d of %d", index, size)
		}
	}
	_, _, err := new(audit.PathFinder).Path()
	require.ErrorContains(t, err, "no such leaf")
}

// shardProof is the proof of one shard of a receipt with that many accepted shards, every second of its job.
func shardProof(t testing.TB, accepted, index int64) (text []byte, key string) {
	t.Helper()
	var finder audit.PathFinder
	var peaks audit.Peaks
	var wanted []byte
	for i := range accepted {
		line, err := audit.ShardLine{Shard: 2 * i, Output: digestOfNothing, Agents: []string{"a", "b"}, Server: i%2 == 0}.Canonical()
		require.NoError(t, err)
		if i == index {
			wanted = line
		}
		finder.Add(audit.Leaf(line), i == index)
		peaks.Add(audit.Leaf(line))
	}
	b := newBook(t, 10, 97)
	b.witnesses = 1
	receipt := b.receipt(func(s *audit.Statement, _ *audit.Record) {
		root := peaks.Root()
		s.Shards = audit.ShardsStated{Total: 2 * accepted, Accepted: accepted, Root: hex.EncodeToString(root[:])}
		s.Answer.Count = accepted
	})
	at, path, err := finder.Path()
	require.NoError(t, err)
	text, err = audit.EncodeShardProof(receipt, wanted, at, path)
	require.NoError(t, err)
	return text, b.verifier()
}

func TestAShardIsProven(t *testing.T) {
	for _, size := range []int64{1, 2, 3, 1000, 100_001} {
		index := rand.Int64N(size)
		text, key := shardProof(t, size, index)
		require.True(t, audit.IsShardProof(text))
		require.LessOrEqual(t, len(text), 6<<10, "some KiB, whatever the number of shards")
		p, err := audit.OpenShardProof(text, key)
		require.NoError(t, err)
		require.Equal(t, index, p.Index)
		require.Equal(t, 2*index, p.Line.Shard)
		require.Len(t, p.Receipt.Witnesses, 1)
	}
	text, key := shardProof(t, 1000, 417)
	for name, c := range map[string]struct{ old, with, want string }{
		"another index":  {`"index":417`, `"index":416`, "is not one of those"},
		"no such index":  {`"index":417`, `"index":1000`, "cannot be that"},
		"another shard":  {`"shard":834`, `"shard":836`, "is not one of those"},
		"no such shard":  {`"shard":834`, `"shard":2000`, "cannot be that"},
		"another output": {`"line":{"shard":834,"output":"e`, `"line":{"shard":834,"output":"f`, "is not one of those"},
		"no path":        {`"path":["`, `"path":["x","`, "cannot be read"},
		"another kind":   {`"receipt-shard"`, `"receipt"`, "this is no proof of a shard"},
		"later":          {`"receipt-shard","v":1`, `"receipt-shard","v":2`, "has version 2"},
	} {
		changed := bytes.Replace(text, []byte(c.old), []byte(c.with), 1)
		require.NotEqual(t, text, changed, name)
		_, err := audit.OpenShardProof(changed, key)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := audit.OpenShardProof(bytes.Repeat([]byte{' '}, audit.MaxShardProofBytes+1), key)
	require.ErrorContains(t, err, "at most")
	_, err = audit.OpenShardProof(text, newBook(t, 1, 1).verifier())
	require.ErrorContains(t, err, "the key to verify with is")
}

func TestNoByteOfAProofOfAShardCanBeChanged(t *testing.T) {
	text, key := shardProof(t, 100, 41)
	noByteCanBeChanged(t, text, func(text []byte) error { _, err := audit.OpenShardProof(text, key); return err })
}

func FuzzShardProof(f *testing.F) {
	sound, key := shardProof(f, 10, 4)
	f.Add(sound)
	f.Add([]byte(`{"ostraka":"receipt-shard","v":1,"receipt":{},"line":{},"index":0,"path":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		audit.IsShardProof(text)
		if _, err := audit.OpenShardProof(text, key); err == nil && !bytes.Equal(text, sound) {
			t.Fatalf("a proof that was not made passes: %s", text)
		}
	})
}
