package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/agent/prefs"
	"github.com/ostraka/ostraka/agent/spool"
	"github.com/ostraka/ostraka/runtime/tree"
)

// TestTheSharesOfADiskAreWithinIt has them be no more together than the owner allows.
func TestTheSharesOfADiskAreWithinIt(t *testing.T) {
	for _, disk := range []int64{0, 1, 17, 64 << 20, 1<<40 + 7} {
		s := sharesOf(disk)
		together := s.runs + s.results + s.runtimes + s.bundles + s.inputs
		require.LessOrEqual(t, together, disk)
		require.Greater(t, together, disk-10, "nothing is left over")
	}
}

// TestRuntimesHaveTheirShareOfTheDisk refuses one that is larger than an eighth of the disk, and fetches one that is not.
func TestRuntimesHaveTheirShareOfTheDisk(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	const disk = 64 << 20 // the least that an owner may say
	a := &agent{log: log, keeper: &keeper{prefs: prefs.Preferences{DiskBytes: disk}}, bundles: newCache(t, 1), inputs: newInputCache(t.TempDir(), 1, log)}
	var err error
	a.spool, err = spool.Open(t.TempDir(), 1)
	require.NoError(t, err)
	a.trees, err = tree.NewCache(t.TempDir(), tree.DefaultCacheBytes, log)
	require.NoError(t, err)
	a.shareDisk()
	blocks := disk/8/4096 - 2 // of the files beside the two programs, in the one folder above them
	for more, want := range map[int]error{-1: nil, 0: tree.ErrNoRoom} {
		text := emptyFiles(t, blocks+more)
		_, release, err := a.trees.Get(t.Context(), tree.DigestOf(text), func(context.Context, string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(text)), nil
		})
		require.ErrorIs(t, err, want)
		if err == nil {
			release()
		}
	}
}

// emptyFiles is the manifest of a tree with so many files besides its programs, in one folder.
func emptyFiles(t *testing.T, n int) []byte {
	t.Helper()
	m := tree.Manifest{
		Format: tree.Format, Platform: tree.Platform, Python: "3.11.2", Interpreter: "a/b", Loader: "a/a", Libraries: []string{"a"}, Packages: []string{},
		Entries: []tree.Entry{{Path: "a/a", Executable: true}, {Path: "a/b", Executable: true}}, Pieces: []tree.Piece{},
	}
	for i := range n {
		m.Entries = append(m.Entries, tree.Entry{Path: fmt.Sprintf("a/c%05d", i)})
	}
	text, err := m.Encode()
	require.NoError(t, err)
	return text
}
