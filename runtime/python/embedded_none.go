//go:build !((linux && (amd64 || arm64)) || (darwin && (amd64 || arm64)) || (windows && amd64))

package python

// embedded says that no interpreter is made for this platform.
func embedded() (source, error) { return source{}, errNotEmbedded() }
