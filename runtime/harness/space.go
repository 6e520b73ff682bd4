package harness

import (
	"errors"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// MaxWorkspaceDepth is how deeply folders of a workspace may be nested: each
// level costs a descriptor and a step of every walk. A deeper one passes
// limits.inodes.
const MaxWorkspaceDepth = 256

// errMachineFull says that the disk of the machine, not the function's share of
// it, is used up.
var errMachineFull = errors.New("the disk under the workspaces is full: make room on this machine")

// space is what lies in a workspace.
type space struct {
	bytes  int64 // sum of sizes, holes included: the same on every file system
	inodes int64 // files and folders, without the folders that were there before
	deep   bool  // nested deeper than MaxWorkspaceDepth
}

// over says which limit is broken.
func (s space) over(l bundle.Limits) stop {
	switch {
	case s.inodes > l.Inodes || s.deep:
		return stopInodes
	case s.bytes > l.DiskBytes:
		return stopDisk
	}
	return stopNone
}

// quota tells whose file system the workspace is.
type quota struct {
	own  bool // it is as large as the function's limit: to fill it is to pass that
	full bool // nothing is left of it now
}
