package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever an agent leaves in its directory is known to RemoveData: a new file must be added there.
func TestRemoveDataRemovesAllThatAnAgentMakes(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 2)
	f.signs(newSigner(t))
	o := testOptions(t, s)
	o.DataDir = filepath.Join(t.TempDir(), "data")
	stop := start(t, o)
	f.untilResults(2)
	_, err := RemoveData(o.DataDir, false)
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, stop())
	require.NoError(t, Pause(o.DataDir, PauseOptions{Reason: "the thesis"}))

	kept, err := RemoveData(o.DataDir, true)
	require.NoError(t, err)
	require.Empty(t, kept)
	require.FileExists(t, filepath.Join(o.DataDir, "agent.key"), "nothing was done")
	kept, err = RemoveData(o.DataDir, false)
	require.NoError(t, err)
	require.Empty(t, kept)
	require.NoDirExists(t, o.DataDir)
}

func TestRemoveDataKeepsWhatIsNotTheAgents(t *testing.T) {
	dir := t.TempDir()
	_, err := RemoveData(dir, false)
	require.Error(t, err, "a folder without a lock is no agent's")
	d, err := openDataDir(dir)
	require.NoError(t, err)
	d.close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o600))
	kept, err := RemoveData(dir, false)
	require.NoError(t, err)
	require.Equal(t, []string{"thesis.tex"}, kept)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
