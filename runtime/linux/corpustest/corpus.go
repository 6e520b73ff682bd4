// Package corpustest holds the hostile programs that every sandbox is tested with.
package corpustest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// text is embedded: an ordinary user may be unable to read our sources.
//
//go:embed hostile.txtar
var text string

// executor runs the source that it is given.
const executor = `
import ctypes, json, os, resource, signal, subprocess, sys, threading, time
def handler(request):
    scope = {**globals(), **request["facts"], "result": [], "BUNDLE": __file__}
    exec(request["source"], scope)
    return scope["result"]
`

const manifest = `
name = "hostile"
[limits]
wall_seconds = %d
cpu_seconds = %d
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

// Honest is a program that does no harm, and Fine is its output: it tells whether the one before has left anything behind.
const (
	Honest = "result = ['fine']"
	Fine   = `["fine"]`
)

// Nothing is the output of a program that has reached nothing.
const Nothing = "[]"

// Times of the functions that programs run in, in seconds: those that are to run out of a time get little of it, and what is to end for
// another reason gets enough of both on a busy machine, whose processor time counts for more than it does.
const (
	quickWall, patientWall = 2, 60
	// quickCPU is the processor time of a program that may run out of it; gVisor's kernel counts as well.
	quickCPU, patientCPU = 1, 10
)

// Program is one of the corpus.
type Program struct {
	Name, Source string
	expected     string // statuses, by level where they differ
}

// Programs are all of the corpus, first those that run out of time at a level.
func Programs() ([]Program, error) {
	var all []Program
	for _, file := range strings.Split("\n"+text, "\n-- ")[1:] {
		name, rest, _ := strings.Cut(file, " --\n")
		first, source, _ := strings.Cut(rest, "\n")
		expected, marked := strings.CutPrefix(first, "# ")
		if !marked || strings.TrimSpace(source) == "" {
			return nil, fmt.Errorf("%.80q does not say how it is to end", name)
		}
		all = append(all, Program{Name: name, Source: source, expected: expected})
	}
	return all, nil
}

// Statuses are those that a program may end with at a level.
func (p Program) Statuses(level bundle.Isolation) []string {
	words := strings.Fields(p.expected)
	allowed := words[0]
	for _, at := range above(level) {
		for _, w := range words[1:] {
			if statuses, ok := strings.CutPrefix(w, string(at)+"="); ok {
				allowed = statuses
			}
		}
	}
	return strings.Split(allowed, "|")
}

// above are the levels whose expectations hold for a level, the weightiest last.
func above(level bundle.Isolation) []bundle.Isolation {
	if level == bundle.GVisor {
		return []bundle.Isolation{bundle.Container, bundle.GVisor}
	}
	return []bundle.Isolation{level}
}

// Reaches tells whether a program may find something out at a level: of a container without Landlock what is the container's own.
func (p Program) Reaches(level bundle.Isolation) bool {
	return level == bundle.GVisor && strings.HasPrefix(p.Name, "inform/")
}

// Group is programs for one function.
type Group struct {
	Programs []Program
	wall     int
	cpu      int
}

// Groups sorts the programs by how much time they need at a level.
func Groups(all []Program, level bundle.Isolation) []Group {
	var groups []Group
	for _, p := range all {
		wall, cpu := p.times(level)
		i := slices.IndexFunc(groups, func(g Group) bool { return g.wall == wall && g.cpu == cpu })
		if i < 0 {
			i, groups = len(groups), append(groups, Group{wall: wall, cpu: cpu})
		}
		groups[i].Programs = append(groups[i].Programs, p)
	}
	return groups
}

// times are how long a program may run at a level, in seconds of the clock and of processors.
func (p Program) times(level bundle.Isolation) (wall, cpu int) {
	statuses := p.Statuses(level)
	wall, cpu = patientWall, patientCPU
	if slices.Contains(statuses, string(harness.StatusTimeout)) {
		wall = quickWall
	}
	if slices.Contains(statuses, string(harness.StatusCPULimit)) && (level != bundle.GVisor || wall == quickWall) {
		cpu = quickCPU
	}
	return wall, cpu
}

// Manifest is that of a function with small limits and these times, in seconds.
func Manifest(wall, cpu int) string { return fmt.Sprintf(manifest, wall, cpu) }

// Pack makes the function that runs the programs of a group, in an empty folder.
func (g Group) Pack(dir string) (*bundle.Bundle, error) {
	for name, content := range map[string]string{"main.py": executor, bundle.ManifestName: Manifest(g.wall, g.cpu)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	return bundle.Pack(dir)
}

// Input is what the function gets for a program; secret is a file outside that everybody may read.
func Input(source, secret string, namespaces bool) ([]byte, error) {
	return json.Marshal(map[string]any{
		"source": source, "facts": map[string]any{"SECRET": secret, "OUTSIDE": []int{os.Getpid(), os.Getppid()}, "NAMESPACES": namespaces},
	})
}
