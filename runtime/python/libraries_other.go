//go:build !linux

package python

// libraries is of use where a sandbox has a root of its own, which is Linux.
func libraries(string, ...string) ([]string, error) { return nil, nil }
