package main

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

const (
	// waitingRatio is how many times as long the median submission of another tenant may take beside polls that wait. They are tens of
	// times as long where each poll asks the database by itself.
	waitingRatio = 3
	// submissions are how many are measured.
	submissions = 31
)

// waitingPolls holds as many polls open as it may, by one agent's key and from many addresses.
func waitingPolls(ctx context.Context, s *scene) ([]figure, error) {
	a, err := s.hostile.Agent(ctx, "waiter")
	if err != nil {
		return nil, err
	}
	alone, err := s.submitMedian(ctx)
	if err != nil {
		return nil, err
	}
	polls := s.size(500, 2_000)
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	var open, refused atomic.Int64
	var all sync.WaitGroup
	for range polls {
		all.Go(func() {
			x := newStranger("203.0.113.8", 1)
			defer x.web.CloseIdleConnections()
			for waiting.Err() == nil {
				open.Add(1)
				got, err := x.ask(waiting, http.MethodPost, s.server.URL+"/v1/agent/leases?max=1&wait=50s", a.Key, "")
				open.Add(-1)
				if err == nil && got.status >= http.StatusBadRequest {
					refused.Add(1)
					return // whoever is refused has lost
				}
			}
		})
	}
	if !rig.Until(ctx, time.Minute, func() bool { return open.Load()+refused.Load() >= int64(polls) }) {
		return nil, harm("the polls are not even taken")
	}
	beside, err := s.submitMedian(ctx)
	held := open.Load()
	cancel()
	all.Wait()
	if err == nil {
		alone, err = s.submitMedianAgain(ctx, alone)
	}
	ratio := beside.Seconds() / alone.Seconds()
	figures := []figure{{"waiting_polls", float64(held)}, {"waiting_polls_refused", float64(refused.Load())}, {"waiting_polls_submit_ratio", ratio}}
	if err == nil && ratio > waitingRatio {
		err = harm("beside %d polls that wait a submission takes %v, alone %v", held, beside, alone)
	}
	return figures, err
}

// submitMedian is the median time of a submission of the tenant that is not to be harmed.
func (s *scene) submitMedian(ctx context.Context) (time.Duration, error) {
	took := make([]time.Duration, submissions)
	for i := range took {
		begin := time.Now()
		if _, err := s.victim.Submit(ctx, rig.Range("trivial", 1, client.PolicyRequest{None: true})); err != nil {
			return 0, harm("another tenant cannot submit a job: %v", err)
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// submitMedianAgain is the longer of two medians, before and after an attack: a machine that has got other things to do meanwhile is no harm
// that the attack has done.
func (s *scene) submitMedianAgain(ctx context.Context, before time.Duration) (time.Duration, error) {
	after, err := s.submitMedian(ctx)
	return max(before, after), err
}
