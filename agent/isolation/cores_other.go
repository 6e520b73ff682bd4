//go:build !linux

package isolation

import "errors"

// Cores can bind processes to processors on Linux only.
type Cores struct{}

// Use binds to so many processors; 0: to all that were given.
func (*Cores) Use(n int) error {
	if n == 0 {
		return nil
	}
	return errors.New("processes are bound to processors on Linux only")
}
