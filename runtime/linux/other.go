//go:build !linux

package linux

// MaybeLaunch does nothing: these levels exist on Linux only.
func MaybeLaunch() {}
