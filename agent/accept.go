package agent

import (
	"fmt"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/tree"
)

// acceptLease says why the owner does not let the agent work on a lease, by what the server says of it, before anything is fetched;
// nothing when it does.
func (a *agent) acceptLease(lease *client.Lease) error {
	p := a.keeper.current()
	switch {
	case !p.AllowsProject(lease.Project):
		return refused(refusedProject, "the owner of this machine does not work for the project")
	case !p.AllowsFunction(lease.Function, lease.BundleDigest):
		return refused(refusedFunction, "the owner of this machine does not run this function")
	}
	return acceptSize(p.Function.BundleBytes, lease.BundleSize)
}

// accept says why the owner does not let the agent run a function, by its checked bundle; nothing when it does. Of two limits the
// lower one holds: those that the program was started with, and those of the preferences.
func (a *agent) accept(b *bundle.Bundle) error {
	p := a.keeper.current()
	f, level := p.Function, a.sandboxFor(&b.Manifest).Level()
	if err := acceptSize(f.BundleBytes, b.Size); err != nil {
		return err
	}
	switch {
	case b.Manifest.IsWasm() && p.WasmDenied:
		return refused(refusedRuntime, "the owner of this machine runs no functions in WebAssembly")
	case b.Manifest.RuntimeDigest() != "" && p.RuntimesDenied:
		return refused(refusedRuntime, "the owner of this machine runs no functions that bring native code along in a runtime")
	case b.Manifest.RuntimeDigest() != "" && a.runtimes() == "":
		return refused(refusedRuntime, fmt.Sprintf("runtimes need %s with AVX2 and isolation linux or process, and this is isolation %s", tree.Platform, level))
	case !level.AtLeast(f.MinIsolation):
		return refused(refusedIsolation, fmt.Sprintf("the owner of this machine wants isolation %q and it would run at %q", f.MinIsolation, level))
	}
	caps := a.options.Caps.lower(Caps{MemoryBytes: f.MemoryBytes, DiskBytes: f.DiskBytes, WallSeconds: f.WallSeconds, CPUSeconds: f.CPUSeconds, Pids: f.Pids})
	return caps.refuse(level, &b.Manifest)
}

func acceptSize(most, size int64) error {
	if most > 0 && size > most {
		return refused(refusedBundleSize, fmt.Sprintf("its bundle has %d bytes and this agent allows %d", size, most))
	}
	return nil
}
