package audit_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

var restartedAt = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// restart has the book begin anew, and returns the record.
func (b *book) restart(lost *audit.StatedHead, change ...func(*audit.Restart)) []byte {
	b.t.Helper()
	size := int64(len(b.records))
	r := audit.Restart{Reason: "restored the backup of 3 May", From: b.origin, Origin: audit.NextEpoch(restartedAt, b.origin), Restored: audit.State(b.head(size)), Lost: lost}
	detail, err := r.Detail()
	require.NoError(b.t, err)
	for _, c := range change {
		c(&r)
		detail, err = json.Marshal(map[string]any{"from": r.From, "origin": r.Origin, "reason": r.Reason, "restored": r.Restored})
		require.NoError(b.t, err)
	}
	text, err := audit.Record{Seq: size + 1, At: restartedAt, Actor: "owner:ada", Action: audit.RestartAction, Subject: "p", Detail: detail}.Canonical()
	require.NoError(b.t, err)
	b.origin = r.Origin
	b.add(text)
	return text
}

// restored is a book that had more records than its backup, and was begun anew after it was restored.
func restored(t testing.TB) (b *book, lost audit.Checkpoint) {
	t.Helper()
	b = newBook(t, 600, 97)
	longer := &book{t: t, key: b.key, records: b.records[:len(b.records):len(b.records)], nodes: b.nodes[:len(b.nodes):len(b.nodes)], heads: map[int64][]byte{}, origin: b.origin}
	longer.grow(50)
	lost = longer.head(650)
	stated := audit.State(lost)
	b.restart(&stated)
	b.grow(60)
	return b, lost
}

func TestALogThatBeganAnewVerifies(t *testing.T) {
	b, lost := restored(t)
	first := headBefore(b, 600)
	report := b.verify(b.export(nil), first)
	require.Empty(t, report.Faults)
	require.Len(t, report.Restarts, 1)
	r := report.Restarts[0]
	require.EqualValues(t, 600, r.Index)
	require.Equal(t, "restored the backup of 3 May", r.Reason)
	require.Equal(t, int64(650), r.Lost.Size)
	require.Equal(t, origin+"/20260504T030201Z", report.Origin)
	require.EqualValues(t, 661, report.Records)

	old, err := b.key.Verifier(origin)
	require.NoError(t, err)
	report, err = audit.Verify(bytes.NewReader(b.export(nil)), old)
	require.NoError(t, err, "whoever knows the key of before verifies what came since")
	require.Empty(t, report.Faults)
	report = b.verify(b.export(nil), lost)
	require.Equal(t, []audit.FaultKind{audit.Lost}, kindsOf(report))
	require.Equal(t, [2]int64{600, 650}, [2]int64{report.Faults[0].From, report.Faults[0].To})
	require.EqualValues(t, 661, report.Size, "what came since is vouched for all the same")

	again := b.restart(nil)
	require.NotEmpty(t, again)
	b.grow(300)
	report = b.verify(b.export(nil), first)
	require.Empty(t, report.Faults)
	require.Len(t, report.Restarts, 2)
	require.Equal(t, origin+"/20260504T030202Z", report.Origin, "an epoch comes after the one before, whatever the clock says")
}

func kindsOf(r *audit.Report) (kinds []audit.FaultKind) {
	for _, f := range r.Faults {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}

// headBefore is the head that a book had at a size of its first epoch.
func headBefore(b *book, size int64) audit.Checkpoint {
	b.t.Helper()
	c, err := audit.OpenEpoch(b.heads[size], b.verifier())
	require.NoError(b.t, err)
	return c
}

// TestNoRestartIsHidden has a server that holds the key do what it can to begin anew unseen.
func TestNoRestartIsHidden(t *testing.T) {
	rename := func(b *book) { b.origin = audit.NextEpoch(restartedAt, b.origin) }
	for name, c := range map[string]struct {
		do   func(b *book)
		want audit.FaultKind
	}{
		"no record says so":          {rename, audit.Renamed},
		"a record of something else": {func(b *book) { rename(b); b.grow(300) }, audit.Renamed},
		"from a log of another name": {func(b *book) { b.restart(nil, func(r *audit.Restart) { r.From = origin + "/20200101T000000Z" }) }, audit.Renamed},
		"from a head that was not signed": {func(b *book) {
			b.restart(nil, func(r *audit.Restart) { r.Restored.Root = audit.State(b.head(97)).Root })
		}, audit.Rewritten},
		"the name of before goes on": {func(b *book) { was := b.origin; b.restart(nil); b.origin = was }, audit.Renamed},
	} {
		b := newBook(t, 400, 97)
		c.do(b)
		b.grow(20)
		require.Contains(t, kindsOf(b.verify(b.export(nil))), c.want, name)
	}
	b, _ := restored(t)
	report := b.verify(b.export(func(index int) bool { return index == 600 }))
	require.Contains(t, kindsOf(report), audit.Renamed, "one that was pruned explains nothing")
}

func TestEpochsOfALog(t *testing.T) {
	for origin, want := range map[string][2]string{
		"ostraka/server/x":                  {"ostraka/server/x", ""},
		"ostraka/server/x/20260504T030201Z": {"ostraka/server/x", "20260504T030201Z"},
		"ostraka/server/x/20261304T030201Z": {"ostraka/server/x/20261304T030201Z", ""},
		"ostraka/server/x/2026":             {"ostraka/server/x/2026", ""},
		"x":                                 {"x", ""},
		"":                                  {"", ""},
	} {
		log, epoch := audit.Epoch(origin)
		require.Equal(t, want, [2]string{log, epoch}, origin)
	}
	b, other := newBook(t, 3, 3), newBook(t, 3, 3)
	since, err := b.key.Verifier(audit.NextEpoch(restartedAt, origin))
	require.NoError(t, err)
	require.True(t, audit.SameLog(b.verifier(), since))
	require.True(t, audit.SameLog(since, b.verifier()))
	require.False(t, audit.SameLog(b.verifier(), other.verifier()), "another key")
	stranger, err := b.key.Verifier(origin + "x")
	require.NoError(t, err)
	require.False(t, audit.SameLog(b.verifier(), stranger), "another log")
	require.False(t, audit.SameLog(b.verifier(), "nonsense"))
	require.False(t, audit.SameLog(b.verifier(), since+" "), "not written as one is")
	bare, err := audit.Bare(append(bytes.Clone(b.heads[3]), "— somebody AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"...), since)
	require.NoError(t, err)
	require.Equal(t, b.heads[3], bare)
	_, err = audit.Bare(b.heads[3], other.verifier())
	require.Error(t, err)
}

// provenRestart is the record of a restart, its proof and the key that verifies it.
func provenRestart(t testing.TB) (record, proof []byte, key string) {
	t.Helper()
	b, _ := restored(t)
	record = b.records[600]
	size := int64(len(b.records))
	proof, err := audit.Prove(600, size, b.heads[size], b.read)
	require.NoError(t, err)
	return record, proof, b.verifier()
}

func TestARestartIsProven(t *testing.T) {
	record, proof, key := provenRestart(t)
	r, err := audit.OpenRestart(record, proof, key)
	require.NoError(t, err)
	require.EqualValues(t, 600, r.Index)
	require.Equal(t, "owner:ada", r.Actor)
	require.Equal(t, origin, r.From)
	for i := range record {
		changed := bytes.Clone(record)
		changed[i] ^= byte(rand.UintN(255) + 1)
		_, err := audit.OpenRestart(changed, proof, key)
		require.Error(t, err, "byte %d", i)
	}
	for i := range proof {
		changed := bytes.Clone(proof)
		changed[i] ^= byte(rand.UintN(255) + 1)
		_, err := audit.OpenRestart(record, changed, key)
		require.Error(t, err, "byte %d of the proof", i)
	}
	_, err = audit.OpenRestart(record, proof, newBook(t, 1, 1).verifier())
	require.Error(t, err)
}

func TestARestartSaysWhatItMust(t *testing.T) {
	sound := audit.Restart{Reason: "x", From: origin, Origin: origin + "/20260504T030201Z", Restored: audit.State(audit.Checkpoint{Size: 1})}
	_, err := sound.Detail()
	require.NoError(t, err)
	for name, change := range map[string]func(*audit.Restart){
		"no reason":               func(r *audit.Restart) { r.Reason = "" },
		"too long a reason":       func(r *audit.Restart) { r.Reason = strings.Repeat("é", audit.MaxRestartReason+1) },
		"two lines":               func(r *audit.Restart) { r.Reason = "a\nb" },
		"no other name":           func(r *audit.Restart) { r.Origin = r.From },
		"another log":             func(r *audit.Restart) { r.Origin = "ostraka/server/x/20260504T030201Z" },
		"an epoch of before":      func(r *audit.Restart) { r.From = origin + "/20260504T030202Z" },
		"nothing was restored":    func(r *audit.Restart) { r.Restored.Size = 0 },
		"no root":                 func(r *audit.Restart) { r.Restored.Root = "AAAA" },
		"no root of what is lost": func(r *audit.Restart) { r.Lost = &audit.StatedHead{Size: 1} },
		"too long a checkpoint": func(r *audit.Restart) {
			lost := audit.State(audit.Checkpoint{Size: 1})
			lost.Checkpoint = strings.Repeat("x", audit.MaxRestartBytes/2+1)
			r.Lost = &lost
		},
	} {
		r := sound
		change(&r)
		_, err := r.Detail()
		require.Error(t, err, name)
	}
	sound.Reason = strings.Repeat("é", audit.MaxRestartReason)
	_, err = sound.Detail()
	require.NoError(t, err, "at the limit")
	_, err = audit.ParseRestart(bytes.Repeat([]byte{'x'}, audit.MaxRestartBytes+1))
	require.ErrorContains(t, err, "at most")
	record, err := audit.Record{Seq: 1, Action: "job.submit"}.Canonical()
	require.NoError(t, err)
	_, err = audit.ParseRestart(record)
	require.ErrorContains(t, err, "the record is about job.submit")
}

// TestNoByteOfAnExportThatBeganAnewCanBeChanged changes 10,000 bytes of an export.
func TestNoByteOfAnExportThatBeganAnewCanBeChanged(t *testing.T) {
	b := newBook(t, 30, 10)
	b.restart(nil)
	b.grow(5)
	sound := b.export(nil)
	for range 10_000 {
		changed := bytes.Clone(sound)
		at := rand.IntN(len(changed))
		changed[at] ^= byte(rand.UintN(255) + 1)
		report, err := audit.Verify(bytes.NewReader(changed), b.verifier())
		if err == nil && report.Sound() {
			require.Failf(t, "a changed export passes", "at %d: %s", at, changed[max(0, at-20):min(len(changed), at+20)])
		}
	}
}

func FuzzRestart(f *testing.F) {
	record, proof, key := provenRestart(f)
	f.Add(record, proof)
	f.Add([]byte("{}"), []byte("c2sp.org/tlog-proof@v1\nindex 0\n\n"))
	f.Fuzz(func(t *testing.T, text, by []byte) {
		if _, err := audit.OpenRestart(text, by, key); err == nil && !bytes.Equal(text, record) {
			t.Fatalf("a restart that was not made passes: %s", text)
		}
		_, _ = audit.ParseRestart(text)
	})
}
