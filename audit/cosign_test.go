package audit_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

const agentID = "01a20052-17b6-78a0-af4f-12089b0e5f52"

var signedAt = time.Unix(1_800_000_123, 0).UTC()

func witnessKey(t testing.TB) (ed25519.PrivateKey, string) {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	text, err := audit.Witness(agentID, public)
	require.NoError(t, err)
	return key, text
}

func (b *book) head(size int64) audit.Checkpoint {
	c, err := audit.Open(b.heads[size], b.verifier())
	require.NoError(b.t, err)
	return c
}

func TestACosignatureVerifies(t *testing.T) {
	b := newBook(t, 20, 10)
	key, witness := witnessKey(t)
	signed, err := audit.Cosign(b.heads[20], b.verifier(), agentID, key, signedAt)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(signed), string(b.heads[20])), "the log's own note stands in front")

	c, err := audit.OpenCosigned(signed, b.verifier(), witness)
	require.NoError(t, err)
	require.Equal(t, b.head(20), c.Checkpoint)
	require.Equal(t, signedAt, c.At)
	require.Equal(t, string(signed), audit.WithCosignatures(string(b.heads[20]), c.Line))
	_, err = audit.Open(signed, b.verifier())
	require.NoError(t, err, "readers that know no witness still read it")

	again, err := audit.Cosign(signed, b.verifier(), agentID, key, signedAt)
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(signed), "\n"), strings.Count(string(again), "\n"), "cosignatures of others are left out")
}

// TestACosignatureIsAsTheSpecificationSays verifies one by hand, from the text of C2SP tlog-cosignature.
func TestACosignatureIsAsTheSpecificationSays(t *testing.T) {
	b := newBook(t, 20, 10)
	key, witness := witnessKey(t)
	signed, err := audit.Cosign(b.heads[20], b.verifier(), agentID, key, signedAt)
	require.NoError(t, err)
	body, signatures, _ := strings.Cut(string(signed), "\n\n")
	fields := strings.Fields(strings.Split(signatures, "\n")[1])
	require.Equal(t, []string{"—", "ostraka/agents/" + agentID}, fields[:2])
	raw, err := base64.StdEncoding.DecodeString(fields[2])
	require.NoError(t, err)
	public := key.Public().(ed25519.PublicKey)
	id := sha256.Sum256([]byte("ostraka/agents/" + agentID + "\n\x04" + string(public)))
	require.Equal(t, id[:4], raw[:4])
	require.Equal(t, "ostraka/agents/"+agentID+"+"+hex.EncodeToString(id[:4])+"+"+base64.StdEncoding.EncodeToString(append([]byte{4}, public...)), witness)
	require.EqualValues(t, signedAt.Unix(), binary.BigEndian.Uint64(raw[4:12]))
	require.True(t, ed25519.Verify(public, []byte("cosignature/v1\ntime 1800000123\n"+body+"\n"), raw[12:]))
}

func TestACosignatureOfSomethingElseIsRefused(t *testing.T) {
	b, other := newBook(t, 20, 10), newBook(t, 20, 10)
	key, witness := witnessKey(t)
	_, stranger := witnessKey(t)
	signed, err := audit.Cosign(b.heads[20], b.verifier(), agentID, key, signedAt)
	require.NoError(t, err)
	c, err := audit.OpenCosigned(signed, b.verifier(), witness)
	require.NoError(t, err)
	for name, c := range map[string]struct{ text, log, witness string }{
		"another witness":         {string(signed), b.verifier(), stranger},
		"another log":             {string(signed), other.verifier(), witness},
		"no cosignature":          {string(b.heads[20]), b.verifier(), witness},
		"of another checkpoint":   {audit.WithCosignatures(string(b.heads[10]), c.Line), b.verifier(), witness},
		"with more than was said": {string(signed) + strings.Replace(c.Line, "ostraka/agents", "ostraka/others", 1), b.verifier(), witness},
		"too long":                {string(signed) + strings.Repeat("x", audit.MaxCheckpointBytes), b.verifier(), witness},
		"a garbled key":           {string(signed), b.verifier(), "no key"},
	} {
		_, err := audit.OpenCosigned([]byte(c.text), c.log, c.witness)
		require.Error(t, err, name)
	}
	_, err = audit.Cosign(b.heads[20], other.verifier(), agentID, key, signedAt)
	require.Error(t, err, "a witness signs nothing that the log has not signed")
	_, err = audit.Witness(agentID, key.Public().(ed25519.PublicKey)[:31])
	require.Error(t, err)
}

func TestNoMoreCosignaturesThanANoteHolds(t *testing.T) {
	lines := make([]string, audit.MaxCosignatures+1)
	for i := range lines {
		lines[i] = strings.Repeat("—", i+1) + "\n"
	}
	require.Equal(t, audit.MaxCosignatures, strings.Count(audit.WithCosignatures("", lines[:audit.MaxCosignatures]...), "\n"))
	require.Equal(t, audit.MaxCosignatures, strings.Count(audit.WithCosignatures("", lines...), "\n"))
}

// TestConsistencyHoldsForPrefixesOnly tries logs of many sizes, and a change of any hash.
func TestConsistencyHoldsForPrefixesOnly(t *testing.T) {
	b := newBook(t, 70, 1)
	other := newBook(t, 3, 1)
	other.add([]byte("something else"))
	for other.head(int64(len(other.records))).Size < 70 {
		other.grow(1)
	}
	for range 500 {
		to := 1 + rand.Int64N(70)
		from := 1 + rand.Int64N(to)
		proof, err := audit.ProveConsistency(from, to, b.read)
		require.NoError(t, err)
		require.LessOrEqual(t, len(proof), audit.MaxConsistencyHashes)
		require.NoError(t, audit.CheckConsistency(b.head(from), b.head(to), proof))
		if to > 3 {
			require.Error(t, audit.CheckConsistency(b.head(from), other.head(to), proof), "%d to %d", from, to)
		}
		if len(proof) > 0 {
			proof[rand.IntN(len(proof))][0] ^= 1
			require.Error(t, audit.CheckConsistency(b.head(from), b.head(to), proof))
		}
	}
}

func TestConsistencyIsBounded(t *testing.T) {
	b := newBook(t, 8, 1)
	for _, c := range [][2]int64{{0, 8}, {5, 4}, {-1, 2}} {
		_, err := audit.ProveConsistency(c[0], c[1], b.read)
		require.Error(t, err)
	}
	require.Error(t, audit.CheckConsistency(b.head(8), b.head(4), nil))
	require.Error(t, audit.CheckConsistency(audit.Checkpoint{Origin: origin}, b.head(4), nil))
	stranger := b.head(4)
	stranger.Origin += "x"
	require.ErrorContains(t, audit.CheckConsistency(stranger, b.head(8), nil), "two logs")
	require.ErrorContains(t, audit.CheckConsistency(b.head(4), b.head(8), make([]audit.Hash, audit.MaxConsistencyHashes+1)), "at most")
	require.NotContains(t, audit.CheckConsistency(b.head(4), b.head(8), make([]audit.Hash, audit.MaxConsistencyHashes)).Error(), "at most")
}

// FuzzOpenCosigned reads what hostile agents send: it never panics, and what it takes both have signed.
func FuzzOpenCosigned(f *testing.F) {
	b := newBook(f, 20, 10)
	key, witness := witnessKey(f)
	signed, err := audit.Cosign(b.heads[20], b.verifier(), agentID, key, signedAt)
	require.NoError(f, err)
	verifier := b.verifier()
	f.Add(signed)
	f.Add(b.heads[10])
	f.Add([]byte("— \n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := audit.OpenCosigned(text, verifier, witness)
		if err != nil {
			return
		}
		require.Equal(t, audit.WithCosignatures(string(b.heads[c.Size]), c.Line), string(text))
	})
}
