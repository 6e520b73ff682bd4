package dispatch

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/turns"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
)

// Limits of a lease.
const (
	MaxLeaseShards = audit.MaxWorkLines // shards in one lease: an agent signs them at once
	MaxAgentPolls  = 256                // of one agent that wait at a time on one server: one for each of its workers
	MaxLeaseInput  = 4 << 20            // bytes of inputs in one lease, so that the answer stays small; one shard is always given
	// lastCallGrace is added to the time that a shard may take by its own limit: without a result no heartbeat keeps a lease longer.
	lastCallGrace = 5 * time.Minute
	// candidateJobs is how many open jobs a poll reads first. Where none of them has a shard for the agent, it reads all.
	candidateJobs = 32
)

type openJob struct {
	ProjectID uuid.UUID
	JobID     uuid.UUID
	lender    lender
	cost      turnCost // what a lease costs the job and its project
	waits     bool     // the agent waits for work, and may try again
	agent     guardian.Agent
	rules     int64    // the version of the operators' rules
	owners    []string // that the job is for, by its conditions; nil: all
}

// lender is what is noted of an agent at each lease.
type lender struct {
	owner string // whose machine it is, for the project
	block string // the block of addresses that it speaks from
	class string // the platform that it says to be
	cores int
}

// Poll is an agent's request for work.
type Poll struct {
	Most int           // shards
	Wait time.Duration // for some to come up
	From netip.Addr    // where the agent speaks from, as the server sees it; the zero value: it is not known
}

// Lease lends the agent a batch of shards of one job, waiting for some to come up. Nil means that there was no work. The same
// idempotency key returns the same lease, so that an answer that was lost costs nothing.
func (s *Service) Lease(ctx context.Context, agent uuid.UUID, poll Poll, idem functions.Idempotency) (*functions.Lease, error) {
	if poll.Most < 1 || poll.Most > MaxLeaseShards {
		return nil, functions.Invalid("bad_max", fmt.Sprintf("max is %d", poll.Most), fmt.Sprintf("ask for 1 to %d shards", MaxLeaseShards))
	}
	me, err := s.fleet.SeeAgent(ctx, agent)
	if err != nil {
		return nil, err
	}
	if lease, err := s.leaseAgain(ctx, agent, idem); lease != nil || err != nil {
		return lease, err
	}
	if poll.Wait <= 0 {
		return s.tryLease(ctx, agent, poll, idem)
	}
	return s.awaitLease(ctx, agent, me.Projects, poll, idem)
}

// candidate is the agent as it is now, and a job that it may take, if there is one.
type candidate struct {
	Name             string
	Rules            int64 // the version of the operators' rules of the guardian
	State            fleet.AgentState
	StateReason      string
	EULADigest       []byte `db:"eula_digest"`
	Isolation        bundle.Isolation
	Meter            int              // with which it executes functions in WebAssembly; 0: it executes none
	Wasm             bool             // the function is one
	Runtimes         string           // the platform for which it executes functions in runtimes; empty: it executes none
	Runtime          string           // the platform of the function's; empty: it runs in what agents have
	Wish             bundle.Isolation // the weakest level at which its owner lets anything run
	ProjectID        *uuid.UUID
	JobID            *uuid.UUID
	MinIsolation     bundle.Isolation // of the function
	ProjectIsolation bundle.Isolation
	Owner            string // whose machine it is, for the project
	Platform         fleet.Platform
	lineRow
}

// isolated says whether the agent's sandbox is strong enough for everybody: the strictest decides. Functions in WebAssembly have another one
// than those in Python, and need the meter that the server has: where fuel ends is the same on all machines with one meter, and on no others.
func (c candidate) isolated() bool {
	level := c.Isolation
	if c.Wasm {
		if c.Meter != wasm.Meter {
			return false
		}
		level = bundle.Wasm
	}
	if c.Runtime != "" && c.Runtime != c.Runtimes {
		return false
	}
	return level.AtLeast(c.MinIsolation) && level.AtLeast(c.ProjectIsolation) && level.AtLeast(c.Wish)
}

// class is the platform that the agent executes the function on.
func (c candidate) class() string {
	if c.Wasm {
		return verify.ClassWasm
	}
	if c.Runtime != "" {
		return verify.ClassOfRuntime(c.Runtime)
	}
	return c.Platform.Machine().Class()
}

// mayWork says why the agent gets no work, if it gets none.
func (s *Service) mayWork(c candidate) error {
	switch {
	case c.State == fleet.AgentRevoked:
		return functions.ErrAgentRevoked
	case c.State != fleet.AgentActive && c.StateReason != "":
		return functions.ErrNotEnrolled.With("the agent is %s: %s", c.State, c.StateReason)
	case c.State != fleet.AgentActive:
		return functions.ErrNotEnrolled.With("the agent is %s", c.State)
	case s.fleet.MissingEULA(c.EULADigest) != nil:
		return functions.ErrEULARequired.With("version %s of the agreement must be accepted before there is work", s.fleet.EULA().Version)
	default:
		return nil
	}
}

// leaseNow goes through the open jobs in the order of their turns, until one has a shard for this agent.
func (s *Service) leaseNow(ctx context.Context, agent uuid.UUID, poll Poll, idem functions.Idempotency) (*functions.Lease, error) {
	tried := map[uuid.UUID]bool{}
	for most := candidateJobs; ; most = math.MaxInt32 {
		rows, err := store.Many[candidate](ctx, s.env.Store.Pool, sql.OpenJobsForAgent, agent, turns.Tries, most)
		if err != nil || len(rows) == 0 {
			return nil, base.Translate(base.OrNotFound(err, "agent", agent), uuid.Nil)
		}
		if err := s.mayWork(rows[0]); err != nil {
			return nil, err
		}
		if rows[0].JobID == nil {
			return nil, nil
		}
		for _, c := range inTurn(rows) {
			if tried[*c.JobID] || !c.isolated() {
				continue
			}
			tried[*c.JobID] = true
			from := openJob{
				agent: c.facts(agent), rules: c.Rules, ProjectID: *c.ProjectID, JobID: *c.JobID, cost: c.cost(), waits: poll.Wait > 0,
				lender: lender{owner: c.Owner, block: verify.Block(poll.From), class: c.class(), cores: c.Platform.CPUs},
			}
			lease, err := s.leaseFrom(ctx, agent, from, poll.Most, idem)
			if passedOver(err) {
				s.noteUnrecorded(err, from)
				continue
			}
			if lease != nil || err != nil {
				return lease, err
			}
		}
		if len(rows) < most || most > candidateJobs {
			return nil, nil
		}
	}
}

type leaseGate struct {
	State        functions.JobState
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
	Policy       verify.Policy
	RerunOf      *uuid.UUID
	Shards       int64
	Depth        int
	Priority     int
	Controls     bool                 // the job brought shards with known answers
	Conditions   *guardian.Conditions // that the job must keep to
	Rules        int64                // the version of the project's rules of the guardian
	Findings     []registry.FoundCode
	Scored       bool
}

func (s *Service) leaseFrom(ctx context.Context, agent uuid.UUID, from openJob, most int, idem functions.Idempotency) (lease *functions.Lease, err error) {
	id := base.NewID()
	var over []int64 // controls that nobody else answers
	err = s.env.Repeatable(ctx, from.ProjectID, func(tx *store.Tx) error {
		lease, over = nil, nil
		gate, found, err := store.One[leaseGate](ctx, tx, sql.GateLease, from.JobID, agent)
		if err != nil || !found || gate.Caught || gate.Refused || (gate.State != functions.JobSplitting && gate.State != functions.JobRunning) {
			return err
		}
		if caught, err := owner.IsCaught(ctx, tx, from.lender.owner); err != nil || caught {
			return err
		}
		if takesPart, err := gate.takesPart(ctx, tx, from.JobID, from.lender.owner, agent); err != nil || !takesPart {
			return err
		}
		if !gate.keeps(from, s.env.Now()) {
			return nil
		}
		from.owners = gate.onlyOwners()
		free, err := s.mayHold(ctx, tx, from, agent, gate.Policy)
		if err != nil || free == 0 {
			return err
		}
		by := borrower{job: from.JobID, agent: agent, hand: owner.Hand(from.lender.owner, agent), kin: kinOf(from.lender, gate.Policy), among: s.drawsAmong(gate.Policy), room: MaxLeaseInput}
		if gate.Controls {
			if by.without, over, err = controlsToSkip(ctx, tx, from.JobID, agent, from.lender); err != nil {
				return err
			}
		}
		if by.lots, err = s.lotsFor(ctx, tx, from, agent, gate.Policy); err != nil {
			return err
		}
		pick := pickShards
		if gate.Controls {
			pick = pickControlled
		}
		picked, next, err := pick(ctx, tx, by, gate.Next, int(min(int64(most), free)))
		if err == nil && len(picked) == 0 && by.lots != nil && by.lots.denied && from.waits {
			s.undrawn.deny(agent)
		}
		if err != nil || len(picked) == 0 {
			return err
		}
		if gate.Controls {
			if err := lendControls(ctx, tx, id, from, agent, picked); err != nil {
				return err
			}
		}
		lease = s.newLease(id, from, gate, picked)
		if lease.Signing, err = registry.LeaseSigning(ctx, tx, gate.SignedBy, gate.Signature); err != nil {
			return err
		}
		decided, err := s.decide(ctx, tx, from, gate, lease)
		if err != nil {
			return err
		}
		return s.saveLease(ctx, tx, agent, from, lease, next, decided, idem)
	})
	if err != nil {
		return nil, fmt.Errorf("leasing from job %s: %w", from.JobID, err)
	}
	if err := s.giveUpControls(ctx, from.ProjectID, from.JobID, over); err != nil {
		return nil, fmt.Errorf("giving up controls of job %s: %w", from.JobID, err)
	}
	return lease, nil
}

func (s *Service) newLease(id uuid.UUID, from openJob, gate leaseGate, picked []jobs.PickedShard) *functions.Lease {
	shards := make([]functions.LeasedShard, len(picked))
	for i, p := range picked {
		shards[i] = functions.LeasedShard{Number: p.Number, Input: string(jobs.ShardInput(gate.Partition, p.Number, p.Input))}
	}
	return &functions.Lease{
		ID: id, Project: from.ProjectID, Job: from.JobID,
		Function: gate.FunctionName, Version: gate.Version, BundleDigest: gate.Digest, BundleSize: gate.Size, Manifest: gate.Manifest,
		Statement: audit.StatementOfWork, Shards: shards, Files: gate.Partition.Files(), Deadline: time.Now().Add(s.leaseTTL), TTLSeconds: int(s.leaseTTL / time.Second),
	}
}

func (s *Service) saveLease(ctx context.Context, tx *store.Tx, agent uuid.UUID, from openJob, lease *functions.Lease, next int64, decided base.Judgement, idem functions.Idempotency) error {
	l := from.lender
	numbers := make([]int64, len(lease.Shards))
	for i, shard := range lease.Shards {
		numbers[i] = shard.Number
	}
	if _, err := store.Exec(ctx, tx, sql.AddLease, lease.ID, lease.Job, agent, numbers, next, l.owner, l.block, l.class,
		decided.Actor, decided.Action, lease.Job.String(), decided.Detail, lease.Statement); err != nil {
		return err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	indexed, made, err := store.One[indexedLease](ctx, server, sql.IndexLease, lease.ID, lease.Project, lease.Job, agent, s.leaseTTL,
		lastCall(lease.Manifest.Limits.WallSeconds), lease.Function, lease.Version, lease.Manifest.Script != "")
	if err != nil {
		return err
	}
	if !made {
		return fleet.NotLent(ctx, server, agent, lease)
	}
	if indexed.Rules != decided.By.Operator {
		return errNotDecided
	}
	lease.Monitor = indexed.Monitor
	_, replayed, err := base.Remember(ctx, server, agent, "lease", idem, lease.ID)
	if err == nil && replayed {
		return functions.ErrReplayed
	}
	if err != nil {
		return err
	}
	return from.take(ctx, server) // last: all leases of the project want this row
}

// leaseAgain finds the lease that an earlier request with the same key was given.
func (s *Service) leaseAgain(ctx context.Context, agent uuid.UUID, idem functions.Idempotency) (*functions.Lease, error) {
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
	err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		k, found, err = store.One[known](ctx, tx, sql.LeaseByIdempotency, agent, idem.Key)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	if !bytes.Equal(k.RequestSHA256, idem.RequestDigest[:]) {
		return nil, functions.ErrIdempotencyMismatch
	}
	if k.Ended {
		return nil, functions.ErrLeaseEnded.With("lease %s, which this Idempotency-Key was given, has ended", k.ID)
	}
	return s.readLease(ctx, agent, k.ProjectID, k.ID, k.Deadline)
}

func (s *Service) readLease(ctx context.Context, agent, project, id uuid.UUID, deadline time.Time) (lease *functions.Lease, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		type owned struct {
			JobID  uuid.UUID
			Shards []int64
		}
		row, found, err := store.One[owned](ctx, tx, sql.GetLease, id, agent)
		if err != nil || !found {
			return base.OrLeaseOfDeleted(err)
		}
		gate, found, err := store.One[leaseGate](ctx, tx, sql.GateLease, row.JobID, agent)
		if err != nil || !found {
			return base.OrLeaseOfDeleted(err)
		}
		picked, err := store.Many[jobs.PickedShard](ctx, tx, store.ShardInputs, row.JobID, row.Shards)
		if err != nil {
			return err
		}
		if gate.Controls {
			if err := lentAgain(ctx, tx, id, picked); err != nil {
				return err
			}
		}
		lease = s.newLease(id, openJob{ProjectID: project, JobID: row.JobID}, gate, picked)
		lease.Deadline = deadline
		if lease.Signing, err = registry.LeaseSigning(ctx, tx, gate.SignedBy, gate.Signature); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		p, err := tenant.GetProject(ctx, server, project)
		lease.Monitor = p.Monitor
		return err
	})
	return lease, err
}

// takesPart says whether an agent may be lent shards of a job as far as incidents in earlier runs of it are concerned.
func (g leaseGate) takesPart(ctx context.Context, tx *store.Tx, job uuid.UUID, owner string, agent uuid.UUID) (bool, error) {
	if g.RerunOf == nil {
		return true, nil
	}
	hands, err := jobs.ExcludedHands(ctx, tx, job)
	return !jobs.Excludes(hands, owner, agent), err
}
