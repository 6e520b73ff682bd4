package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

const (
	// crowdSize is how many owners work for the tenant that is not to be harmed, with an agent each.
	crowdSize = 4
	// servedWithin bounds how long a tenant may have to wait for a small job: it says "never" on any machine.
	servedWithin = 2 * time.Minute
	// leaseTTL is short, since some attacks end when leases do.
	leaseTTL = "3s"
)

// scene is where an attack takes place: a server, a tenant with agents at work that is not to be harmed, and a hostile one.
type scene struct {
	options
	rig     *rig.Rig
	server  *rig.Server
	victim  *rig.Tenant
	hostile *rig.Tenant
	crowd   *crowd
}

// open sets an attack's scene up. What comes over this machine's own network is taken for a proxy, so that strangers may have addresses.
func (o options) open(ctx context.Context, r *rig.Rig, name string) (*scene, error) {
	database, err := r.Database(ctx, name)
	if err != nil {
		return nil, err
	}
	server, err := r.Serve(ctx, database, "--recheck-sandbox", "linux", "--trusted-proxy", "127.0.0.0/8", "--lease-ttl", leaseTTL)
	if err != nil {
		return nil, err
	}
	s := &scene{options: o, rig: r, server: server}
	if s.victim, err = server.Tenant(ctx, "victim"); err != nil {
		return nil, err
	}
	if s.hostile, err = server.Tenant(ctx, "hostile"); err != nil {
		return nil, err
	}
	for _, t := range []*rig.Tenant{s.victim, s.hostile} {
		if err := t.Push(ctx, "trivial", rig.Source); err != nil {
			return nil, err
		}
	}
	s.crowd, err = gather(ctx, s.victim)
	return s, err
}

func (s *scene) close() error {
	err := s.crowd.leave()
	s.server.Kill()
	return err
}

// size is a count that depends on how much time there is.
func (s *scene) size(short, long int) int {
	if s.short {
		return short
	}
	return long
}

// usual is the policy of a job that says nothing about it: the server executes some of its shards again.
func usual() client.PolicyRequest { return client.PolicyRequest{TargetError: 0.001} }

// own runs a job of the tenant that is not to be harmed, and says how long it took.
func (s *scene) own(ctx context.Context, shards int64, policy client.PolicyRequest) (time.Duration, error) {
	begin := time.Now()
	id, err := s.victim.Submit(ctx, rig.Range("trivial", shards, policy))
	if err != nil {
		return 0, harm("another tenant cannot submit a job: %v", err)
	}
	var job *client.Job
	ended := rig.Until(ctx, servedWithin, func() bool {
		job = s.victim.Job(ctx, id, "10s")
		return job != nil && (job.State == "finished" || job.State == "failed")
	})
	took := time.Since(begin)
	if !ended {
		return took, harm("a job of %d shards of another tenant has not ended after %v: %s", shards, servedWithin, s.why(ctx, id))
	}
	return took, rig.RightAnswer(job, shards)
}

func (s *scene) why(ctx context.Context, job uuid.UUID) string {
	why, err := s.victim.Owner.ExplainJobWithResponse(ctx, s.victim.ID, job)
	if err != nil {
		return err.Error()
	}
	return string(why.Body)
}

// crowd are agents that work until they leave.
type crowd struct {
	cancel context.CancelFunc
	all    sync.WaitGroup
	failed chan error

	mu     sync.Mutex
	leases []uuid.UUID // the job of each, in the order in which they were given
}

func gather(ctx context.Context, t *rig.Tenant) (*crowd, error) {
	working, cancel := context.WithCancel(ctx)
	c := &crowd{cancel: cancel, failed: make(chan error, crowdSize)}
	for i := range crowdSize {
		a, err := t.Agent(ctx, "worker-"+string(rune('a'+i)))
		if err != nil {
			cancel()
			return nil, err
		}
		c.all.Go(func() {
			if err := a.Work(working, 100, c.leased); err != nil {
				c.failed <- harm("an agent of another tenant cannot work: %v", err)
			}
		})
	}
	return c, nil
}

func (c *crowd) leased(job uuid.UUID, _ int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leases = append(c.leases, job)
}

// given are the jobs of the leases so far.
func (c *crowd) given() []uuid.UUID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]uuid.UUID(nil), c.leases...)
}

// err is why an agent had to stop, if one had to.
func (c *crowd) err() error {
	select {
	case err := <-c.failed:
		return err
	default:
		return nil
	}
}

func (c *crowd) leave() error {
	c.cancel()
	c.all.Wait()
	if err := c.err(); err != nil && !errors.Is(err, errHarm) {
		return err
	}
	return nil
}
