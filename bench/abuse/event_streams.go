package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/functions/tenant"
)

// streamClients are the addresses from which one tenant opens its streams: each may ask only so often.
const streamClients = 8

// eventStreams has one tenant watch a job of its own as often as it can. More than it may have are refused, and neither those that are
// open nor those that are refused keep another tenant from its work.
func eventStreams(ctx context.Context, s *scene) ([]figure, error) {
	job, err := s.hostile.Submit(ctx, rig.Range("trivial", 1, client.PolicyRequest{None: true})) // it waits: the tenant has no agents
	if err != nil {
		return nil, err
	}
	alone, err := s.submitMedian(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := s.own(ctx, 10, usual()); err != nil { // what was submitted is worked off then
		return nil, err
	}
	streams := s.size(tenant.DefaultStreams+200, 3*tenant.DefaultStreams)
	watching, cancel := context.WithCancel(ctx)
	var open, refused, unclear, broken atomic.Int64
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	url := fmt.Sprintf("%s/v1/projects/%s/jobs/%s/events", s.server.URL, s.hostile.ID, job)
	for i := range streamClients {
		x := newStranger(fmt.Sprintf("203.0.113.%d", 30+i), streams)
		x.web.Timeout = 0
		defer x.web.CloseIdleConnections()
		for range streams / streamClients {
			all.Go(func() {
				r, err := http.NewRequestWithContext(watching, http.MethodGet, url, nil)
				if err != nil {
					broken.Add(1)
					return
				}
				r.Header.Set("X-Forwarded-For", x.address)
				r.Header.Set("Authorization", "Bearer "+s.hostile.OwnerKey)
				res, err := x.web.Do(r)
				if err != nil {
					broken.Add(1)
					return
				}
				defer res.Body.Close()
				switch {
				case res.StatusCode == http.StatusOK:
					open.Add(1)
					<-watching.Done()
				case res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					unclear.Add(1)
				}
			})
		}
	}
	tried := func() int64 { return open.Load() + refused.Load() + unclear.Load() + broken.Load() }
	if !rig.Until(ctx, time.Minute, func() bool { return tried() >= int64(streams) }) {
		return nil, harm("of %d streams the server has answered %d", streams, tried())
	}
	took, err := s.own(ctx, 10, usual())
	if err != nil {
		return nil, err
	}
	beside, err := s.submitMedian(ctx)
	cancel()
	all.Wait()
	if err == nil {
		alone, err = s.submitMedianAgain(ctx, alone)
	}
	ratio := beside.Seconds() / alone.Seconds()
	figures := []figure{
		{"event_streams", float64(open.Load())},
		{"event_streams_refused", float64(refused.Load())},
		{"event_streams_submit_ratio", ratio},
		{"event_streams_other_job_s", took.Seconds()},
	}
	switch {
	case err != nil:
		return figures, err
	case open.Load() > tenant.DefaultStreams:
		return figures, harm("one tenant has %d streams open, and may have %d", open.Load(), tenant.DefaultStreams)
	case refused.Load() == 0 || unclear.Load() > 0:
		return figures, harm("of %d streams %d were refused as too many, and %d without saying so", streams, refused.Load(), unclear.Load())
	case strings.Contains(s.server.Said(), "panic"):
		return figures, harm("the server has panicked")
	case ratio > waitingRatio:
		return figures, harm("beside %d event streams a submission takes %v, alone %v", open.Load(), beside, alone)
	}
	return figures, nil
}
