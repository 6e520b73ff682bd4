package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// ErrDirectivesChanged says that an agent confirms what is not asked of it any more.
var ErrDirectivesChanged = &functions.Error{
	Kind: functions.KindConflict, Code: "directives_changed", Message: "the directives have changed since",
	Hint: "ask for them again, carry them out, and confirm the new revision",
}

// orders are the directives that stay until they are carried out or taken back.
type orders struct {
	At        time.Time // by Postgres' clock, which all servers share
	Switches  []KillOrder
	Terminate []TerminateOrder
}

// ordersFor reads what is asked of an agent now. db need not be in any schema.
func ordersFor(ctx context.Context, db store.DB, agent uuid.UUID) (orders, error) {
	o, _, err := store.One[orders](ctx, db, sql.AgentDirectives, agent)
	return o, err
}

// fill puts the orders into directives, with a revision that is equal where they, and the agent's state, are. What else directives say
// depends on what was asked.
func (o orders) fill(d *Directives) error {
	d.Switches, d.Terminate = o.Switches, o.Terminate
	text, err := json.Marshal(Directives{State: d.State, Reason: d.Reason, Switches: d.Switches, Terminate: d.Terminate})
	if err != nil {
		return fmt.Errorf("encoding directives: %w", err)
	}
	sum := sha256.Sum256(text)
	d.Revision, d.At = hex.EncodeToString(sum[:16]), o.At
	return nil
}

// Directives answers what the server wants of an agent, as soon as it is something else than what the agent knows.
func (s *Service) Directives(ctx context.Context, agent uuid.UUID, known string, wait time.Duration) (d Directives, err error) {
	nudges, stop := s.env.Notices.Subscribe(base.Topics(base.ChannelAgents, agent, uuid.Nil)...)
	defer stop()
	if d, err = s.directivesNow(ctx, agent); err != nil || d.Revision != known || wait <= 0 {
		return d, err
	}
	err = s.env.Waits.ForNudges(ctx, nudges, min(wait, MaxLeaseWait), func() (bool, error) {
		d, err = s.directivesNow(ctx, agent)
		return d.Revision != known, err
	})
	return d, err
}

func (s *Service) directivesNow(ctx context.Context, agent uuid.UUID) (d Directives, err error) {
	me, err := s.SeeAgent(ctx, agent)
	if err != nil {
		return d, err
	}
	o, err := ordersFor(ctx, s.env.Store.Pool, agent)
	if err != nil {
		return d, base.Translate(err, uuid.Nil)
	}
	d.State, d.Reason, d.EndedLeases = me.State, me.StateReason, []uuid.UUID{}
	d.EULA, d.Duplicate = s.MissingEULA(me.EULADigest), recentDuplicate(me.DuplicateAt, me.DuplicateAddress)
	return d, o.fill(&d)
}

// Confirm takes an agent's word that it has carried out the directives of a revision: that nothing runs on it of what they hold.
func (s *Service) Confirm(ctx context.Context, agent uuid.UUID, revision string) error {
	d, err := s.directivesNow(ctx, agent)
	if err != nil {
		return err
	}
	if d.Revision != revision {
		return ErrDirectivesChanged
	}
	return s.confirm(ctx, s.env.Store.Pool, agent, d.Switches)
}

// confirm notes what an agent has confirmed, and wakes those who wait for it.
func (s *Service) confirm(ctx context.Context, db store.DB, agent uuid.UUID, switches []KillOrder) error {
	if len(switches) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, len(switches))
	for i, k := range switches {
		ids[i] = k.ID
	}
	fresh, err := store.Exec(ctx, db, sql.ConfirmSwitches, agent, ids)
	if err != nil {
		return base.Translate(err, uuid.Nil)
	}
	if fresh == 0 {
		return nil
	}
	for _, id := range ids {
		if err := base.Notify(ctx, db, base.ChannelAgents, id); err != nil {
			return base.Translate(err, uuid.Nil)
		}
	}
	return nil
}
