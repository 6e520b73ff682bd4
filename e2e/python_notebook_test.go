package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// debianPython has Debian's Jupyter and mypy.
const debianPython = "/usr/bin/python3"

// notebookCells are what a person types into a notebook, cell by cell.
var notebookCells = []string{
	"import ostraka\n\n@ostraka.function\ndef square(x):\n    return x * x",
	"job = square.map(range(100), fresh=True)\njob",
	"job.wait()\njob",
	"assert job.result() == [x * x for x in range(100)]\njob.reduce(\"sum\")",
	"OFFSET = 3\n\ndef shifted(x):\n    return x + OFFSET\n\n@ostraka.function\ndef helped(x):\n    return shifted(x)\n\nhelped.remote(4)",
	"import asyncio\nawait ostraka.aio.remote(square, 11)",
}

// runNotebook has nbconvert execute a notebook, and looks at what its cells show.
func runNotebook(t *testing.T, env []string) {
	t.Helper()
	dir := t.TempDir()
	cells := make([]map[string]any, len(notebookCells))
	for i, source := range notebookCells {
		cells[i] = map[string]any{"cell_type": "code", "source": source, "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil}
	}
	text, err := json.Marshal(map[string]any{
		"cells": cells, "nbformat": 4, "nbformat_minor": 4,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "python3", "display_name": "Python 3", "language": "python"}},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "work.ipynb"), text, 0o600))
	cmd := exec.CommandContext(t.Context(), debianPython, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done", "work.ipynb")
	cmd.Dir = dir
	cmd.Env = append(env, "HOME="+dir, "IPYTHONDIR="+filepath.Join(dir, "ipython"), "JUPYTER_CONFIG_DIR="+filepath.Join(dir, "jupyter"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	done, err := os.ReadFile(filepath.Join(dir, "done.ipynb"))
	require.NoError(t, err)
	shown := shownCells(t, done)
	require.Contains(t, shown[1], "ostraka.job(", "a job shows itself")
	require.Contains(t, shown[2], "finished")
	require.Contains(t, shown[2], "100%")
	require.Equal(t, "328350", shown[3])
	require.Equal(t, "7", shown[4])
	require.Equal(t, "121", shown[5])
}

// shownCells is what each cell's last expression came to: as HTML where it has that, else as text.
func shownCells(t *testing.T, notebook []byte) []string {
	t.Helper()
	type text []string // of lines, or one string
	var n struct {
		Cells []struct {
			Outputs []struct {
				Type string                     `json:"output_type"`
				Data map[string]json.RawMessage `json:"data"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	require.NoError(t, json.Unmarshal(notebook, &n))
	shown := make([]string, len(n.Cells))
	for i, c := range n.Cells {
		for _, o := range c.Outputs {
			for _, kind := range []string{"text/plain", "text/html"} {
				raw, there := o.Data[kind]
				if !there {
					continue
				}
				var lines text
				if json.Unmarshal(raw, &lines) != nil {
					var one string
					require.NoError(t, json.Unmarshal(raw, &one))
					lines = text{one}
				}
				shown[i] = strings.Join(lines, "")
			}
		}
	}
	return shown
}
