package main

import (
	"context"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

// hugeJobs is how many the hostile tenant submits, each of as many shards as a job may have: more than there are workers to split them.
const hugeJobs = 9

// controlFlooded has one tenant submit jobs that take minutes to be split, and another a small one.
func controlFlooded(ctx context.Context, s *scene) ([]figure, error) {
	accepted := 0
	for range hugeJobs {
		r, err := s.hostile.Owner.SubmitJobWithResponse(ctx, s.hostile.ID, nil, rig.Range("trivial", 10_000_000, client.PolicyRequest{None: true}))
		if err != nil {
			return nil, err
		}
		if r.JSON201 != nil {
			accepted++
		}
	}
	took, err := s.own(ctx, 10, client.PolicyRequest{Quorum: 2})
	figures := []figure{{"control_flooded_jobs", float64(accepted)}, {"control_flooded_other_job_s", took.Seconds()}}
	if err != nil {
		return figures, err
	}
	splitting, err := s.server.Number(ctx, "select count(*) from "+s.hostile.Table("jobs")+" where state = 'splitting'")
	if err == nil && accepted == hugeJobs && splitting == 0 {
		err = harm("a job of 10 shards waited until %d huge ones of another tenant were split", accepted)
	}
	return figures, err
}
