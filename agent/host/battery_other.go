//go:build !linux

package host

// readBattery knows nothing: only Linux is asked.
func readBattery() Battery { return Battery{} }
