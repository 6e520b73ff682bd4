package functions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// Limits of a lease.
const (
	MaxLeaseShards = 1024             // shards in one lease
	MaxLeaseWait   = 60 * time.Second // how long a poll may stay open
	MaxLeaseInput  = 4 << 20          // bytes of inputs in one lease, so that the answer stays small; one shard is always given
	// lastCallGrace is added to the time that the shards may take by their own limits: no heartbeat keeps a lease longer.
	lastCallGrace = 5 * time.Minute
	// candidateJobs is how many open jobs a poll reads at a time.
	candidateJobs = 32
)

type openJob struct {
	ProjectID    uuid.UUID
	JobID        uuid.UUID
	MinIsolation string
	CreatedAt    time.Time
}

// Lease lends the agent a batch of shards of one job, waiting for some to come up. Nil means that there was no work. The same
// idempotency key returns the same lease, so that an answer that was lost costs nothing.
func (s *Service) Lease(ctx context.Context, agent uuid.UUID, most int, wait time.Duration, idem Idempotency) (*Lease, error) {
	if most < 1 || most > MaxLeaseShards {
		return nil, Invalid("bad_max", fmt.Sprintf("max is %d", most), fmt.Sprintf("ask for 1 to %d shards", MaxLeaseShards))
	}
	me, projects, err := s.activeAgent(ctx, agent)
	if err != nil {
		return nil, err
	}
	if lease, err := s.leaseAgain(ctx, agent, idem); lease != nil || err != nil {
		return lease, err
	}
	nudges, stop := s.notices.subscribe(channelWork, projects...)
	defer stop()
	var lease *Lease
	err = waitFor(ctx, nudges, min(wait, MaxLeaseWait), func() (bool, error) {
		lease, err = s.leaseNow(ctx, me, most, idem)
		if errors.Is(err, errReplayed) { // a request with the same key was given a lease meanwhile
			lease, err = s.leaseAgain(ctx, agent, idem)
		}
		return lease != nil, err
	})
	return lease, err
}

func (s *Service) activeAgent(ctx context.Context, id uuid.UUID) (agent Agent, projects []uuid.UUID, err error) {
	agent, projects, err = s.seeAgent(ctx, id)
	if err == nil && agent.State != AgentActive {
		err = ErrNotEnrolled
	}
	return agent, projects, err
}

// seeAgent reads an agent that was heard of now.
func (s *Service) seeAgent(ctx context.Context, id uuid.UUID) (agent Agent, projects []uuid.UUID, err error) {
	type row struct {
		Agent
		Projects []uuid.UUID
	}
	me, found, err := store.One[row](ctx, s.store.Pool, store.SeeAgent, id)
	if err != nil || !found {
		return agent, nil, translate(orNotFound(err, "agent", id), uuid.Nil)
	}
	return me.Agent, me.Projects, nil
}

// leaseNow goes through the open jobs, oldest first, until one has a shard for this agent.
func (s *Service) leaseNow(ctx context.Context, agent Agent, most int, idem Idempotency) (*Lease, error) {
	var last openJob
	for {
		jobs, err := store.Many[openJob](ctx, s.store.Pool, store.OpenJobsForAgent, agent.ID, last.CreatedAt, last.JobID, candidateJobs)
		if err != nil {
			return nil, translate(err, uuid.Nil)
		}
		for _, job := range jobs {
			if !bundle.Isolation(agent.Isolation).AtLeast(bundle.Isolation(job.MinIsolation)) {
				continue
			}
			lease, err := s.leaseFrom(ctx, agent.ID, job, most, idem)
			if errors.Is(err, errHeld) { // a switch was put on meanwhile
				continue
			}
			if lease != nil || err != nil {
				return lease, err
			}
		}
		if len(jobs) < candidateJobs {
			return nil, nil
		}
		last = jobs[len(jobs)-1]
	}
}

type leaseGate struct {
	State        JobState
	Partition    partition.Spec
	FunctionName string
	Version      int
	Digest       string
	Size         int64
	Manifest     bundle.Manifest
	Signature    []byte
	SignedBy     *int
	Caught       bool
	Refused      bool
	Next         int64
}

type pickedShard struct {
	Number int64
	Input  []byte
}

func (s *Service) leaseFrom(ctx context.Context, agent uuid.UUID, from openJob, most int, idem Idempotency) (lease *Lease, err error) {
	id := newID()
	err = s.lend(ctx, from.ProjectID, func(tx *store.Tx) error {
		lease = nil
		gate, found, err := store.One[leaseGate](ctx, tx, store.GateLease, from.JobID, agent)
		if err != nil || !found || gate.Caught || gate.Refused || (gate.State != JobSplitting && gate.State != JobRunning) {
			return err
		}
		picked, err := pickShards(ctx, tx, from.JobID, agent, gate.Next, most)
		if err != nil || len(picked) == 0 {
			return err
		}
		lease = s.newLease(id, from, gate, picked)
		if lease.Signing, err = leaseSigning(ctx, tx, gate); err != nil {
			return err
		}
		return s.saveLease(ctx, tx, agent, lease, idem)
	})
	if err != nil {
		return nil, fmt.Errorf("leasing from job %s: %w", from.JobID, err)
	}
	return lease, nil
}

// pickShards takes shards from where the agent's last search ended, and then from the start for those that were opened again.
func pickShards(ctx context.Context, tx *store.Tx, job, agent uuid.UUID, next int64, most int) ([]pickedShard, error) {
	picked, err := store.Many[pickedShard](ctx, tx, store.LendShards, job, agent, next, int64(partition.MaxShards), most, MaxLeaseInput)
	if err != nil || len(picked) > 0 || next == 0 {
		return picked, err
	}
	return store.Many[pickedShard](ctx, tx, store.LendShards, job, agent, int64(0), next, most, MaxLeaseInput)
}

func (s *Service) newLease(id uuid.UUID, from openJob, gate leaseGate, picked []pickedShard) *Lease {
	shards := make([]LeasedShard, len(picked))
	for i, p := range picked {
		shards[i] = LeasedShard{Number: p.Number, Input: string(shardInput(gate.Partition, p.Number, p.Input))}
	}
	return &Lease{
		ID: id, Project: from.ProjectID, Job: from.JobID,
		Function: gate.FunctionName, Version: gate.Version, BundleDigest: gate.Digest, BundleSize: gate.Size, Manifest: gate.Manifest,
		Shards: shards, Deadline: time.Now().Add(s.leaseTTL), TTLSeconds: int(s.leaseTTL / time.Second),
	}
}

// shardInput is the input of a shard: the stored item, or what the partition computes.
func shardInput(spec partition.Spec, number int64, stored []byte) []byte {
	if input, computed := spec.Input(number); computed {
		return input
	}
	return stored
}

func (s *Service) saveLease(ctx context.Context, tx *store.Tx, agent uuid.UUID, lease *Lease, idem Idempotency) error {
	numbers := make([]int64, len(lease.Shards))
	for i, shard := range lease.Shards {
		numbers[i] = shard.Number
	}
	last := numbers[len(numbers)-1]
	if _, err := store.Exec(ctx, tx, store.AddLease, lease.ID, lease.Job, agent, numbers, last+1); err != nil {
		return err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	longest := lastCallGrace + time.Duration(len(numbers))*time.Duration(lease.Manifest.Limits.WallSeconds)*time.Second
	n, err := store.Exec(ctx, server, store.IndexLease, lease.ID, lease.Project, lease.Job, agent, s.leaseTTL, longest, lease.Function, lease.Version)
	if err != nil {
		return err
	}
	if n == 0 {
		return notLent(ctx, server, agent, lease)
	}
	_, replayed, err := remember(ctx, server, agent, "lease", idem, lease.ID)
	if err == nil && replayed {
		return errReplayed
	}
	return err
}

// leaseAgain finds the lease that an earlier request with the same key was given.
func (s *Service) leaseAgain(ctx context.Context, agent uuid.UUID, idem Idempotency) (*Lease, error) {
	if idem.Key == "" {
		return nil, nil
	}
	type known struct {
		ID            uuid.UUID
		ProjectID     uuid.UUID
		Deadline      time.Time
		Ended         bool
		RequestSHA256 []byte `db:"request_sha256"`
	}
	var k known
	var found bool
	err := s.control(ctx, func(tx pgx.Tx) (err error) {
		k, found, err = store.One[known](ctx, tx, store.LeaseByIdempotency, agent, idem.Key)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	if !bytes.Equal(k.RequestSHA256, idem.RequestDigest[:]) {
		return nil, ErrIdempotencyMismatch
	}
	if k.Ended {
		return nil, ErrLeaseEnded.with("lease %s, which this Idempotency-Key was given, has ended", k.ID)
	}
	return s.readLease(ctx, agent, k.ProjectID, k.ID, k.Deadline)
}

func (s *Service) readLease(ctx context.Context, agent, project, id uuid.UUID, deadline time.Time) (lease *Lease, err error) {
	err = s.project(ctx, project, func(tx *store.Tx) error {
		type owned struct {
			JobID  uuid.UUID
			Shards []int64
		}
		row, found, err := store.One[owned](ctx, tx, store.GetLease, id, agent)
		if err != nil || !found {
			return orNotFound(err, "lease", id)
		}
		gate, _, err := store.One[leaseGate](ctx, tx, store.GateLease, row.JobID, agent)
		if err != nil {
			return err
		}
		picked, err := store.Many[pickedShard](ctx, tx, store.ShardInputs, row.JobID, row.Shards)
		if err != nil {
			return err
		}
		lease = s.newLease(id, openJob{ProjectID: project, JobID: row.JobID}, gate, picked)
		lease.Deadline = deadline
		lease.Signing, err = leaseSigning(ctx, tx, gate)
		return err
	})
	return lease, err
}
