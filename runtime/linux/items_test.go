//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

func TestItems(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte("def handler(n): return 10 // (7 - n)"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\nper = \"item\"\n"), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	for _, level := range levelsHere() {
		s, err := newRunner(t, level).Open(t.Context(), b, harness.Settings{})
		require.NoError(t, err)
		good, err := s.Run(t.Context(), 0, []byte(`{"from":"3","to":"7"}`))
		require.NoError(t, err)
		bad, err := s.Run(t.Context(), 1, []byte(`[3,7]`))
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Equal(t, `[2,3,5,10]`, good.Output, level)
		require.Equal(t, harness.StatusError, bad.Status, level)
		require.Contains(t, bad.Exception.Message, "item 1 (input 7): ", level)
	}
}
