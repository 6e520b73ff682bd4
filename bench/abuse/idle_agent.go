package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

// idleAgent takes all the work that it is given and does none of it, for as long as the job runs.
func idleAgent(ctx context.Context, s *scene) ([]figure, error) {
	a, err := s.victim.Agent(ctx, "idler")
	if err != nil {
		return nil, err
	}
	shards := int64(s.size(1_000, 5_000))
	idling, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	taken := 0
	all.Go(func() {
		for idling.Err() == nil {
			lease, err := a.Lease(idling, 1024, "1s")
			if err == nil && lease != nil {
				taken += len(lease.Shards)
			}
		}
	})
	took, err := s.own(ctx, shards, client.PolicyRequest{Quorum: 2})
	cancel()
	all.Wait()
	return []figure{{"idle_agent_shards_taken", float64(taken)}, {"idle_agent_job_s", took.Seconds()}}, err
}

// hostileAgents are so many agents of the hostile tenant.
func (s *scene) hostileAgents(ctx context.Context, n int) ([]*rig.Agent, error) {
	agents := make([]*rig.Agent, n)
	for i := range agents {
		a, err := s.hostile.Agent(ctx, fmt.Sprintf("hostile-%d", i))
		if err != nil {
			return nil, err
		}
		agents[i] = a
	}
	return agents, nil
}
