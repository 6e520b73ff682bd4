//go:build linux

package docker

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/harness"
)

// corpusExecutor and corpusLimits are those of runtime/linux, whose hostile programs run here.
const corpusExecutor = `
import ctypes, json, os, resource, signal, subprocess, sys, threading, time
def handler(request):
    scope = {**globals(), **request["facts"], "result": [], "BUNDLE": __file__}
    exec(request["source"], scope)
    return scope["result"]
`

const corpusLimits = `
[limits]
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
wall_seconds = `

// hostile is one program of the corpus.
type hostile struct {
	name, source string
	allowed      []string
}

func corpus(t *testing.T) (all []hostile) {
	t.Helper()
	text, err := os.ReadFile("../linux/testdata/hostile.txtar")
	require.NoError(t, err)
	for _, f := range txtar.Parse(text).Files {
		first, source, ok := strings.Cut(string(f.Data), "\n")
		expected, marked := strings.CutPrefix(first, "# ")
		require.True(t, ok && marked, f.Name)
		words := strings.Fields(expected)
		allowed := words[0]
		for _, w := range words[1:] {
			if statuses, ok := strings.CutPrefix(w, "container="); ok {
				allowed = statuses
			}
		}
		all = append(all, hostile{f.Name, source, strings.Split(allowed, "|")})
	}
	return all
}

// TestCorpus runs every hostile program of runtime/linux in containers, and an honest one after each.
func TestCorpus(t *testing.T) {
	x := newExecutor(t)
	secret := t.TempDir() + "/server.key"
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	t.Setenv("OSTRAKA_CANARY", "CANARY")
	var quick, patient []hostile
	for _, h := range corpus(t) {
		if slices.Contains(h.allowed, string(harness.StatusTimeout)) {
			quick = append(quick, h)
		} else {
			patient = append(patient, h)
		}
	}
	// What is to end for another reason gets time enough on a busy machine.
	for wall, programs := range map[string][]hostile{"2": quick, "60": patient} {
		var inputs []string
		for _, h := range programs {
			for _, source := range []string{h.source, "result = ['fine']"} {
				input, err := json.Marshal(map[string]any{"source": source, "facts": map[string]any{"SECRET": secret, "OUTSIDE": []int{os.Getpid(), os.Getppid()}, "NAMESPACES": true}})
				require.NoError(t, err)
				inputs = append(inputs, string(input))
			}
		}
		results := run(t, x, pack(t, corpusExecutor, corpusLimits+wall), inputs...)
		for i, h := range programs {
			t.Run(h.name, func(t *testing.T) {
				got, after := results[2*i], results[2*i+1]
				require.Contains(t, h.allowed, string(got.Status), "%+v\n%s", got.Exception, got.StderrTail)
				if got.Status == harness.StatusOK {
					require.Equal(t, "[]", got.Output)
				}
				require.Equal(t, `["fine"]`, after.Output, "the next shard suffers: %s %+v", after.Status, after.Exception)
			})
		}
		require.FileExists(t, secret)
	}
}
