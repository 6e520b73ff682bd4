package archive_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/archive"
)

func document() archive.Document {
	digest := strings.Repeat("ab", 32)
	return archive.Document{
		Project: "0198d7a4-0000-7000-8000-000000000001", Job: "0198d7a4-0000-7000-8000-000000000002", State: "finished", ArchivedBy: "owner:x",
		ArchivedAt: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), Function: archive.Function{Name: "bpsw", Version: 1, Digest: digest},
		Shards: archive.Counts{Total: 10, Accepted: 9, Failed: 1, Attempts: 20}, Results: archive.Results{Digest: digest, Bytes: 100, Rows: 10},
		Record: json.RawMessage(`{"id":"x"}`),
	}
}

func TestADocumentIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	text, err := document().Encode()
	require.NoError(t, err)
	d, err := archive.Parse(text)
	require.NoError(t, err)
	want := document()
	want.Format = archive.Format
	require.Equal(t, want, d)
}

func TestADocumentThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for what, break1 := range map[string]func(*archive.Document){
		"names no project":     func(d *archive.Document) { d.Project = "../.." },
		"is in no archive":     func(d *archive.Document) { d.State = "running" },
		"version of a func":    func(d *archive.Document) { d.Function.Digest = "x" },
		"no file of shards":    func(d *archive.Document) { d.Results.Digest = strings.ToUpper(d.Results.Digest) },
		"counts of shards":     func(d *archive.Document) { d.Shards.Accepted = -1 },
		"the file has 8":       func(d *archive.Document) { d.Results.Rows = 8 },
		"the file has 11":      func(d *archive.Document) { d.Results.Rows = 11 },
		"no record of the job": func(d *archive.Document) { d.Record = nil },
	} {
		d := document()
		break1(&d)
		_, err := d.Encode()
		require.ErrorContains(t, err, what)
	}
	for text, what := range map[string]string{
		"":        "not one of an archive",
		"{}":      "of the form",
		"{} {}":   "something follows",
		`{"a":1}`: "unknown field",
	} {
		_, err := archive.Parse([]byte(text))
		require.ErrorContains(t, err, what)
	}
}

// TestTheLongestDocument is at the limit, and one byte past it.
func TestTheLongestDocument(t *testing.T) {
	t.Parallel()
	d := document()
	text, err := d.Encode()
	require.NoError(t, err)
	room := archive.MaxDocument - len(text) + 1 // the line's end does not count
	d.Record = json.RawMessage(`{"id":"x` + strings.Repeat("y", room) + `"}`)
	text, err = d.Encode()
	require.NoError(t, err)
	_, err = archive.Parse(text)
	require.NoError(t, err)
	d.Record = json.RawMessage(`{"id":"x` + strings.Repeat("y", room+1) + `"}`)
	_, err = d.Encode()
	require.ErrorIs(t, err, archive.ErrTooLarge)
	_, err = archive.Parse(append(text, ' '))
	require.ErrorContains(t, err, "may have")
}

// FuzzDocument: what Parse takes it takes again as it is encoded, and says the same.
func FuzzDocument(f *testing.F) {
	text, err := document().Encode()
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"format":"ostraka.archive.v1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := archive.Parse(text)
		if err != nil {
			return
		}
		again, err := d.Encode()
		require.NoError(t, err)
		same, err := archive.Parse(again)
		require.NoError(t, err)
		twice, err := same.Encode()
		require.NoError(t, err)
		require.Equal(t, string(again), string(twice))
	})
}
