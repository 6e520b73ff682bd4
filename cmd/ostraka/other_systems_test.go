package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program for macOS and Windows must not be made of what only servers have: that does not build there. A file that imports it
// begins with "//go:build linux", and server_other.go has a command of the same name that says so. Modules run there too: agents execute
// functions in WebAssembly on every system.
func TestOtherSystemsNeedNoServer(t *testing.T) {
	for _, system := range []string{"darwin", "windows"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=arm64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			name, ours := strings.CutPrefix(strings.TrimSpace(line), "github.com/ostraka/ostraka/")
			top, _, _ := strings.Cut(name, "/")
			if ours && name != "api/limit" { // which bounds connections, those to an owner's page too, and knows of no server
				require.NotContains(t, []string{"api", "blob", "devdb", "migrations", "queue"}, top, "%s on %s", name, system)
			}
		}
	}
}
