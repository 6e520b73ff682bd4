//go:build !linux

package harness

import "github.com/ostraka/ostraka/runtime/bundle"

// measure measures a workspace as far as the standard library can.
func measure(dir string, limits bundle.Limits, unlock bool) (space, error) {
	return walkSpace(dir, limits, unlock)
}
