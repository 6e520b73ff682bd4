package main

import (
	"context"
	"slices"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

// leasesBefore is how many leases may go to a large job between the submission of a small one and its first: some turns of each agent.
const leasesBefore = 4 * crowdSize

// largeJobBeforeSmall has somebody submit a large job, and a colleague in the same project a small one. Time is counted in leases, so
// that the machine's speed does not matter.
func largeJobBeforeSmall(ctx context.Context, s *scene) ([]figure, error) {
	large, err := s.victim.Submit(ctx, rig.Range("trivial", int64(s.size(200_000, 1_000_000)), client.PolicyRequest{None: true}))
	if err != nil {
		return nil, err
	}
	if !rig.Until(ctx, servedWithin, func() bool { return len(s.crowd.given()) >= crowdSize }) {
		return nil, harm("a job gets no lease")
	}
	small, err := s.victim.Submit(ctx, rig.Range("trivial", 10, client.PolicyRequest{None: true}))
	if err != nil {
		return nil, err
	}
	for {
		// What was given while the small job had no shards yet does not count.
		job := s.victim.Job(ctx, small, "")
		if job != nil && job.State != "splitting" {
			break
		}
		if ctx.Err() != nil {
			return nil, harm("a small job is not split beside a large one")
		}
	}
	before := len(s.crowd.given())
	first := -1
	served := rig.Until(ctx, servedWithin, func() bool {
		given := s.crowd.given()
		first = slices.Index(given, small)
		return first >= 0 || s.victim.Ended(ctx, large)
	})
	if !served || first < 0 {
		return nil, harm("a job of 10 shards got no lease while one of its project was worked off that had come before it")
	}
	waited := max(0, first-before)
	figures := []figure{{"large_job_leases_before_small", float64(waited)}}
	if waited > leasesBefore {
		return figures, harm("a job of 10 shards waited for %d leases of a large one", waited)
	}
	return figures, nil
}
