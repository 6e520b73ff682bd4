package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// duplicateTold is for how long an agent is told, and newcomers are judged by it, that its key is used in two places.
	duplicateTold = time.Hour
	// instanceGrace is how long a process with a key that is used twice may be silent before another one takes its place: three of
	// an idle agent's heartbeats.
	instanceGrace = time.Minute
	// duplicateMarked is how long a mark is fresh: one that tries again and again does not write it each time.
	duplicateMarked = time.Minute
	// instanceProof is how long after its first word a process that was taken over from must speak again before it counts as alive:
	// what a dead one had sent is worked off together, when a server that stood still goes on.
	instanceProof = 5 * time.Second
	// InstanceTTL is for how long an earlier process is known as such.
	InstanceTTL = 30 * 24 * time.Hour
)

// instanceRow is what the server knows when a process speaks that is not the one it heard last.
type instanceRow struct {
	Instance    *uuid.UUID // that it heard last
	LastSeenAt  *time.Time
	DuplicateAt *time.Time
	Known       bool       // the one that speaks has spoken before
	LateAt      *time.Time // when it spoke first after it was taken over from
}

type instanceVerdict int

const (
	instanceSame      instanceVerdict = iota // somebody else let it in meanwhile
	instanceTakesOver                        // the agent was started again
	instanceRefused                          // another one works
	instanceLate                             // it was taken over from, and what it sent may have been under way since before
	instanceBetrayed                         // it was taken over from and speaks again: the key is on two machines
)

// judge decides about a process that speaks with an agent's key. An agent that is started again takes over at once. When the one from
// before speaks again and again, it is no restart: two machines have the key, and the one that came first is refused from then on. Once that is
// known, who is there stays: machines that a supervisor starts again and again would else push each other out forever.
func (r instanceRow) judge(speaks uuid.UUID, now time.Time) instanceVerdict {
	switch {
	case r.Instance != nil && *r.Instance == speaks:
		return instanceSame
	case r.Known && (r.LateAt == nil || now.Sub(*r.LateAt) < instanceProof):
		return instanceLate
	case r.Known:
		return instanceBetrayed
	case r.Instance == nil:
		return instanceTakesOver
	}
	suspected := r.DuplicateAt != nil && now.Sub(*r.DuplicateAt) < duplicateTold
	alive := r.LastSeenAt != nil && now.Sub(*r.LastSeenAt) < instanceGrace
	if suspected && alive {
		return instanceRefused
	}
	return instanceTakesOver
}

// SpeakFor lets a process speak for an agent, or says why another one does. Each start of an agent has an instance of its own.
func (s *Service) SpeakFor(ctx context.Context, agent, instance uuid.UUID, address string) error {
	var refused error // after the commit: the marks must stay
	err := s.env.Control(ctx, func(tx pgx.Tx) error {
		row, found, err := store.One[instanceRow](ctx, tx, sql.LockInstance, agent, instance)
		if err != nil || !found {
			return base.OrNotFound(err, "agent", agent)
		}
		switch row.judge(instance, time.Now()) {
		case instanceSame:
			return nil
		case instanceTakesOver:
			_, err := store.Exec(ctx, tx, sql.TakeInstance, agent, instance, address)
			return err
		case instanceLate:
			refused = ErrInstanceLate
			if row.LateAt != nil {
				return nil
			}
			_, err := store.Exec(ctx, tx, sql.MarkLateInstance, agent, instance)
			return err
		case instanceBetrayed, instanceRefused:
			refused = ErrDuplicateInstance
			return s.markDuplicate(ctx, tx, agent, row, address)
		}
		return nil
	})
	if err == nil {
		err = refused
	}
	return err
}

// recentDuplicate is what the process that works is told.
func recentDuplicate(at *time.Time, address string) *Duplicate {
	if at == nil || time.Since(*at) > duplicateTold {
		return nil
	}
	return duplicateOf(at, address)
}

// markDuplicate marks the agent for people and for the process that works. The log says it once in a while, not at every try.
func (s *Service) markDuplicate(ctx context.Context, tx pgx.Tx, agent uuid.UUID, row instanceRow, address string) error {
	if row.DuplicateAt != nil && time.Since(*row.DuplicateAt) < duplicateMarked {
		return nil
	}
	if _, err := store.Exec(ctx, tx, sql.FlagDuplicate, agent, address); err != nil {
		return err
	}
	if row.DuplicateAt != nil && time.Since(*row.DuplicateAt) < duplicateTold {
		return nil
	}
	s.env.Log.Warn("two processes use the key of one agent: one of them is refused", "agent", agent, "refused_address", address)
	return base.AuditServer(ctx, tx, "agent:"+agent.String(), "agent.duplicate", agent.String(), map[string]any{"address": address})
}
