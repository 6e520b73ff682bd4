package audit_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
)

// exportOf writes an export with the content of a range.
func (b *book) exportOf(of audit.Range) []byte {
	var out bytes.Buffer
	e, err := audit.NewRangeExporter(&out, b.origin, b.verifier(), of)
	require.NoError(b.t, err)
	for first := 0; first < len(b.records); first += audit.TileSize {
		var leaves []audit.Hash
		var head []byte
		for i := first; i < min(first+audit.TileSize, len(b.records)); i++ {
			leaves = append(leaves, audit.Leaf(b.records[i]))
			require.NoError(b.t, e.Record(int64(i), b.records[i]))
			if signed := b.heads[int64(i)+1]; signed != nil {
				head = signed
			}
		}
		require.NoError(b.t, e.Tile(leaves, head))
	}
	require.NoError(b.t, e.Close())
	return out.Bytes()
}

func (b *book) verifyRange(export []byte, of audit.Range) (*audit.Report, error) {
	return audit.VerifyRange(bytes.NewReader(export), b.verifier(), of)
}

// TestARangeIsVerified by its content, and all else by its hashes, of a whole export and of one of a range.
func TestARangeIsVerified(t *testing.T) {
	t.Parallel()
	b := newBook(t, 1000, 100)
	for _, of := range []audit.Range{{From: 0, To: 1}, {From: 255, To: 257}, {From: 300, To: 700}, {From: 999}, {From: 1, To: 1000}, {From: 0, To: 1000}} {
		for name, export := range map[string][]byte{"whole": b.export(nil), "range": b.exportOf(of)} {
			report, err := b.verifyRange(export, of)
			require.NoError(t, err, "%s of %v", name, of)
			require.Empty(t, report.Faults, "%s of %v", name, of)
			from, to := of.Ends(1000)
			require.Equal(t, to-from, report.Records)
			require.Equal(t, int64(1000), report.Size)
			require.Equal(t, of, *report.Range)
		}
	}
	narrower, err := b.verifyRange(b.exportOf(audit.Range{From: 300, To: 700}), audit.Range{From: 400, To: 401})
	require.NoError(t, err)
	require.Equal(t, int64(1), narrower.Records)
	require.Less(t, len(b.exportOf(audit.Range{From: 300, To: 310})), len(b.export(nil))/2)
}

// TestARangeThatIsNotThereIsNotVerified: a range beyond the log or the export is refused, and so is none.
func TestARangeThatIsNotThereIsNotVerified(t *testing.T) {
	t.Parallel()
	b := newBook(t, 300, 100)
	for of, want := range map[audit.Range]string{
		{From: 300}:          "has 300 records",
		{From: 0, To: 301}:   "has 300 records",
		{From: 5, To: 5}:     "no records",
		{From: -1}:           "no records",
		{From: 100, To: 200}: "",
	} {
		_, err := b.verifyRange(b.export(nil), of)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	part := b.exportOf(audit.Range{From: 100, To: 200})
	for _, of := range []audit.Range{{}, {From: 99, To: 200}, {From: 100, To: 201}, {From: 100}} {
		_, err := b.verifyRange(part, of)
		require.ErrorContains(t, err, "the export has the content of records 100 to 199 alone")
	}
}

// TestAnExportDoesNotSayWhatIsVerified: nobody has signed its header, and who edits a record could write there that it is not to be looked at.
func TestAnExportDoesNotSayWhatIsVerified(t *testing.T) {
	t.Parallel()
	b := newBook(t, 300, 100)
	edited := bytes.Replace(b.export(nil), []byte("lease.expire"), []byte("lease.expirE"), 1)
	report, err := audit.Verify(bytes.NewReader(edited), b.verifier())
	require.NoError(t, err)
	require.NotEmpty(t, report.Faults)
	header := bytes.Replace(edited, []byte(`"v":1,`), []byte(`"v":3,`), 1)
	for _, of := range []string{`"from":299,"to":300`, `"to":299`, `"from":299`} {
		end := bytes.IndexByte(header, '\n')
		hostile := append(append(bytes.Clone(header[:end-1]), ","+of+"}"...), header[end:]...)
		_, err := audit.Verify(bytes.NewReader(hostile), b.verifier())
		require.ErrorContains(t, err, "and the content of all records was to be verified")
	}
}

// TestChangesOfARangeAreFound where they are within it; of what is outside the hashes alone are looked at, and a change of these is found.
func TestChangesOfARangeAreFound(t *testing.T) {
	t.Parallel()
	b := newBook(t, 600, 100)
	of := audit.Range{From: 200, To: 400}
	export := b.export(nil)
	line := func(i int) []byte { return []byte(fmt.Sprintf(`{"index":%d,`, i)) }
	lineOf := func(i int) []byte {
		from := bytes.Index(export, line(i))
		return export[from : from+bytes.IndexByte(export[from:], '\n')+1]
	}
	edited := func(i int) []byte {
		text := lineOf(i)
		return bytes.Replace(export, text, bytes.Replace(text, []byte("lease.expire"), []byte("lease.expirE"), 1), 1)
	}
	kinds := func(export []byte) (kinds []audit.FaultKind) {
		report, err := b.verifyRange(export, of)
		require.NoError(t, err)
		for _, f := range report.Faults {
			kinds = append(kinds, f.Kind)
		}
		return kinds
	}
	require.Empty(t, kinds(edited(100)), "outside the range")
	require.Empty(t, kinds(edited(400)))
	require.Equal(t, []audit.FaultKind{audit.Edited}, kinds(edited(200)))
	require.Equal(t, []audit.FaultKind{audit.Edited}, kinds(edited(399)))
	require.Contains(t, kinds(bytes.Replace(export, lineOf(300), nil, 1)), audit.Dropped)
	require.Contains(t, kinds(bytes.Replace(export, lineOf(300), append(bytes.Clone(lineOf(300)), lineOf(300)...), 1)), audit.Repeated)
	hash := bytes.Index(export, []byte(`"hashes":"`)) + len(`"hashes":"`)
	changed := bytes.Clone(export)
	changed[hash] ^= 1
	require.Contains(t, kinds(changed), audit.Rewritten, "a hash of a record outside the range")
}
