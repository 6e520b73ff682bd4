package bundle

import (
	"fmt"
	"slices"
	"strings"
)

// Isolation is the level of isolation that a sandbox achieves.
type Isolation string

// The levels, strongest first.
const (
	GVisor        Isolation = "gvisor"
	Container     Isolation = "container"
	Wasm          Isolation = "wasm" // of functions in WebAssembly alone: a runner's process, which has no system to reach for
	Linux         Isolation = "linux"
	LinuxNoCgroup Isolation = "linux-nocgroup"
	Landlock      Isolation = "landlock"
	Process       Isolation = "process"
)

var levels = []Isolation{GVisor, Container, Wasm, Linux, LinuxNoCgroup, Landlock, Process}

// ParseIsolation returns the level named s.
func ParseIsolation(s string) (Isolation, error) {
	if !slices.Contains(levels, Isolation(s)) {
		names := make([]string, len(levels))
		for i, l := range levels {
			names[i] = string(l)
		}
		return "", fmt.Errorf("no isolation level %q: use one of %s", s, strings.Join(names, ", "))
	}
	return Isolation(s), nil
}

// AtLeast reports whether l isolates at least as well as least. A level that
// does not exist isolates nothing and satisfies nothing.
func (l Isolation) AtLeast(least Isolation) bool {
	have, want := slices.Index(levels, l), slices.Index(levels, least)
	return have >= 0 && want >= 0 && have <= want
}
