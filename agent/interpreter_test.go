package agent

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/python"
)

func TestInterpreterLiesWithTheAgent(t *testing.T) {
	d := &dataDir{path: t.TempDir()}
	require.Equal(t, filepath.Join(d.path, "python"), pythonDir(Options{}, d))
	require.Equal(t, "/shared", pythonDir(Options{PythonDir: "/shared"}, d))
}

func TestInterpreterIsNamedInTheLog(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	tellPython(log, python.Tree{Version: "3.1", Origin: python.OriginEmbedded, Digest: "0123456789abcdef0123"})
	require.Contains(t, text.String(), "version=3.1 tree=embedded:0123456789abcdef")
	require.NotContains(t, text.String(), "WARN")

	tellPython(log, python.Tree{Origin: python.OriginEmbedded, Repaired: []string{"a", "b", "c", "d", "e", "f"}})
	require.Contains(t, text.String(), "were put right")
	require.Contains(t, text.String(), "files=6 first=\"[a b c d e]\"")

	tellPython(log, python.Tree{Origin: python.OriginSystem})
	require.Contains(t, text.String(), "this machine's own Python")
}
