//go:build !linux

package isolation

import "errors"

// cores can bind processes to processors on Linux only.
type cores struct{}

func (*cores) use(n int) error {
	if n == 0 {
		return nil
	}
	return errors.New("processes are bound to processors on Linux only")
}
