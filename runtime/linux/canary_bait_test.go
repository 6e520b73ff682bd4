//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBaitOfAgentsThatWereKilledIsSwept leaves bait that may be in use, and what only looks like bait.
func TestBaitOfAgentsThatWereKilledIsSwept(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	leave := func(name string, age time.Duration) string {
		dir := filepath.Join(tmp, name)
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), nil, 0o644))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(dir, at, at))
		return dir
	}
	old, fresh, other := leave(baitName+"1", 2*baitTTL), leave(baitName+"2", 0), leave("somebody", 2*baitTTL)
	b, err := layBait(t.Context())
	require.NoError(t, err)
	require.NoDirExists(t, old)
	require.DirExists(t, fresh)
	require.DirExists(t, other)
	b.remove()
	require.NoDirExists(t, b.dir)
}

func TestBaitNeedsAShortPath(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	require.NoError(t, os.Mkdir(tmp, 0o755))
	t.Setenv("TMPDIR", tmp)
	_, err := layBait(t.Context())
	require.ErrorContains(t, err, "set TMPDIR to a folder with a shorter name")
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
}
