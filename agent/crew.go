package agent

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// crew runs so many workers as the owner allows, and more when more are allowed later. One too many finishes its lease and waits. It
// ends with the first error of a worker, or when soft has ended and all have come back.
func (a *agent) crew(soft, hard context.Context) error {
	workers, polling := errgroup.WithContext(soft)
	workers.Go(func() error {
		for hired := 0; polling.Err() == nil; {
			allowed, changed := a.keeper.allowed()
			for ; hired < allowed; hired++ {
				number := hired
				workers.Go(func() error { return newWorker(a, number).run(polling, hard) })
			}
			select {
			case <-polling.Done():
			case <-changed:
			}
		}
		return nil
	})
	return workers.Wait()
}
