package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// beatSandboxes keeps what a heartbeat says of sandboxes, and puts what is asked of the agent into the answer.
func (s *Service) beatSandboxes(ctx context.Context, tx pgx.Tx, agent uuid.UUID, beat Heartbeat, d *Directives) error {
	if err := checkSandboxes(beat); err != nil {
		return err
	}
	if len(beat.Sandboxes) > 0 {
		text, err := json.Marshal(beat.Sandboxes)
		if err != nil {
			return functions.Invalid("bad_heartbeat", fmt.Sprintf("the sandboxes cannot be kept: %v", err), "leave out what cannot be measured")
		}
		if _, err := store.Exec(ctx, tx, sql.ReportSandboxes, agent, text); err != nil {
			return err
		}
	}
	o, err := ordersFor(ctx, tx, agent)
	if err != nil {
		return err
	}
	if err := o.fill(d); err != nil {
		return err
	}
	if beat.CarriedOut != "" && beat.CarriedOut == d.Revision {
		return s.confirm(ctx, tx, agent, d.Switches)
	}
	return nil
}

// checkSandboxes refuses what the columns cannot hold; the rest is claims.
func checkSandboxes(b Heartbeat) error {
	bad := func(format string, args ...any) error {
		return functions.Invalid("bad_heartbeat", fmt.Sprintf(format, args...), "correct what the message names; with more sandboxes send several heartbeats")
	}
	if n := len(b.Sandboxes); n > MaxBeatSandboxes {
		return bad("the heartbeat names %d sandboxes, at most %d fit into one", n, MaxBeatSandboxes)
	}
	seen := map[uuid.UUID]bool{}
	for _, r := range b.Sandboxes {
		if seen[r.ID] {
			return bad("sandbox %s is named twice", r.ID)
		}
		seen[r.ID] = true
		if _, err := bundle.ParseIsolation(r.Level); err != nil {
			return bad("sandbox %s: %v", r.ID, err)
		}
		if len(r.Alerts) > MaxBeatAlerts || len([]rune(r.EndReason)) > MaxEndReason || r.AgeMillis < 0 {
			return bad("sandbox %s: at most %d alerts and %d characters of a reason are kept, and no age is below 0", r.ID, MaxBeatAlerts, MaxEndReason)
		}
		if p := r.Sample; p != nil && (math.IsNaN(p.CPUPercent) || math.IsInf(p.CPUPercent, 0)) {
			return bad("sandbox %s: the processor time is no number", r.ID)
		}
	}
	return nil
}

// ListSandboxes lists sandboxes in the order of their IDs, which is that of their starts as far as the agents' clocks agree.
func (s *Service) ListSandboxes(ctx context.Context, filter SandboxFilter, page functions.ListPage) ([]Sandbox, error) {
	if err := s.knowsAgent(ctx, filter.Project, filter.Agent); err != nil {
		return nil, err
	}
	return base.ListControl[Sandbox](ctx, s.env, sql.ListSandboxes, page, orNil(filter.Project), orNil(filter.Agent), orNil(filter.Job), filter.Function, filter.Running)
}

// knowsAgent refuses an agent that does not exist, or that the project, if there is one, has never had: an empty list would say that
// nothing runs on it.
func (s *Service) knowsAgent(ctx context.Context, project, agent uuid.UUID) (err error) {
	switch {
	case agent == uuid.Nil:
		return nil
	case project == uuid.Nil:
		_, err = s.GetAgent(ctx, agent)
	default:
		_, err = s.GetProjectAgent(ctx, project, agent)
	}
	return err
}

// GetSandbox returns one sandbox; with a project: one of its own.
func (s *Service) GetSandbox(ctx context.Context, project, id uuid.UUID) (b Sandbox, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		b, err = getSandbox(ctx, tx, project, id)
		return err
	})
	return b, err
}

func getSandbox(ctx context.Context, tx pgx.Tx, project, id uuid.UUID) (Sandbox, error) {
	b, found, err := store.One[Sandbox](ctx, tx, sql.GetSandbox, id, orNil(project))
	if err != nil || !found {
		return b, base.OrNotFound(err, "sandbox", id)
	}
	return b, nil
}

// SandboxSamples lists what a sandbox was like after a time, the oldest first; with a project: one of its own.
func (s *Service) SandboxSamples(ctx context.Context, project, id uuid.UUID, after time.Time) (list []SandboxSample, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		if _, err := getSandbox(ctx, tx, project, id); err != nil {
			return err
		}
		list, err = store.Many[SandboxSample](ctx, tx, sql.ListSandboxSamples, id, after, MaxSandboxSamples)
		return err
	})
	return list, err
}

// TerminateSandbox orders a sandbox to end: after the shard that it runs, or at once. What it has not done is leased again. Ordering
// twice is harmless, and so is ordering one that has ended.
func (s *Service) TerminateSandbox(ctx context.Context, by functions.Principal, project, id uuid.UUID, force bool) (b Sandbox, err error) {
	how := "soft"
	if force {
		how = "force"
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		if b, err = getSandbox(ctx, tx, project, id); err != nil {
			return err
		}
		facts := guardian.SandboxFacts{Function: guardian.Function{Name: b.Function, Version: int64(b.Version)}, Isolation: b.Level, Job: guardian.Job{ID: b.Job.String()}}
		if err := s.env.AskControl(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.SandboxTerminate, Subject: id.String(), Facts: facts}); err != nil {
			return err
		}
		changed, err := store.Exec(ctx, tx, sql.TerminateSandbox, id, how, by.Actor())
		if err != nil || changed == 0 {
			return err
		}
		detail := map[string]any{"agent": b.Agent, "project": b.Project, "job": b.Job, "force": force}
		if err := base.AuditServer(ctx, tx, by.Actor(), "sandbox.terminate", id.String(), detail); err != nil {
			return err
		}
		if err := base.Notify(ctx, tx, base.ChannelAgents, b.Agent); err != nil {
			return err
		}
		b, err = getSandbox(ctx, tx, project, id)
		return err
	})
	return b, err
}
