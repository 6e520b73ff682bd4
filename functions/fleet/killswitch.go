package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// ErrHeld says that a switch holds what was about to be lent.
var ErrHeld = errors.New("a switch holds this")

type switchRow struct {
	ID        uuid.UUID
	Scope     string
	AgentID   *uuid.UUID
	ProjectID *uuid.UUID
	Function  *string
	Version   *int
	Reason    string
	OnBy      string
	OnAt      time.Time
	OffBy     *string
	OffAt     *time.Time
}

func (r switchRow) kill() KillSwitch {
	k := KillSwitch{
		ID: r.ID, KillScope: KillScope{Scope: r.Scope, Agent: r.AgentID, Project: r.ProjectID}, Reason: r.Reason, OnBy: r.OnBy, OnAt: r.OnAt, OffAt: r.OffAt,
	}
	if r.Function != nil {
		k.Function = *r.Function
	}
	if r.Version != nil {
		k.Version = *r.Version
	}
	if r.OffBy != nil {
		k.OffBy = *r.OffBy
	}
	return k
}

// Kill puts a switch on: once it has returned, nothing that it holds is leased, and agents are told to end what they run of it. A switch
// that is on already stays as it is. With force the server does not wait for agents to return their leases: it takes them back, and
// results that come later are refused.
func (s *Service) Kill(ctx context.Context, by functions.Principal, scope KillScope, reason string, force bool) (status KillStatus, err error) {
	if err := scope.check(); err != nil {
		return status, err
	}
	if n := len([]rune(reason)); n > MaxKillReason {
		return status, functions.Invalid("bad_reason", fmt.Sprintf("the reason has %d characters, at most %d are kept", n, MaxKillReason), "say it shorter")
	}
	if scope.Function != "" { // a name that is misspelt must not look like one that was stopped
		if _, err := s.registry.GetFunction(ctx, *scope.Project, scope.Function, scope.Version); err != nil {
			return status, err
		}
	}
	var id uuid.UUID
	err = s.switching(ctx, scope, func(tx pgx.Tx, audit func(action, subject string) error) error {
		if err := s.env.AskControl(ctx, tx, scope.intent(by, guardian.SwitchOn, uuid.Nil, reason)); err != nil {
			return err
		}
		row, on, err := store.One[switchRow](ctx, tx, sql.FindSwitch, scope.args()...)
		if err != nil {
			return err
		}
		if id = row.ID; !on {
			id = base.NewID()
			if err := putOn(ctx, tx, id, scope, reason, by); err != nil {
				return err
			}
			if err := audit("killswitch.on", id.String()); err != nil {
				return err
			}
		}
		if !force {
			return nil
		}
		return s.env.Queue.Enqueue(ctx, tx, stepargs.SilenceArgs{Switch: id})
	}, by, reason)
	if err != nil {
		return status, err
	}
	return s.KillStatus(ctx, ofScope(scope), id)
}

// Release puts a switch off. was is false where none was on.
func (s *Service) Release(ctx context.Context, by functions.Principal, scope KillScope) (was bool, err error) {
	if err := scope.check(); err != nil {
		return false, err
	}
	err = s.switching(ctx, scope, func(tx pgx.Tx, audit func(action, subject string) error) error {
		row, found, err := store.One[switchRow](ctx, tx, sql.FindSwitch, scope.args()...)
		if err != nil || !found {
			return err
		}
		if err := s.env.AskControl(ctx, tx, scope.intent(by, guardian.SwitchOff, row.ID, row.Reason)); err != nil {
			return err
		}
		was = true
		if _, err := store.Exec(ctx, tx, sql.SwitchOff, append(scope.args(), by.Actor())...); err != nil {
			return err
		}
		if scope.Project != nil { // agents may have been waiting for this work
			if err := base.Notify(ctx, tx, base.ChannelWork, *scope.Project); err != nil {
				return err
			}
		}
		return audit("killswitch.off", row.ID.String())
	}, by, "")
	return was, err
}

// intent is what happens with a switch in the words of the guardian; the nil ID: it is not on yet.
func (k KillScope) intent(by functions.Principal, kind guardian.Kind, id uuid.UUID, reason string) base.Intent {
	target := k.Function
	if k.Version > 0 {
		target = fmt.Sprintf("%s@%d", k.Function, k.Version)
	}
	if k.Agent != nil {
		target = strings.TrimSpace(target + " " + k.Agent.String())
	}
	sw := guardian.Switch{Scope: k.Scope, Target: target, Reason: reason, Everyone: k.Project == nil}
	if id != uuid.Nil {
		sw.ID = id.String()
	}
	return base.Intent{By: by, Project: ofScope(k), Kind: kind, Subject: strings.TrimSpace(k.Scope + " " + target), Facts: guardian.SwitchFacts{Switch: sw}}
}

// switching runs what changes a switch: alone, with an audit record where it belongs, and with a nudge for the agents at its end.
func (s *Service) switching(ctx context.Context, scope KillScope, change func(tx pgx.Tx, audit func(action, subject string) error) error, by functions.Principal, reason string) error {
	nudged := uuid.Nil
	if scope.Agent != nil {
		nudged = *scope.Agent
	}
	finish := func(tx pgx.Tx, action, subject string) error {
		return base.AuditServer(ctx, tx, by.Actor(), action, subject, scope.detail(reason))
	}
	if scope.Project == nil {
		return s.env.Control(ctx, func(tx pgx.Tx) error {
			if _, err := store.Exec(ctx, tx, sql.LockSwitches); err != nil {
				return err
			}
			if err := change(tx, func(action, subject string) error { return finish(tx, action, subject) }); err != nil {
				return err
			}
			return base.Notify(ctx, tx, base.ChannelAgents, nudged)
		})
	}
	return s.env.Project(ctx, *scope.Project, func(tx *store.Tx) error {
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, server, sql.LockSwitches); err != nil {
			return err
		}
		var record func() error
		err = change(server, func(action, subject string) error {
			record = func() error { return base.Audit(ctx, tx, by.Actor(), action, subject, scope.detail(reason)) }
			return finish(server, action, subject)
		})
		if err != nil {
			return err
		}
		if err := base.Notify(ctx, server, base.ChannelAgents, nudged); err != nil || record == nil {
			return err
		}
		if err := tx.AsProject(ctx); err != nil { // what happens to a project stands in its own log too
			return err
		}
		return record()
	})
}

// putOn makes a switch that is not on yet.
func putOn(ctx context.Context, tx pgx.Tx, id uuid.UUID, scope KillScope, reason string, by functions.Principal) error {
	if err := checkAgent(ctx, tx, scope); err != nil {
		return err
	}
	if scope.narrow() {
		on, _, err := store.Value[int](ctx, tx, sql.CountNarrowSwitches, scope.Project)
		if err != nil {
			return err
		}
		if on >= MaxSwitches {
			return &functions.Error{
				Kind: functions.KindConflict, Code: "too_many_switches", Message: fmt.Sprintf("%d switches are on, more are not kept", on),
				Hint: "put some off, or put one on for the whole project",
			}
		}
	}
	_, err := store.Exec(ctx, tx, sql.SwitchOn, append(append([]any{id}, scope.args()...), reason, by.Actor())...)
	return err
}

// checkAgent refuses a switch for an agent that does not exist, or is not the project's.
func checkAgent(ctx context.Context, tx pgx.Tx, scope KillScope) error {
	if scope.Agent == nil {
		return nil
	}
	if scope.Project == nil {
		_, err := getAgent(ctx, tx, *scope.Agent)
		return err
	}
	projects, err := store.Values[uuid.UUID](ctx, tx, sql.AgentProjects, *scope.Agent)
	if err == nil && !slices.Contains(projects, *scope.Project) {
		err = functions.NotFound("agent", scope.Agent.String())
	}
	return err
}

func ofScope(scope KillScope) uuid.UUID {
	if scope.Project == nil {
		return uuid.Nil
	}
	return *scope.Project
}

// orNil makes an argument of an ID that may be missing.
func orNil(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// ListSwitches lists the switches that are on; with a project: those that hold something of it.
func (s *Service) ListSwitches(ctx context.Context, project uuid.UUID) (list []KillStatus, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		rows, err := store.Many[switchRow](ctx, tx, sql.ListSwitches, orNil(project))
		list = make([]KillStatus, len(rows))
		for i := 0; i < len(rows) && err == nil; i++ {
			list[i], err = killStatus(ctx, tx, project, rows[i])
		}
		return err
	})
	return list, err
}

// KillStatus says how far a switch has got; with a project: with its agents, leases and sandboxes only.
func (s *Service) KillStatus(ctx context.Context, project, id uuid.UUID) (status KillStatus, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		row, found, err := store.One[switchRow](ctx, tx, sql.GetSwitch, id, orNil(project))
		if err != nil || !found {
			return base.OrNotFound(err, "switch", id)
		}
		status, err = killStatus(ctx, tx, project, row)
		return err
	})
	return status, err
}

func killStatus(ctx context.Context, tx pgx.Tx, project uuid.UUID, row switchRow) (KillStatus, error) {
	agents, err := store.Many[KilledAgent](ctx, tx, sql.SwitchAgents, row.ID, orNil(project))
	if err != nil {
		return KillStatus{}, err
	}
	runs, err := store.Many[ServerRun](ctx, tx, sql.RunsHeld, row.ID, orNil(project))
	return row.kill().status(agents, runs), err
}

// WaitSilent is KillStatus once the switch has done its work, or the wait is over. However many wait, the switch is looked at once.
func (s *Service) WaitSilent(ctx context.Context, project, id uuid.UUID, wait time.Duration) (status KillStatus, err error) {
	if wait <= 0 {
		return s.KillStatus(ctx, project, id)
	}
	return s.switchLooks.WaitFor(ctx, base.WatchedThing{Project: project, ID: id}, min(wait, MaxLeaseWait), func(k KillStatus) bool { return k.Silent || k.OffAt != nil })
}

// NotLent says why a lease was not made.
func NotLent(ctx context.Context, server pgx.Tx, agent uuid.UUID, lease *functions.Lease) error {
	_, held, err := store.One[switchRow](ctx, server, sql.SwitchThatHolds, agent, lease.Project, lease.Function, lease.Version)
	if err != nil {
		return err
	}
	if held {
		return ErrHeld
	}
	return functions.ErrNotEnrolled
}

// SwitchOver is the switch that keeps a job from being lent to anybody; nil where there is none.
func SwitchOver(ctx context.Context, server pgx.Tx, project uuid.UUID, job functions.Job) (*KillSwitch, error) {
	row, held, err := store.One[switchRow](ctx, server, sql.SwitchThatHolds, nil, project, job.Function, job.Version)
	if err != nil || !held {
		return nil, err
	}
	k := row.kill()
	return &k, nil
}
