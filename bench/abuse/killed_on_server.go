package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

const (
	// killedShards sleep on the server when the switch is put on.
	killedShards = 4
	// silentWithin bounds how long it may take until the server says that nothing runs any more: it is far below what a shard sleeps.
	silentWithin = time.Minute
)

// killedOnServer switches a function off while the server itself executes it. The switch may say that all is silent when nothing of it runs,
// and not before.
func killedOnServer(ctx context.Context, s *scene) ([]figure, error) {
	if err := s.hostile.Push(ctx, "sleeping", sleeping); err != nil {
		return nil, err
	}
	agents, err := s.hostileAgents(ctx, 1)
	if err != nil {
		return nil, err
	}
	if _, err := s.hostile.Submit(ctx, rig.Range("sleeping", killedShards, client.PolicyRequest{Recheck: "all"})); err != nil {
		return nil, err
	}
	lease, err := agents[0].Lease(ctx, killedShards, "30s")
	if err != nil || lease == nil {
		return nil, fmt.Errorf("leasing shards that sleep: %w", err)
	}
	if err := agents[0].Report(ctx, lease); err != nil {
		return nil, err
	}
	if !rig.Until(ctx, time.Minute, func() bool { return s.interpreters() > 0 }) {
		return nil, fmt.Errorf("the server does not execute the sleeping shards")
	}
	operator, err := s.server.Operator(ctx)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	on, err := operator.KillWithResponse(ctx, nil, client.NewKillSwitch{Scope: "function", Project: &s.hostile.ID, Function: "sleeping", Reason: "it does nothing but sleep"})
	if err != nil {
		return nil, err
	}
	if on.JSON200 == nil {
		return nil, fmt.Errorf("putting a switch on: %s: %s", on.Status(), on.Body)
	}
	// The agent does what it is told, so that the server's own executions are all that there is.
	directives, err := agents[0].API.GetDirectivesWithResponse(ctx, nil)
	if err != nil || directives.JSON200 == nil {
		return nil, fmt.Errorf("asking for directives: %w", err)
	}
	if _, err := agents[0].API.ConfirmDirectivesWithResponse(ctx, directives.JSON200.Revision, nil); err != nil {
		return nil, err
	}
	var last string
	silent := rig.Until(ctx, silentWithin, func() bool {
		status, err := operator.GetKillSwitchWithResponse(ctx, on.JSON200.ID, nil)
		if err != nil || status.JSON200 == nil {
			return false
		}
		last = string(status.Body)
		return status.JSON200.Silent
	})
	took := time.Since(begin)
	running := s.interpreters()
	figures := []figure{{"killed_on_server_silent_s", took.Seconds()}, {"killed_on_server_running", float64(running)}}
	switch {
	case !silent:
		return figures, harm("a function that was switched off is not silent after %v: %s", silentWithin, last)
	case running > 0:
		return figures, harm("the switch says silent, and the server has %d interpreters", running)
	}
	other, err := s.own(ctx, 10, usual())
	return append(figures, figure{"killed_on_server_other_job_s", other.Seconds()}), err
}

// interpreters is how many processes of Python the server has below it.
func (s *scene) interpreters() (n int) {
	below, err := s.server.Descendants()
	if err != nil {
		return 0
	}
	for _, pid := range below {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.HasPrefix(string(name), "python") {
			n++
		}
	}
	return n
}
