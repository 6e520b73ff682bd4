//go:build unix

package volume

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestCheckApart(t *testing.T) {
	volume := func(name, path string, mode Mode) Mapping { return Mapping{Name: name, Path: path, Mode: mode} }
	for _, c := range []struct {
		a, b  Mapping
		apart bool
	}{
		{volume("a", "/data", ReadOnly), volume("b", "/data/b", ReadOnly), true},
		{volume("a", "/data/a", ReadWrite), volume("b", "/data/b", ReadWrite), true},
		{volume("a", "/data/a", ReadWrite), volume("b", "/data/ab", ReadOnly), true},
		{volume("a", "/data", ReadOnly), volume("b", "/data/b", ReadWrite), false},
		{volume("a", "/data", ReadWrite), volume("b", "/data/b", ReadOnly), false},
		{volume("a", "/data", ReadWrite), volume("b", "/data", ReadWrite), false},
		{volume("a", "/data", ReadWrite), volume("b", "/data", ReadOnly), false},
	} {
		for _, list := range [][]Mapping{{c.a, c.b}, {c.b, c.a}} {
			if err := CheckApart(list); c.apart {
				require.NoError(t, err, "%+v", c)
			} else {
				require.ErrorContains(t, err, "share a folder", "%+v", c)
			}
		}
	}
}

// One folder under two names is one folder.
func TestApartOnDisk(t *testing.T) {
	base := place(t)
	require.NoError(t, os.MkdirAll(filepath.Join(base, "data", "b"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(base, "data"), filepath.Join(base, "other"))) // as a bind mount would show it
	rw := Mapping{Name: "a", Path: filepath.Join(base, "other"), Mode: ReadWrite, MaxBytes: 1}
	for _, path := range []string{"data", "data/b"} {
		ro := Mapping{Name: "b", Path: filepath.Join(base, path), Mode: ReadOnly}
		require.NoError(t, CheckApart([]Mapping{rw, ro}))
		require.ErrorContains(t, ro.apartOnDisk([]Mapping{rw}), "share a folder")
		require.ErrorContains(t, rw.apartOnDisk([]Mapping{ro}), "share a folder")
	}
	require.NoError(t, rw.apartOnDisk([]Mapping{rw, {Name: "none", Path: filepath.Join(base, "none")}}))
}

// Volumes that overlap are neither offered nor lent.
func TestBookRefusesWhatOverlaps(t *testing.T) {
	base := place(t)
	require.NoError(t, os.MkdirAll(filepath.Join(base, "data", "b"), 0o700))
	list := []Mapping{
		{Name: "a", Path: filepath.Join(base, "data"), Mode: ReadOnly},
		{Name: "b", Path: filepath.Join(base, "data", "b"), Mode: ReadWrite, MaxBytes: 1000},
	}
	b := NewBook(filepath.Join(base, "notes"), NewBlocklist(), slog.New(slog.DiscardHandler))
	b.Look(t.Context(), list, func() {})
	require.Empty(t, b.Offers())
	for _, m := range list {
		_, err := b.Lend(t.Context(), m, Borrower{Project: uuid.New(), Function: "f"}, m.Mode, "")
		var r *Refusal
		require.ErrorAs(t, err, &r)
		require.NotContains(t, r.Text, base, "no path is told")
		require.ErrorContains(t, r.Why, "share a folder")
	}
}
