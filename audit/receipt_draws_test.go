package audit_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

// secretOfDraws is that of the job of receipts.
var secretOfDraws = bytes.Repeat([]byte{7}, 32)

// commit adds the record of the job's submission, and is the change that has a receipt with draws made.
func (b *book) commit(change ...func(*audit.Record)) func(*audit.Statement, *audit.Record) {
	b.t.Helper()
	record := audit.Record{
		Seq: int64(len(b.records)) + 1, At: time.Unix(1_800_000_000, 0), Actor: "owner:ada", Action: audit.SubmitAction, Subject: receiptJob,
		Detail: json.RawMessage(`{"draws_sha256":"` + audit.DigestOf(secretOfDraws) + `","function":"sums"}`),
	}
	for _, c := range change {
		c(&record)
	}
	text, err := record.Canonical()
	require.NoError(b.t, err)
	b.committed, b.committedAt = text, int64(len(b.records))
	b.add(text)
	return func(s *audit.Statement, r *audit.Record) {
		r.Seq = int64(len(b.records)) + 1
		s.Draws = &audit.DrawsStated{Commitment: audit.DigestOf(secretOfDraws), Secret: hex.EncodeToString(secretOfDraws), Record: audit.DigestOf(text)}
	}
}

func TestTheSecretOfDrawsWasRecordedBefore(t *testing.T) {
	t.Parallel()
	b := newBook(t, 30, 97)
	text := b.receipt(b.commit())
	require.True(t, bytes.HasPrefix(text, []byte(`{"ostraka":"receipt","v":3,"statement":{"v":3,`)))
	r, err := audit.OpenReceipt(text, b.verifier())
	require.NoError(t, err)
	require.Equal(t, secretOfDraws, r.Statement.Draws.Key())
	require.EqualValues(t, 30, r.Committed.Index)
	require.Less(t, r.Committed.Index, r.Index)
	require.Equal(t, audit.SubmitAction, r.Committed.Record.Action)

	b.committed = nil
	r, err = audit.OpenReceipt(b.receipt(func(s *audit.Statement, _ *audit.Record) {
		s.Draws = &audit.DrawsStated{Commitment: audit.DigestOf(secretOfDraws), Secret: hex.EncodeToString(secretOfDraws)}
	}), b.verifier())
	require.NoError(t, err, "the record was pruned")
	require.Nil(t, r.Committed)
	r, err = audit.OpenReceipt(b.receipt(func(s *audit.Statement, _ *audit.Record) {
		s.Draws = &audit.DrawsStated{Commitment: audit.DigestOf(secretOfDraws)}
	}), b.verifier())
	require.NoError(t, err, "it is not shown")
	require.Nil(t, r.Statement.Draws.Key())
}

func TestAnotherSecretOfDrawsIsRefused(t *testing.T) {
	t.Parallel()
	said := func(change func(*audit.DrawsStated)) func(*book) []byte {
		return func(b *book) []byte {
			return b.receipt(b.commit(), func(s *audit.Statement, _ *audit.Record) { change(s.Draws) })
		}
	}
	recorded := func(change func(*audit.Record)) func(*book) []byte {
		return func(b *book) []byte { return b.receipt(b.commit(change)) }
	}
	for name, c := range map[string]struct {
		make func(*book) []byte
		want string
	}{
		"another secret":      {said(func(d *audit.DrawsStated) { d.Secret = strings.Repeat("08", 32) }), "is not the one whose digest was recorded"},
		"no secret":           {said(func(d *audit.DrawsStated) { d.Secret = "07" }), "its secret of draws is none"},
		"a secret in capital": {said(func(d *audit.DrawsStated) { d.Secret = strings.Repeat("0A", 32) }), "its secret of draws is none"},
		"another digest": {said(func(d *audit.DrawsStated) {
			d.Secret = strings.Repeat("08", 32)
			d.Commitment = audit.DigestOf(bytes.Repeat([]byte{8}, 32))
		}), "has another digest of the secret"},
		"no digest":              {said(func(d *audit.DrawsStated) { d.Commitment = "x" }), "a digest in it is none"},
		"another record":         {said(func(d *audit.DrawsStated) { d.Record = audit.DigestOf(nil) }), "is not the one that the statement names"},
		"a record not mentioned": {said(func(d *audit.DrawsStated) { d.Record = "" }), "is not the one that the statement names"},
		"no record": {func(b *book) []byte {
			change := b.commit()
			b.committed = nil
			return b.receipt(change)
		}, "says that there is one"},
		"of another job":     {recorded(func(r *audit.Record) { r.Subject = "another" }), "not about the submission of job"},
		"of something else":  {recorded(func(r *audit.Record) { r.Action = "job.cancel" }), "is about job.cancel"},
		"without the digest": {recorded(func(r *audit.Record) { r.Detail = json.RawMessage(`{"function":"sums"}`) }), "has another digest of the secret"},
		"a statement without draws": {func(b *book) []byte {
			return b.receipt(b.commit(), func(s *audit.Statement, _ *audit.Record) { s.Draws = nil })
		}, "is not the one that the statement names"},
	} {
		b := newBook(t, 10, 97)
		_, err := audit.OpenReceipt(c.make(b), b.verifier())
		require.ErrorContains(t, err, c.want, name)
	}
}

// TestTheSecretIsNotRecordedAfterwards: a digest that was recorded after the receipt commits to nothing.
func TestTheSecretIsNotRecordedAfterwards(t *testing.T) {
	t.Parallel()
	b := newBook(t, 10, 97)
	text := b.receipt(func(s *audit.Statement, r *audit.Record) {
		record := audit.Record{
			Seq: r.Seq + 1, At: time.Unix(1_800_000_200, 0), Actor: "owner:ada", Action: audit.SubmitAction, Subject: receiptJob,
			Detail: json.RawMessage(`{"draws_sha256":"` + audit.DigestOf(secretOfDraws) + `"}`),
		}
		late, err := record.Canonical()
		require.NoError(t, err)
		b.late = late
		s.Draws = &audit.DrawsStated{Commitment: audit.DigestOf(secretOfDraws), Secret: hex.EncodeToString(secretOfDraws), Record: audit.DigestOf(late)}
	})
	_, err := audit.OpenReceipt(text, b.verifier())
	require.ErrorContains(t, err, "was recorded after the receipt")
}

// TestBothRecordsAreByOneHead: a proof by another head, or with other signatures behind it, is refused.
func TestBothRecordsAreByOneHead(t *testing.T) {
	t.Parallel()
	b := newBook(t, 10, 97)
	var parts map[string]json.RawMessage
	text := b.receipt(b.commit())
	require.NoError(t, json.Unmarshal(text, &parts))
	size := b.committedAt + 1
	proof, err := audit.Prove(b.committedAt, size, b.heads[size], b.read)
	require.NoError(t, err)
	older, err := json.Marshal(audit.CommitmentStated{Record: b.committed, Proof: string(proof)})
	require.NoError(t, err)
	changed := bytes.Replace(text, parts["commitment"], older, 1)
	require.NotEqual(t, text, changed)
	_, err = audit.OpenReceipt(changed, b.verifier())
	require.Error(t, err)
}
