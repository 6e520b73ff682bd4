package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/canonical"
)

func TestArtifactsAreStoredBeforeTheirResult(t *testing.T) {
	f, s := newFakeServer(t, 3)
	o := testOptions(t, s)
	o.Sandbox = &fakeSandbox{leaves: map[string]string{"a.txt": "one", "b.txt": "two", "c.txt": "one"}, outputs: t.TempDir()}
	stop := start(t, o)
	f.untilResults(3)
	require.NoError(t, stop())
	require.Equal(t, map[string]string{canonical.Digest([]byte("one")): "one", canonical.Digest([]byte("two")): "two"}, f.outputs)
	for _, r := range f.results {
		require.Len(t, r.Files, 3)
	}
}

// TestArtifactsAreReadBelowTheirFolderOnly has a name in the list that leads elsewhere, as no sandbox gives it.
func TestArtifactsAreReadBelowTheirFolderOnly(t *testing.T) {
	f, s := newFakeServer(t, 1)
	o := testOptions(t, s)
	dir := t.TempDir()
	outputs := filepath.Join(dir, "outputs")
	require.NoError(t, os.Mkdir(outputs, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600))
	o.Sandbox = &fakeSandbox{leaves: map[string]string{"../secret": "secret"}, outputs: outputs}
	stop := start(t, o)
	f.until("the lease is returned", func() bool { return len(f.returned) > 0 })
	require.NoError(t, stop())
	require.Empty(t, f.outputs)
	require.Empty(t, f.results)
}
