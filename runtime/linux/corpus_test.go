//go:build linux

package linux

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// executor runs the source that it is given.
const executor = `
import ctypes, json, os, resource, signal, subprocess, sys, threading, time
def handler(request):
    scope = {**globals(), **request["facts"], "result": [], "BUNDLE": __file__}
    exec(request["source"], scope)
    return scope["result"]
`

const corpusLimits = `
name = "hostile"
[limits]
wall_seconds = WALL
cpu_seconds = 1
memory_bytes = "128Mi"
disk_bytes = "4Mi"
inodes = 200
pids = 16
open_files = 64
output_bytes = "64Ki"
stdout_bytes = "64Ki"
stderr_bytes = "64Ki"
files = 10
artifact_bytes = "1Mi"
`

// corpusText is embedded: an ordinary user may be unable to read our sources.
//
//go:embed testdata/hostile.txtar
var corpusText []byte

// hostile is one program of the corpus.
type hostile struct {
	name, source string
	expected     string // statuses, by level where they differ
}

func readCorpus(t *testing.T) []hostile {
	t.Helper()
	archive := txtar.Parse(corpusText)
	var all []hostile
	for _, f := range archive.Files {
		first, source, ok := strings.Cut(string(f.Data), "\n")
		expected, marked := strings.CutPrefix(first, "# ")
		require.True(t, ok && marked, f.Name)
		all = append(all, hostile{name: f.Name, source: source, expected: expected})
	}
	return all
}

// statuses are those that a program may end with at a level.
func (h hostile) statuses(level bundle.Isolation) []string {
	words := strings.Fields(h.expected)
	allowed := words[0]
	for _, w := range words[1:] {
		if statuses, ok := strings.CutPrefix(w, string(level)+"="); ok {
			allowed = statuses
		}
	}
	return strings.Split(allowed, "|")
}

// TestCorpus runs every hostile program, and an honest one after it.
func TestCorpus(t *testing.T) {
	t.Setenv("OSTRAKA_CANARY", "CANARY")
	corpus := readCorpus(t)
	for _, level := range levelsHere() {
		t.Run(string(level), func(t *testing.T) { testCorpus(t, level, corpus) })
	}
}

func testCorpus(t *testing.T, level bundle.Isolation, corpus []hostile) {
	t.Helper()
	var quick, patient []hostile
	for _, h := range corpus {
		if slices.Contains(h.statuses(level), string(harness.StatusTimeout)) {
			quick = append(quick, h)
		} else {
			patient = append(patient, h)
		}
	}
	// What is to end for another reason gets time enough on a busy machine.
	runCorpus(t, level, quick, "2")
	runCorpus(t, level, patient, "60")
}

func runCorpus(t *testing.T, level bundle.Isolation, corpus []hostile, wall string) {
	t.Helper()
	dir := t.TempDir()
	secret := filepath.Join(dir, "agent.key")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "f"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f", "main.py"), []byte(executor), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f", bundle.ManifestName), []byte(strings.Replace(corpusLimits, "WALL", wall, 1)), 0o644))
	b, err := bundle.Pack(filepath.Join(dir, "f"))
	require.NoError(t, err)
	s, err := newRunner(t, level).Open(t.Context(), b, harness.Settings{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	facts := map[string]any{"SECRET": secret, "OUTSIDE": []int{os.Getpid(), os.Getppid()}, "NAMESPACES": level != bundle.Landlock}
	run := func(t *testing.T, source string) harness.Result {
		t.Helper()
		input, err := json.Marshal(map[string]any{"source": source, "facts": facts})
		require.NoError(t, err)
		got, err := s.Run(t.Context(), 0, input)
		require.NoError(t, err)
		return got
	}
	for _, h := range corpus {
		t.Run(h.name, func(t *testing.T) {
			got := run(t, h.source)
			require.Contains(t, h.statuses(level), string(got.Status), "%+v\n%s", got.Exception, got.StderrTail)
			if got.Status == harness.StatusOK {
				require.Equal(t, "[]", got.Output)
			}
			require.Equal(t, `["fine"]`, run(t, "result = ['fine']").Output, "the next shard suffers")
			require.FileExists(t, secret)
		})
	}
}
