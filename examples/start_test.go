package examples

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFunctionsToBeginWith(t *testing.T) {
	entries, err := fs.ReadDir(starts, "start")
	require.NoError(t, err)
	var languages []string
	for _, e := range entries {
		languages = append(languages, e.Name())
	}
	require.Equal(t, languages, StartLanguages())
	for _, language := range languages {
		dir := filepath.Join(t.TempDir(), "mine")
		files, err := Start(language, "mine", dir)
		require.NoError(t, err)
		require.Contains(t, files, "function.toml")
		require.Contains(t, files, "check.jsonl")
		_, err = Start(language, "mine", dir)
		require.ErrorIs(t, err, fs.ErrExist, "nothing is written over")
	}
	_, err = Start("cobol", "mine", filepath.Join(t.TempDir(), "mine"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
