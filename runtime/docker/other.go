//go:build !linux

package docker

// MaybeSupervise does nothing: containers are made on Linux only.
func MaybeSupervise() {}
