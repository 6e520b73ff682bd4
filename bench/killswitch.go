package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
)

// killAgents is how many agents hear of the killswitch at once, each with a lease, a sandbox and a poll for directives.
const killAgents = 100

// killswitch measures how long it takes from the command until the last agent has ended its sandbox, returned its lease and said so.
func (b *bench) killswitch(ctx context.Context) (figures []figure, err error) {
	s, err := b.startServer(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	owner, project := s.owner, s.project
	if _, err := b.submit(ctx, s, believed(killAgents)); err != nil {
		return nil, err
	}
	victims := make([]*victim, killAgents)
	group, working := errgroup.WithContext(ctx)
	for i := range victims {
		a, err := enrol(ctx, s.info, fmt.Sprintf("victim %d", i))
		if err != nil {
			return nil, err
		}
		if victims[i], err = a.victim(ctx); err != nil {
			return nil, err
		}
	}
	for _, v := range victims {
		group.Go(func() error { return v.obey(working) })
	}
	began := time.Now()
	on, err := owner.KillInProjectWithResponse(ctx, project, nil, client.NewProjectKillSwitch{Scope: "project", Reason: "a bench"})
	if err != nil || on.JSON200 == nil {
		return nil, fmt.Errorf("putting the killswitch on: %w: %s", err, on.Body)
	}
	command := time.Since(began)
	if err := group.Wait(); err != nil {
		return nil, err
	}
	silence := time.Since(began)
	wait := "10s"
	status, err := owner.GetProjectKillSwitchWithResponse(ctx, project, on.JSON200.ID, &client.GetProjectKillSwitchParams{Wait: &wait})
	if err != nil || status.JSON200 == nil {
		return nil, fmt.Errorf("reading the killswitch: %w: %s", err, status.Body)
	}
	if k := status.JSON200; !k.Silent || k.Confirmed != killAgents || k.Leases != 0 {
		return nil, fmt.Errorf("the server does not know of the silence: %d of %d agents have confirmed, %d leases are open", k.Confirmed, k.Agents, k.Leases)
	}
	say("killswitch: %d agents silent after %.0f ms, the command itself took %.0f ms", killAgents, silence.Seconds()*1000, command.Seconds()*1000)
	return []figure{{"kill_to_silence_ms", silence.Seconds() * 1000}}, nil
}

// victim is an agent with a lease and a sandbox, which ends when its context does.
type victim struct {
	*fakeAgent
	lease  uuid.UUID
	known  string
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
}

// victim takes a lease and begins to work on it, for ever.
func (a *fakeAgent) victim(ctx context.Context) (*victim, error) {
	most := int64(1)
	res, err := a.api.LeaseShardsWithResponse(ctx, &client.LeaseShardsParams{Max: &most})
	if err != nil || res.JSON200 == nil {
		return nil, fmt.Errorf("leasing: %w: %s", err, res.Status())
	}
	v := &victim{fakeAgent: a, lease: res.JSON200.ID, ended: make(chan struct{})}
	v.ctx, v.cancel = context.WithCancel(ctx)
	go func() {
		defer close(v.ended)
		<-v.ctx.Done()
	}()
	d, err := a.api.GetDirectivesWithResponse(ctx, nil)
	if err != nil || d.JSON200 == nil {
		return nil, fmt.Errorf("asking for directives: %w: %s", err, d.Status())
	}
	v.known = d.JSON200.Revision
	return v, nil
}

// obey holds a poll until it is told to end, ends, and confirms it.
func (v *victim) obey(ctx context.Context) error {
	defer v.cancel()
	for {
		wait := "25s"
		d, err := v.api.GetDirectivesWithResponse(ctx, &client.GetDirectivesParams{Wait: &wait, Known: &v.known})
		if err != nil {
			return fmt.Errorf("asking for directives: %w", err)
		}
		if d.JSON200 == nil {
			return fmt.Errorf("asking for directives: %s: %s", d.Status(), d.Body)
		}
		v.known = d.JSON200.Revision
		if len(d.JSON200.Switches) > 0 {
			break
		}
	}
	v.cancel()
	<-v.ended
	returned, err := v.api.ReturnLeaseWithResponse(ctx, v.lease, nil, client.Refusal{Code: "ordered", Text: "the killswitch is on"})
	if err != nil || returned.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("returning the lease: %w: %s", err, returned.Body)
	}
	confirmed, err := v.api.ConfirmDirectivesWithResponse(ctx, v.known, nil)
	if err != nil || confirmed.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("confirming: %w: %s", err, confirmed.Body)
	}
	return nil
}
