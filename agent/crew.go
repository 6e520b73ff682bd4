package agent

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// crew runs as many workers as the preferences allow, also when they change. A surplus worker finishes its lease and idles. crew
// ends with the first error of a worker, or when soft has ended and all workers have returned.
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
