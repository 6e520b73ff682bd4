//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/workflow/graph"
)

func TestAWorkflowIsNoPipe(t *testing.T) {
	dir := linkable(t)
	path := filepath.Join(dir, graph.FileName)
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := readWorkflowFolder(dir)
	require.ErrorContains(t, err, "is a link or a special file")
}
