package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

const receiptJob = "01a20052-1111-7723-86c4-b07d6b8e85ba"

var digestOfNothing = audit.DigestOf(nil)

func aStatement() audit.Statement {
	return audit.Statement{
		Project: strings.TrimPrefix(origin, "ostraka/projects/"), Job: receiptJob, Run: 1, State: "finished", CreatedBy: "owner:ada",
		CreatedAt: time.Unix(1_800_000_000, 1000).UTC(), FinishedAt: time.Unix(1_800_000_100, 0).UTC(),
		Function:  audit.FunctionStated{Name: "sums", Version: 3, Digest: digestOfNothing},
		Partition: json.RawMessage(`{"kind":"range","from":"18446744073709551629","to":"170141183460469231731687303715884105727","size":"10"}`),
		Policy:    json.RawMessage(`{"quorum":2,"confirm":"output.n < 3"}`), Aggregator: json.RawMessage(`{"module":"sum","digest":"` + digestOfNothing + `"}`),
		Shards: audit.ShardsStated{Total: 3, Accepted: 2, Failed: 1, Root: digestOfNothing},
		Answer: &audit.AnswerStated{Count: 2, Digest: audit.DigestOf([]byte(`{"n":"<é>"}`)), Value: json.RawMessage(`{"n":"<é>"}`)},
	}
}

// receipt makes one that the book has a record of, among others.
func (b *book) receipt(change ...func(*audit.Statement, *audit.Record)) []byte {
	b.t.Helper()
	said := aStatement()
	record := audit.Record{Seq: int64(len(b.records)) + 1, At: time.Unix(1_800_000_101, 0), Actor: "owner:ada", Action: audit.ReceiptAction, Subject: said.Job}
	for _, c := range change {
		c(&said, &record)
	}
	statement, err := said.Canonical()
	require.NoError(b.t, err)
	if record.Detail == nil {
		record.Detail = json.RawMessage(`{"digest":"` + audit.DigestOf(statement) + `","run":1}`)
	}
	text, err := record.Canonical()
	require.NoError(b.t, err)
	index := int64(len(b.records))
	b.add(text)
	if b.late != nil {
		b.committed, b.committedAt = b.late, index+1
		b.add(b.late)
	}
	b.grow(5)
	size := int64(len(b.records))
	head, keys := b.heads[size], []string{}
	for i := range b.witnesses {
		key, witness := b.witness(i)
		signed, err := audit.Cosign(b.heads[size], b.verifier(), witnessID(i), key, signedAt)
		require.NoError(b.t, err)
		cosigned, err := audit.OpenCosigned(signed, b.verifier(), witness)
		require.NoError(b.t, err)
		head, keys = append(bytes.Clone(head), cosigned.Line...), append(keys, witness)
	}
	proof, err := audit.Prove(index, size, head, b.read)
	require.NoError(b.t, err)
	parts := audit.ReceiptParts{Statement: statement, Record: text, Proof: proof, Key: b.verifier(), Witnesses: keys}
	if b.committed != nil {
		proof, err := audit.Prove(b.committedAt, size, head, b.read)
		require.NoError(b.t, err)
		parts.Commitment = &audit.CommitmentStated{Record: b.committed, Proof: string(proof)}
	}
	receipt, err := audit.EncodeReceipt(parts)
	require.NoError(b.t, err)
	return receipt
}

func witnessID(i int) string { return fmt.Sprintf("01a20052-17b6-78a0-af4f-%012d", i) }

// witness is the key of the book's witness with that number, always the same.
func (b *book) witness(i int) (ed25519.PrivateKey, string) {
	b.t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize))
	text, err := audit.Witness(witnessID(i), key.Public().(ed25519.PublicKey))
	require.NoError(b.t, err)
	return key, text
}

func TestAReceiptIsVerified(t *testing.T) {
	b := newBook(t, 300, 97)
	text := b.receipt()
	r, err := audit.OpenReceipt(text, b.verifier())
	require.NoError(t, err)
	require.False(t, r.OwnKey)
	want := aStatement()
	want.V = 1
	require.Equal(t, want, r.Statement)
	require.EqualValues(t, 300, r.Index)
	require.EqualValues(t, 306, r.Head.Size)
	require.Equal(t, "owner:ada", r.Record.Actor)
	r, err = audit.OpenReceipt(text, "")
	require.NoError(t, err)
	require.True(t, r.OwnKey, "whoever made the receipt has made the key as well")
	_, err = audit.OpenReceipt(text, newBook(t, 1, 1).verifier())
	require.ErrorContains(t, err, "the key to verify with is")
}

// TestNoByteOfAReceiptCanBeChanged changes every byte of a receipt, leaves bytes out, doubles them, and truncates the receipt.
func TestNoByteOfAReceiptCanBeChanged(t *testing.T) {
	for witnesses := range 3 {
		b := newBook(t, 30, 97)
		b.witnesses = witnesses
		noByteCanBeChanged(t, b.receipt(), func(text []byte) error { _, err := audit.OpenReceipt(text, b.verifier()); return err })
	}
}

// noByteCanBeChanged changes every byte and leaves some out, and then changes 10,000 of them by chance.
func noByteCanBeChanged(t *testing.T, sound []byte, open func(text []byte) error) {
	t.Helper()
	require.NoError(t, open(sound))
	refused := func(text []byte, what string, at int) {
		if err := open(text); err == nil {
			require.Failf(t, "a changed receipt passes", "%s at %d: %s", what, at, text[max(0, at-20):min(len(text), at+20)])
		} else {
			require.NotEmpty(t, err.Error())
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range sound {
		changed := bytes.Clone(sound)
		changed[i] ^= byte(r.UintN(255) + 1)
		refused(changed, "changed", i)
		if i%5 > 0 {
			continue
		}
		refused(append(bytes.Clone(sound[:i]), sound[i+1:]...), "left out", i)
		refused(append(append(bytes.Clone(sound[:i]), sound[i]), sound[i:]...), "doubled", i)
		refused(sound[:i], "truncated", i)
	}
	for range 10_000 {
		changed, at := bytes.Clone(sound), r.IntN(len(sound))
		changed[at] ^= byte(r.UintN(255) + 1)
		refused(changed, "changed", at)
	}
	refused(append(bytes.Clone(sound), ' '), "appended", len(sound))
	refused(append(bytes.Clone(sound), sound...), "doubled", len(sound))
}

// TestNoByteOfAReceiptWithDrawsCanBeChanged is the same with the secret of draws, and the record of its digest.
func TestNoByteOfAReceiptWithDrawsCanBeChanged(t *testing.T) {
	t.Parallel()
	b := newBook(t, 30, 97)
	b.witnesses = 1
	noByteCanBeChanged(t, b.receipt(b.commit()), func(text []byte) error { _, err := audit.OpenReceipt(text, b.verifier()); return err })
}

func TestAReceiptThatTheLogDoesNotVouchForIsRefused(t *testing.T) {
	other := "01a20052-2222-7723-86c4-b07d6b8e85ba"
	for name, c := range map[string]struct {
		change func(*audit.Statement, *audit.Record)
		want   string
	}{
		"a record of something else":   {func(_ *audit.Statement, r *audit.Record) { r.Action = "job.submit" }, "the record is about job.submit"},
		"a record of another job":      {func(_ *audit.Statement, r *audit.Record) { r.Subject = other }, "and not about a receipt of the job"},
		"a record of another digest":   {func(_ *audit.Statement, r *audit.Record) { r.Detail = json.RawMessage(`{"digest":"00"}`) }, "it was changed"},
		"a record without a digest":    {func(_ *audit.Statement, r *audit.Record) { r.Detail = json.RawMessage(`{"digest":7}`) }, "the record of the receipt"},
		"the log of another project":   {func(s *audit.Statement, _ *audit.Record) { s.Project = other }, "not in that of the project"},
		"another answer than its hash": {func(s *audit.Statement, _ *audit.Record) { s.Answer.Value = json.RawMessage(`{"n":4}`) }, "its answer is not the one"},
		"no digest of the function":    {func(s *audit.Statement, _ *audit.Record) { s.Function.Digest = strings.ToUpper(digestOfNothing) }, "a digest in it is none"},
		"more shards than there are":   {func(s *audit.Statement, _ *audit.Record) { s.Shards.Failed = 2 }, "counts of shards"},
		"shards that overflow": {func(s *audit.Statement, _ *audit.Record) {
			s.Shards.Accepted, s.Shards.Failed, s.Shards.Total = math.MaxInt64, math.MaxInt64, -1
		}, "it is about -1 shards"},
		"more shards than any job has":   {func(s *audit.Statement, _ *audit.Record) { s.Shards.Total = audit.MaxReceiptShards + 1 }, "at most 10000000"},
		"an answer of other results":     {func(s *audit.Statement, _ *audit.Record) { s.Answer.Count = 999 }, "its answer is made of 999 results"},
		"further results without digest": {func(s *audit.Statement, _ *audit.Record) { s.Answer.Rows = "forged" }, "a digest in it is none"},
	} {
		b := newBook(t, 10, 97)
		_, err := audit.OpenReceipt(b.receipt(c.change), b.verifier())
		require.ErrorContains(t, err, c.want, name)
	}
}

// TestNoSignatureIsAddedToAReceipt: nothing vouches for what others have signed beside the log.
func TestNoSignatureIsAddedToAReceipt(t *testing.T) {
	b := newBook(t, 10, 97)
	sound := b.receipt()
	more := bytes.Replace(sound, []byte(`","key":"`), []byte("\u2014 somebody AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\\n"+`","key":"`), 1)
	require.NotEqual(t, sound, more)
	_, err := audit.OpenReceipt(more, b.verifier())
	require.ErrorContains(t, err, "signatures of others")
}

// TestWitnessesOfAReceipt opens receipts that agents have co-signed, and such that say more or less than was signed.
func TestWitnessesOfAReceipt(t *testing.T) {
	b := newBook(t, 10, 97)
	b.witnesses = audit.MaxReceiptWitnesses
	text := b.receipt()
	r, err := audit.OpenReceipt(text, b.verifier())
	require.NoError(t, err)
	require.Len(t, r.Witnesses, audit.MaxReceiptWitnesses)
	_, second := b.witness(1)
	require.Equal(t, audit.WitnessSeen{Name: audit.WitnessName(witnessID(1)), Key: second, At: signedAt}, r.Witnesses[1])
	require.LessOrEqual(t, len(text), audit.MaxReceiptBytes)
	b.witnesses++
	_, err = audit.OpenReceipt(b.receipt(), b.verifier())
	require.ErrorContains(t, err, "at most 16", "one past the limit")

	b.witnesses = 3
	sound := b.receipt()
	_, third := b.witness(2)
	_, stranger := b.witness(7)
	entry := func(key string) []byte { return []byte(`{"key":"` + key + `"}`) }
	for name, changed := range map[string][]byte{
		"one is not named":      bytes.Replace(sound, append([]byte{','}, entry(third)...), nil, 1),
		"one is another":        bytes.Replace(sound, entry(third), entry(stranger), 1),
		"one is named twice":    bytes.Replace(sound, entry(third), entry(second), 1),
		"one more is named":     bytes.Replace(sound, entry(third), append(append(entry(third), ','), entry(stranger)...), 1),
		"in another order":      bytes.Replace(bytes.Replace(bytes.Replace(sound, entry(third), []byte("X"), 1), entry(second), entry(third), 1), []byte("X"), entry(second), 1),
		"of the version before": bytes.Replace(sound, []byte(`"receipt","v":2`), []byte(`"receipt","v":1`), 1),
	} {
		require.NotEqual(t, sound, changed, name)
		_, err := audit.OpenReceipt(changed, b.verifier())
		require.Error(t, err, name)
	}
	b.witnesses = 0
	require.Contains(t, string(b.receipt()), `{"ostraka":"receipt","v":1,`, "one without witnesses is read by programs of before")
}

func TestAReceiptHasBounds(t *testing.T) {
	b := newBook(t, 10, 97)
	said := aStatement()
	said.Error = strings.Repeat("x", audit.MaxStatementBytes)
	_, err := said.Canonical()
	require.ErrorContains(t, err, "at most")
	_, err = audit.OpenReceipt(bytes.Repeat([]byte{' '}, audit.MaxReceiptBytes+1), b.verifier())
	require.ErrorContains(t, err, "longer than that of any receipt")
	for _, text := range []string{"", "{}", "null", "[]", `{"ostraka":"audit-export","v":1}`, "\x1f\x8b"} {
		_, err := audit.OpenReceipt([]byte(text), b.verifier())
		require.ErrorContains(t, err, "this is no receipt", text)
	}
	_, err = audit.OpenReceipt([]byte(`{"ostraka":"receipt","v":2}`), b.verifier())
	require.ErrorContains(t, err, "version 2")
}

// TestTheLargestStatementFitsAReceipt: whatever a job is, there is a receipt for it.
func TestTheLargestStatementFitsAReceipt(t *testing.T) {
	part := json.RawMessage(`"` + strings.Repeat("x", audit.MaxReceiptPart-2) + `"`)
	b := newBook(t, 1000, 97)
	b.witnesses = audit.MaxReceiptWitnesses
	text := b.receipt(func(s *audit.Statement, _ *audit.Record) {
		s.Partition, s.Policy, s.Validator, s.Aggregator, s.Verification = part, part, part, part, part
		s.Error = strings.Repeat("é", audit.MaxReceiptPart/2)
		s.Answer.Value = json.RawMessage(`"` + strings.Repeat("y", audit.MaxReceiptValue-2) + `"`)
		s.Answer.Digest = audit.DigestOf(s.Answer.Value)
		s.Function.Signature = strings.Repeat("0", 1024)
	}, b.commit())
	require.LessOrEqual(t, len(text), audit.MaxReceiptBytes)
	_, err := audit.OpenReceipt(text, b.verifier())
	require.NoError(t, err)
}

func TestLinesOfShardsAreCanonical(t *testing.T) {
	sound, err := audit.ShardLine{Shard: 7, Output: digestOfNothing, Agents: []string{"a", "b"}, Server: true}.Canonical()
	require.NoError(t, err)
	require.Equal(t, `{"shard":7,"output":"`+digestOfNothing+`","agents":["a","b"],"server":true}`, string(sound))
	alone, err := audit.ShardLine{Output: digestOfNothing}.Canonical()
	require.NoError(t, err)
	about, err := audit.ShardLine{Shard: 7, Output: digestOfNothing, Agents: []string{"a", "b"}, Draw: audit.DrawOf{Agent: "b", Rate: 100, Window: 3, Drawn: true}.Among([]string{"a", "b"})}.Canonical()
	require.NoError(t, err)
	drawn := string(about)
	require.Equal(t, `{"shard":7,"output":"`+digestOfNothing+`","agents":["a","b"],"server":false,"draw":{"agent":1,"rate":100,"window":3,"drawn":true}}`, drawn)
	require.Nil(t, audit.DrawOf{Agent: "c", Rate: 100}.Among([]string{"a", "b"}), "an agent that the line does not name")
	for _, text := range [][]byte{sound, alone, about} {
		_, err = audit.ParseShardLine(text)
		require.NoError(t, err)
	}
	for _, text := range []string{
		"", "{}", string(sound) + " ", strings.Replace(string(sound), `"server":true`, `"server":true,"x":1`, 1), strings.Replace(string(sound), "7", "-7", 1),
		strings.Replace(string(sound), digestOfNothing, "00", 1), strings.Replace(string(sound), `["a","b"]`, "null", 1),
		strings.Replace(drawn, `"rate":100`, `"rate":0`, 1), strings.Replace(drawn, `"rate":100`, `"rate":10001`, 1), strings.Replace(drawn, `"window":3`, `"window":-3`, 1),
		strings.Replace(drawn, `"window":3`, `"window":2147483648`, 1), strings.Replace(drawn, `"agent":1`, `"agent":2`, 1), strings.Replace(drawn, `"agent":1`, `"agent":-1`, 1),
		strings.Replace(drawn, `"drawn":true`, `"drawn":false`, 1), strings.Replace(drawn, `"agent":1,`, `"agent":0,`, 1),
		strings.Replace(string(sound), `["a","b"]`, "["+strings.Repeat(`"a",`, audit.MaxShardAgents)+`"a"]`, 1), strings.Repeat("x", audit.MaxShardLine+1),
	} {
		_, err := audit.ParseShardLine([]byte(text))
		require.Error(t, err, text)
	}
	_, err = audit.ShardLine{Output: strings.Repeat("x", audit.MaxShardLine)}.Canonical()
	require.Error(t, err)
}

func FuzzReceipt(f *testing.F) {
	b := newBook(f, 10, 97)
	sound, key := b.receipt(), b.verifier()
	b.witnesses = 1
	witnessed := b.receipt()
	drawn := b.receipt(b.commit())
	f.Add(drawn)
	f.Add(sound)
	f.Add(witnessed)
	f.Add([]byte(`{"ostraka":"receipt","v":1,"statement":{},"record":{},"proof":"","key":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := audit.OpenReceipt(text, key); err == nil && !bytes.Equal(text, sound) && !bytes.Equal(text, witnessed) && !bytes.Equal(text, drawn) {
			t.Fatalf("a receipt that was not made passes: %s", text)
		}
		_, _ = audit.ParseShardLine(text)
	})
}
