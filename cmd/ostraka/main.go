// Command ostraka is all of Ostraka in one program: the server, the agent, the command line and everything together for trying
// it out. It parses flags and wires parts, and does nothing else.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/ostraka/ostraka/runtime/docker"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/wasm/runner"
)

// version is set by the linker: see the Makefile.
var version = unknownVersion

func main() {
	linux.MaybeLaunch() // this program is also what functions run in, on agents and in containers, and what WASM modules run in: see those packages
	docker.MaybeSupervise()
	runner.MaybeRun()
	version = stampedVersion(version, debug.ReadBuildInfo)
	os.Exit(run(context.Background(), systemTerminal(), os.Args[1:]))
}
