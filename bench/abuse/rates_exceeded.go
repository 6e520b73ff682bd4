package main

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// ratesExceeded has one stranger ask as fast as it can. It must be told when to come back, and others must be served meanwhile.
func ratesExceeded(ctx context.Context, s *scene) ([]figure, error) {
	requests := s.size(4_000, 40_000)
	loud := newStranger("203.0.113.5", 16)
	defer loud.web.CloseIdleConnections()
	var refused, unclear atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range requests / 16 {
				a, err := loud.ask(ctx, http.MethodGet, s.server.URL+"/v1/projects/"+s.victim.ID.String()+"/jobs", "ostraka_made_up", "")
				if err != nil || a.status != http.StatusTooManyRequests {
					continue
				}
				refused.Add(1)
				if wait, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || wait < 1 || a.header.Get("Ratelimit") == "" {
					unclear.Add(1)
				}
			}
		})
	}
	took, err := s.own(ctx, 10, usual())
	all.Wait()
	figures := []figure{{"rates_exceeded_requests", float64(requests)}, {"rates_exceeded_refused", float64(refused.Load())}, {"rates_exceeded_other_job_s", took.Seconds()}}
	switch {
	case err != nil:
		return figures, err
	case refused.Load() == 0:
		return figures, harm("one address has sent %d requests as fast as it could, and none was refused", requests)
	case unclear.Load() > 0:
		return figures, harm("%d of %d refusals do not say when to come back", unclear.Load(), refused.Load())
	}
	return figures, nil
}
