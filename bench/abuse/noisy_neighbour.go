package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

const (
	// neighbourShards are those of the job whose time is taken.
	neighbourShards = 100
	// neighbourRatio is the least that the job's time alone may be of its time beside a noisy tenant.
	neighbourRatio = 0.5
	// noiseEnv holds what a process needs to know that makes noise.
	noiseEnv = "OSTRAKA_ABUSE_NOISE"
)

// noisyNeighbour compares the time of a small job alone with its time while another tenant submits, leases, has the server execute
// shards, uploads and polls as fast as it may. The job is alone before and afterwards: a machine that has got other things to do meanwhile is no
// harm that the tenant has done.
func noisyNeighbour(ctx context.Context, s *scene) ([]figure, error) {
	rounds := s.size(3, 7)
	if _, err := s.own(ctx, neighbourShards, usual()); err != nil { // what is made once is made now
		return nil, err
	}
	alone, err := s.ownTimes(ctx, rounds)
	if err != nil {
		return nil, err
	}
	quiet, err := s.makeNoise(ctx)
	if err != nil {
		return nil, err
	}
	defer quiet()
	beside, err := s.ownTimes(ctx, rounds)
	if err != nil {
		return nil, err
	}
	quiet()
	if err := s.switchOff(ctx, s.hostile); err != nil {
		return nil, err
	}
	after, err := s.ownTimes(ctx, rounds)
	if err != nil {
		return nil, err
	}
	own, with := median(append(alone, after...)), median(beside)
	ratio := own.Seconds() / with.Seconds()
	figures := []figure{
		{"noisy_neighbour_alone_s", own.Seconds()},
		{"noisy_neighbour_alone_before_s", median(alone).Seconds()},
		{"noisy_neighbour_alone_after_s", median(after).Seconds()},
		{"noisy_neighbour_beside_s", with.Seconds()},
		{"noisy_neighbour_ratio", ratio},
	}
	if ratio < neighbourRatio {
		err = harm("a job of %d shards takes %v beside a noisy tenant, and %v alone", neighbourShards, with, own)
	}
	return figures, err
}

// ownTimes are the times of the tenant's job, run so often one after the other.
func (s *scene) ownTimes(ctx context.Context, rounds int) ([]time.Duration, error) {
	took := make([]time.Duration, rounds)
	for i := range took {
		var err error
		if took[i], err = s.own(ctx, neighbourShards, usual()); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// median leaves the times as they are.
func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// switchOff ends what a tenant has under way.
func (s *scene) switchOff(ctx context.Context, t *rig.Tenant) error {
	operator, err := s.server.Operator(ctx)
	if err != nil {
		return err
	}
	on, err := operator.KillWithResponse(ctx, nil, client.NewKillSwitch{Scope: "project", Project: &t.ID, Reason: "it is to be quiet", Force: true})
	if err != nil {
		return err
	}
	if on.JSON200 == nil {
		return fmt.Errorf("switching project %s off: %s", t.Name, on.Body)
	}
	return nil
}

// makeNoise starts a process that is as loud as one tenant can be, and returns what ends it. It is another machine's in truth, so that
// it gets of this one's processors what others leave: what is to be seen is what the server does.
func (s *scene) makeNoise(ctx context.Context) (quiet func(), err error) {
	agents, err := s.hostileAgents(ctx, noisyAgents)
	if err != nil {
		return nil, err
	}
	n := noise{URL: s.server.URL, Project: s.hostile.ID, Owner: s.hostile.OwnerKey}
	for _, a := range agents {
		n.Agents = append(n.Agents, a.Secret())
	}
	text, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env, cmd.Stderr = append(os.Environ(), noiseEnv+"="+string(text)), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	quiet = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if !rig.Until(ctx, time.Minute, func() bool { return s.loud(ctx) }) {
		quiet()
		return nil, fmt.Errorf("the noisy tenant makes no noise")
	}
	return quiet, nil
}

// loud says whether the hostile tenant has results, that is whether all of its ways to be loud have begun.
func (s *scene) loud(ctx context.Context) bool {
	n, err := s.server.Number(ctx, "select count(*) from "+s.hostile.Table("submissions"))
	return err == nil && n > 0
}
