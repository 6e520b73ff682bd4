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

// What can be shown is offered at once, and with its fingerprint when it was read; what cannot is not.
func TestBookOffersWhatCanBeShown(t *testing.T) {
	base := place(t)
	write(t, filepath.Join(base, "good", "a"), "one")
	require.NoError(t, os.Symlink("/etc", filepath.Join(base, "link")))
	project := uuid.New()
	list := []Mapping{
		{Name: "etc", Path: "/etc", Mode: ReadOnly},
		{Name: "good", Path: filepath.Join(base, "good"), Mode: ReadOnly, Projects: []uuid.UUID{project}},
		{Name: "link", Path: filepath.Join(base, "link"), Mode: ReadOnly},
		{Name: "none", Path: filepath.Join(base, "none"), Mode: ReadOnly},
	}
	dir := filepath.Join(base, "notes")
	b := NewBook(dir, NewBlocklist(), slog.New(slog.DiscardHandler))
	var seen [][]Offer
	b.Look(t.Context(), list, func() { seen = append(seen, b.Offers()) })
	want, _ := fingerprint(t, filepath.Join(base, "good"), nil)
	first, second := Offer{Name: "good", Mode: ReadOnly, Projects: []uuid.UUID{project}}, Offer{Name: "good", Mode: ReadOnly, Projects: []uuid.UUID{project}, Fingerprint: want}
	require.Equal(t, [][]Offer{{first}, {second}}, seen)
	require.Equal(t, want, Kept(dir, list[1]))

	again := NewBook(dir, NewBlocklist(), slog.New(slog.DiscardHandler))
	changes := 0
	again.Look(t.Context(), list, func() { changes++ })
	require.Equal(t, 1, changes, "what was read before an agent began again is known")
	again.Look(t.Context(), nil, func() { changes++ })
	require.Empty(t, again.Offers())
	require.Empty(t, Kept(dir, list[1]), "what nobody names any more is forgotten")

	require.True(t, second.Suits(project, "good", ReadOnly, want))
	require.False(t, second.Suits(uuid.New(), "good", ReadOnly, want), "it is for another project")
	require.False(t, second.Suits(project, "good", ReadWrite, ""))
	require.False(t, first.Suits(project, "good", ReadOnly, want))
}

func TestBookLends(t *testing.T) {
	base := place(t)
	path := filepath.Join(base, "data")
	write(t, filepath.Join(path, "a"), "one")
	m := Mapping{Name: "data", Path: path, Mode: ReadOnly}
	b := NewBook(filepath.Join(base, "notes"), NewBlocklist(), slog.New(slog.DiscardHandler))
	pinned, _ := fingerprint(t, path, nil)
	for _, want := range []string{"", pinned} {
		f, err := b.Lend(t.Context(), m, Borrower{}, ReadOnly, want)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	refused := func(mode Mode, pinned, says string) {
		t.Helper()
		_, err := b.Lend(t.Context(), m, Borrower{}, mode, pinned)
		var r *Refusal
		require.ErrorAs(t, err, &r)
		require.Contains(t, r.Text, says)
		require.NotContains(t, r.Text, base, "no path is told")
	}
	refused(ReadWrite, "", `the function wants it with mode "rw", and the owner of this machine shows it with mode "ro"`)
	write(t, filepath.Join(path, "a"), "eno") // since the last look
	refused(ReadOnly, pinned, "this machine's copy is not the one that the function pins")
	require.NoError(t, os.Rename(path, path+"-moved"))
	require.NoError(t, os.Symlink("/etc", path))
	refused(ReadOnly, "", "this machine cannot show it now")
}
