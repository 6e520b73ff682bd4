package audit_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

func TestASoundLogVerifies(t *testing.T) {
	for _, size := range []int{1, 2, 3, 255, 256, 257, 700, 1024} {
		b := newBook(t, size, 97)
		report := b.verify(b.export(nil))
		require.Empty(t, report.Faults, "%d records", size)
		require.EqualValues(t, size, report.Records)
		require.EqualValues(t, size, report.Size)
		require.Equal(t, origin, report.Newest.Origin)
	}
}

func TestPrunedRecordsVerifyAndAreCounted(t *testing.T) {
	b := newBook(t, 700, 97)
	report := b.verify(b.export(func(i int) bool { return i < 300 }))
	require.Empty(t, report.Faults)
	require.EqualValues(t, 300, report.Pruned)
	require.EqualValues(t, 400, report.Records)
}

// lines are an export without the end of each line; at is the place of a record's line.
func lines(export []byte) []string {
	return strings.Split(strings.TrimSuffix(string(export), "\n"), "\n")
}

func at(all []string, record int) int {
	for i, l := range all {
		if strings.HasPrefix(l, fmt.Sprintf(`{"index":%d,`, record)) {
			return i
		}
	}
	return -1
}

func without(all []string, i int) []string {
	return append(append([]string{}, all[:i]...), all[i+1:]...)
}

func TestEveryChangeIsNamedWithItsPlace(t *testing.T) {
	b := newBook(t, 700, 97)
	sound := lines(b.export(nil))
	for name, c := range map[string]struct {
		change func(all []string) []string
		kind   audit.FaultKind
		from   int64
		to     int64
	}{
		"an edit": {func(all []string) []string {
			all[at(all, 300)] = strings.Replace(all[at(all, 300)], `"shards":10`, `"shards":11`, 1)
			return all
		}, audit.Edited, 300, 301},
		"a drop":          {func(all []string) []string { return without(all, at(all, 41)) }, audit.Dropped, 41, 42},
		"two drops":       {func(all []string) []string { return without(without(all, at(all, 41)), at(all, 41)) }, audit.Dropped, 41, 43},
		"a drop and edit": {func(all []string) []string { all[at(all, 9)] = "{}"; return all }, audit.Dropped, 9, 10},
		"a swap": {func(all []string) []string {
			i, j := at(all, 500), at(all, 510)
			all[i], all[j] = all[j], all[i]
			return all
		}, audit.Reordered, 500, 501},
		"a number": {func(all []string) []string {
			all[at(all, 5)] = strings.Replace(all[at(all, 5)], `"index":5`, `"index":6`, 1)
			return all
		}, audit.Renumbered, 5, 6},
		"an insertion": {func(all []string) []string {
			i := at(all, 600)
			more := strings.Replace(all[i], `"shards":10`, `"shards":12`, 1)
			return append(append(append([]string{}, all[:i]...), more), all[i:]...)
		}, audit.Edited, 600, 601}, // the stranger has the number first, and the one that was sealed is the second of its number
		"an insertion under a new number": {func(all []string) []string {
			i := at(all, 600)
			more := strings.Replace(strings.Replace(all[i], `"shards":10`, `"shards":12`, 1), `"index":600`, `"index":700`, 1)
			return append(append(append([]string{}, all[:i]...), more), all[i:]...)
		}, audit.Inserted, 600, 601},
		"a repetition": {func(all []string) []string {
			i := at(all, 77)
			return append(append(append([]string{}, all[:i]...), all[i]), all[i:]...)
		}, audit.Repeated, 77, 78},
		"the end cut off":        {func(all []string) []string { return all[:at(all, 650)] }, audit.Truncated, 650, 650},
		"the last records":       {func(all []string) []string { return without(all, at(all, 699)) }, audit.Truncated, 699, 700},
		"the end's line":         {func(all []string) []string { return all[:len(all)-1] }, audit.Truncated, 700, 700},
		"the last tile":          {func(all []string) []string { return without(all, len(all)-3) }, audit.Truncated, 512, 679},
		"a line after the end":   {func(all []string) []string { return append(all, all[3]) }, audit.Garbled, 700, 701},
		"a checkpoint was taken": {func(all []string) []string { return without(all, len(all)-2) }, audit.Garbled, 700, 700},
	} {
		t.Run(name, func(t *testing.T) {
			changed := c.change(append([]string{}, sound...))
			report := b.verify([]byte(strings.Join(changed, "\n") + "\n"))
			require.False(t, report.Sound())
			if name == "an insertion" { // either reading names the place
				require.Contains(t, []audit.FaultKind{audit.Edited, audit.Inserted}, report.Faults[0].Kind)
				require.Equal(t, int64(600), report.Faults[0].From)
				return
			}
			for _, f := range report.Faults {
				if f.Kind == c.kind && f.From == c.from && (c.to == f.To || name == "the last tile") {
					require.NotEmpty(t, f.Text)
					return
				}
			}
			require.Failf(t, "not named", "%s: %+v", name, report.Faults)
		})
	}
}

// forge rebuilds an export after its records were changed, hashes and all, as somebody does who has everything but the key.
func forge(t *testing.T, b *book, change func(records [][]byte) [][]byte) []byte {
	t.Helper()
	forged := &book{t: t, key: b.key, records: change(append([][]byte{}, b.records...)), heads: b.heads, origin: b.origin}
	return forged.export(nil)
}

func TestAForgerWithoutTheKeyIsFoundOut(t *testing.T) {
	b := newBook(t, 700, 97)
	for name, change := range map[string]func(records [][]byte) [][]byte{
		"an edit": func(r [][]byte) [][]byte { r[300] = bytes.Replace(r[300], []byte(":10"), []byte(":11"), 1); return r },
		"a drop":  func(r [][]byte) [][]byte { return append(r[:300], r[301:]...) },
		"a swap":  func(r [][]byte) [][]byte { r[300], r[301] = r[301], r[300]; return r },
		"an insertion": func(r [][]byte) [][]byte {
			return append(r[:300], append([][]byte{[]byte(`{}`)}, r[300:]...)...)
		},
	} {
		report := b.verify(forge(t, b, change))
		require.False(t, report.Sound(), name)
		f := report.Faults[0]
		require.Equal(t, audit.Rewritten, f.Kind, name)
		require.LessOrEqual(t, f.From, int64(300), name)
		require.Greater(t, f.To, int64(300), name)
		require.LessOrEqual(t, f.To-f.From, int64(2*audit.TileSize), "%s: the checkpoints say where", name)
	}
}

func TestAnOlderHistoryIsFoundOut(t *testing.T) {
	b := newBook(t, 300, 100)
	old := b.export(nil)
	b.grow(50)
	report := b.verify(old, b.verify(b.export(nil)).Newest)
	require.Equal(t, audit.Truncated, report.Faults[0].Kind)
	require.Equal(t, int64(300), report.Faults[0].From)
	require.Equal(t, int64(350), report.Faults[0].To)

	// Two histories, each sound by itself and signed by the same key.
	other := newBook(t, 0, 1)
	other.key = b.key
	other.grow(1) // the times of its records are others
	other.grow(349)
	require.Empty(t, other.verify(other.export(nil)).Faults)
	report = other.verify(other.export(nil), b.verify(b.export(nil)).Newest)
	require.Equal(t, audit.Rewritten, report.Faults[0].Kind)
}

func TestAnyByteThatChangesIsNoticed(t *testing.T) {
	b := newBook(t, 20, 7)
	sound := b.export(func(i int) bool { return i == 3 })
	require.Empty(t, b.verify(sound).Faults)
	for i := range sound {
		for _, bit := range []byte{1, 4, 0x20, 0x80} {
			changed := append([]byte{}, sound...)
			changed[i] ^= bit
			refused(t, b, changed, fmt.Sprintf("byte %d: %q instead of %q", i, changed[max(0, i-20):min(len(sound), i+20)], sound[max(0, i-20):min(len(sound), i+20)]))
		}
	}
}

func TestRandomChangesAreNoticed(t *testing.T) {
	b := newBook(t, 700, 97)
	sound := b.export(nil)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		changed := append([]byte{}, sound...)
		i := random.IntN(len(changed))
		changed[i] ^= byte(1 + random.IntN(255))
		refused(t, b, changed, fmt.Sprintf("byte %d", i))
	}
}

func refused(t *testing.T, b *book, changed []byte, what string) {
	t.Helper()
	report, err := audit.Verify(bytes.NewReader(changed), b.verifier())
	if err == nil && report.Sound() {
		t.Fatalf("%s: a change passed", what)
	}
}

func TestWhatIsNoExport(t *testing.T) {
	b := newBook(t, 3, 1)
	for _, text := range []string{"", "\n", "{}\n", "\x1f\x8b\x08", strings.Repeat("x", 3<<20)} {
		_, err := audit.Verify(strings.NewReader(text), b.verifier())
		require.ErrorIs(t, err, audit.ErrNoExport)
	}
	other := newBook(t, 3, 1)
	_, err := audit.Verify(bytes.NewReader(b.export(nil)), other.verifier())
	require.ErrorContains(t, err, "another log")
	_, err = audit.Verify(bytes.NewReader(bytes.Replace(b.export(nil), []byte(`"v":1`), []byte(`"v":2`), 1)), b.verifier())
	require.ErrorContains(t, err, "version 2")
}

func TestProofsHold(t *testing.T) {
	b := newBook(t, 130, 13)
	head := b.heads[130]
	for i, r := range b.records {
		proof, err := audit.Prove(int64(i), 130, head, b.read)
		require.NoError(t, err)
		index, c, err := audit.CheckProof(proof, r, b.verifier())
		require.NoError(t, err)
		require.EqualValues(t, i, index)
		require.EqualValues(t, 130, c.Size)
		_, _, err = audit.CheckProof(proof, b.records[(i+1)%130], b.verifier())
		require.ErrorContains(t, err, "is not number")
	}
	proof, err := audit.Prove(64, 130, head, b.read)
	require.NoError(t, err)
	for i := range proof {
		changed := append([]byte{}, proof...)
		changed[i] ^= 1
		_, _, err := audit.CheckProof(changed, b.records[64], b.verifier())
		require.Error(t, err, "byte %d: %s", i, changed)
	}
}

func TestKeys(t *testing.T) {
	k := audit.NewKey()
	again, err := audit.ParseKey(k.Secret() + "\n")
	require.NoError(t, err)
	require.Equal(t, k, again)
	for _, text := range []string{"", "ostraka_log_", "ostraka_log_abc", base64.StdEncoding.EncodeToString([]byte("x")), strings.TrimPrefix(k.Secret(), "ostraka_log_")} {
		_, err := audit.ParseKey(text)
		require.ErrorContains(t, err, "audit key")
	}
	_, err = audit.Open([]byte("x"), "no key")
	require.ErrorContains(t, err, "cannot be read")
}

func TestRecordsAreCanonical(t *testing.T) {
	b := newBook(t, 1, 1)
	r, err := audit.ParseRecord(b.records[0])
	require.NoError(t, err)
	text, err := r.Canonical()
	require.NoError(t, err)
	require.Equal(t, b.records[0], text)
	require.Contains(t, string(text), `"detail":{"agent":"a","shards":10,"z":[1.50,"<é>"]}`)
	for _, other := range []string{"", "{}", " " + string(text), string(text) + " ", strings.Replace(string(text), `"v":1`, `"v":2`, 1), strings.Replace(string(text), `:10`, `: 10`, 1), strings.Replace(string(text), `"actor"`, `"Actor"`, 1)} {
		_, err := audit.ParseRecord([]byte(other))
		require.Error(t, err, other)
	}
	_, err = audit.Record{Detail: []byte(`{"x":"` + strings.Repeat("y", audit.MaxRecordBytes) + `"}`)}.Canonical()
	require.ErrorContains(t, err, "at most")
}

func FuzzVerify(f *testing.F) {
	b := newBook(f, 20, 7)
	f.Add(b.export(nil))
	f.Add(b.export(func(i int) bool { return i < 5 }))
	sound, verifier := b.export(nil), b.verifier()
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := audit.Verify(bytes.NewReader(text), verifier)
		if err != nil || !report.Sound() || bytes.Equal(text, sound) {
			return
		}
		// What passes is this log, or its beginning, with contents missing at most.
		if report.Records+report.Pruned != report.Size || report.Size > 20 {
			t.Fatalf("%+v", report)
		}
	})
}

func FuzzProofAndCheckpoint(f *testing.F) {
	b := newBook(f, 20, 20)
	proof, err := audit.Prove(3, 20, b.heads[20], b.read)
	if err != nil {
		f.Fatal(err)
	}
	verifier := b.verifier()
	f.Add(proof)
	f.Add(b.heads[20])
	f.Fuzz(func(t *testing.T, text []byte) {
		if i, _, err := audit.CheckProof(text, b.records[3], verifier); err == nil && i != 3 {
			t.Fatal("another record passes")
		}
		if c, err := audit.Open(text, verifier); err == nil && c.Size != 20 {
			t.Fatal("another checkpoint passes")
		}
		if r, err := audit.ParseRecord(text); err == nil {
			if again, err := r.Canonical(); err != nil || !bytes.Equal(again, text) {
				t.Fatal("a record has two forms")
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	k := newBook(b, 100_000, 1000)
	export := k.export(nil)
	b.ReportAllocs()
	for b.Loop() {
		report, err := audit.Verify(bytes.NewReader(export), k.verifier())
		if err != nil || !report.Sound() {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*100_000/b.Elapsed().Seconds(), "records/s")
}
