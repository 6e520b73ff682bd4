package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

// sleepingShards is how many shards sleep on the server: three times as many as it has batches for one project.
const sleepingShards = 12

// sleeping is a function that the server is to execute and that does nothing for longer than anybody waits.
const sleeping = `import time
def handler(x):
    time.sleep(280)
    return {"passed": 22, "tested": 1000}
`

// rechecksHeld has a tenant's agent answer at once what takes the server minutes to execute again.
func rechecksHeld(ctx context.Context, s *scene) ([]figure, error) {
	if err := s.hostile.Push(ctx, "sleeping", sleeping); err != nil {
		return nil, err
	}
	agents, err := s.hostileAgents(ctx, 1)
	if err != nil {
		return nil, err
	}
	job, err := s.hostile.Submit(ctx, rig.Range("sleeping", sleepingShards, client.PolicyRequest{Recheck: "all"}))
	if err != nil {
		return nil, err
	}
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { _ = agents[0].Work(working, 100, nil) }()
	if !rig.Until(ctx, time.Minute, func() bool {
		n, err := s.server.Number(ctx, "select count(*) from river.river_job where kind = 'recheck' and state = 'running'")
		return err == nil && n > 0
	}) {
		return nil, fmt.Errorf("the server does not execute the sleeping shards")
	}
	took, err := s.own(ctx, 100, usual())
	figures := []figure{{"rechecks_held_other_job_s", took.Seconds()}}
	if err == nil && s.hostile.Ended(ctx, job) {
		err = harm("another tenant's job waited until all sleeping shards were executed")
	}
	return figures, err
}
