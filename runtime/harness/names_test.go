//go:build linux

package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
)

func TestArtifactsHaveNamesThatEverySystemReadsAlike(t *testing.T) {
	for name, good := range map[string]bool{"a b-é.png": true, `..\x`: false, "CON": false, "aux.txt": false, " a": false, "a.": false, "<b>": false, "a\u202eb": false} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		root, err := os.OpenRoot(dir)
		require.NoError(t, err)
		files, err := artifacts(root, bundle.MaxLimits())
		require.NoError(t, root.Close())
		if good {
			require.NoError(t, err)
			require.Len(t, files, 1)
			continue
		}
		require.ErrorContains(t, err, "choose one that every system reads alike", name)
		require.NotErrorIs(t, err, errTooMuch)
	}
}
