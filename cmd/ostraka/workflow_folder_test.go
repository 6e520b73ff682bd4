package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// linkable is a folder of a workflow whose function lies two folders deep.
func linkable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	inner := filepath.Join(dir, "functions", "one")
	require.NoError(t, os.MkdirAll(inner, 0o700))
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write(filepath.Join(dir, graph.FileName), "name = \"w\"\n[functions]\none = \"functions/one\"\n[[steps]]\nname = \"one\"\ntype = \"map\"\nfunction = \"one\"\nitems = [1]\n")
	write(filepath.Join(inner, "function.toml"), "name = \"one\"\n")
	write(filepath.Join(inner, "main.py"), "def execute(item):\n    return item\n")
	return dir
}

func TestAWorkflowHoldsNoLinks(t *testing.T) {
	_, err := readWorkflowFolder(linkable(t))
	require.NoError(t, err)
	linked := filepath.Join(t.TempDir(), "linked")
	require.NoError(t, os.Symlink(linkable(t), linked))
	_, err = readWorkflowFolder(linked)
	require.NoError(t, err, "what is named on the command line may be a link")
	for name, want := range map[string]string{"functions": "functions.one: ", "functions/one": "functions.one: ", graph.FileName: ""} {
		dir, outside := linkable(t), linkable(t)
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, os.Symlink(filepath.Join(outside, filepath.FromSlash(name)), path))
		_, err := readWorkflowFolder(dir)
		require.ErrorContains(t, err, "is a link or a special file", name)
		require.ErrorContains(t, err, want+path)
	}
}
