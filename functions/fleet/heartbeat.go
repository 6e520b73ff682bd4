package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// Heartbeat keeps what the agent reports, renews the leases that it works on, and answers what the server wants of it.
func (s *Service) Heartbeat(ctx context.Context, agent uuid.UUID, beat Heartbeat) (d Directives, err error) {
	row, err := beatRowOf(beat)
	if err != nil {
		return d, err
	}
	type answer struct {
		State            AgentState
		Reason           string
		EULADigest       []byte `db:"eula_digest"`
		DuplicateAt      *time.Time
		DuplicateAddress string
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		now, found, err := store.One[answer](ctx, tx, sql.Beat, agent, beat.ShardsDone, row.idle.Code, row.idle.Text, row.idle.Seconds, row.host, row.projects, row.isolation, row.minIsolation, row.meter, row.runtimes, row.volumes)
		if err != nil || !found {
			return base.OrNotFound(err, "agent", agent)
		}
		d.State, d.Reason, d.EULA, d.Duplicate = now.State, now.Reason, s.MissingEULA(now.EULADigest), recentDuplicate(now.DuplicateAt, now.DuplicateAddress)
		if err := s.beatSandboxes(ctx, tx, agent, beat, &d); err != nil || len(beat.Leases) == 0 {
			return err
		}
		renewed, err := store.Many[renewedLease](ctx, tx, sql.RenewLeases, agent, beat.Leases, s.leaseTTL)
		alive := make([]uuid.UUID, len(renewed))
		for i, l := range renewed {
			alive[i] = l.ID
			if !slices.Contains(d.LeaseProjects, l.ProjectID) {
				d.LeaseProjects = append(d.LeaseProjects, l.ProjectID)
			}
		}
		d.EndedLeases = without(beat.Leases, alive)
		return err
	})
	return d, err
}

// renewedLease is a lease whose deadline a heartbeat has moved.
type renewedLease struct {
	ID        uuid.UUID
	ProjectID uuid.UUID
}

// beatRow is a heartbeat as the database keeps it. What is nil leaves what was there.
type beatRow struct {
	host         []byte
	idle         Idle
	projects     []uuid.UUID
	isolation    *string
	minIsolation *string
	meter        *int
	runtimes     *string
	volumes      []byte
}

var idleCode = regexp.MustCompile(`^[a-z][a-z_]{0,39}$`)

func beatRowOf(b Heartbeat) (r beatRow, err error) {
	if n := len(b.Leases); n > MaxBeatLeases {
		return r, functions.Invalid("bad_heartbeat", fmt.Sprintf("the heartbeat names %d leases, at most %d fit into one", n, MaxBeatLeases), "send several heartbeats")
	}
	if b.Host != nil {
		if r.host, err = json.Marshal(b.Host); err != nil {
			return r, functions.Invalid("bad_heartbeat", fmt.Sprintf("the host's figures cannot be kept: %v", err), "leave out what cannot be measured")
		}
	}
	if b.Idle != nil {
		r.idle = *b.Idle
		if !idleCode.MatchString(r.idle.Code) || len([]rune(r.idle.Text)) > MaxIdleText {
			return r, functions.Invalid("bad_heartbeat", "the reason for being idle is not one", fmt.Sprintf("send a code of lower-case letters and underscores and a text of at most %d characters", MaxIdleText))
		}
	}
	return r, fillWishes(b.Wishes, &r)
}

// fillWishes checks the wishes and puts them into the row.
func fillWishes(w *AgentWishes, r *beatRow) error {
	if w == nil {
		return nil
	}
	if n := len(w.Projects); n > MaxAgentProjects {
		return functions.Invalid("bad_heartbeat", fmt.Sprintf("the agent names %d projects, at most %d are kept", n, MaxAgentProjects), "name fewer, or none for all")
	}
	r.meter, r.runtimes = &w.Meter, &w.Runtimes
	var err error
	if r.volumes, err = volumesOf(w.Volumes); err != nil {
		return err
	}
	r.projects = append([]uuid.UUID{}, w.Projects...) // never nil: an empty list means all projects, nil would keep the old one
	for _, level := range []struct {
		text, empty string
		into        **string
	}{{w.Isolation, "", &r.isolation}, {w.MinIsolation, string(bundle.Process), &r.minIsolation}} {
		name := level.text
		if name == "" {
			name = level.empty
		}
		if name == "" {
			continue
		}
		if _, err := bundle.ParseIsolation(name); err != nil {
			return functions.Invalid("bad_isolation", err.Error(), "name a level of isolation that there is")
		}
		*level.into = &name
	}
	return nil
}

func without(all, some []uuid.UUID) []uuid.UUID {
	alive := map[uuid.UUID]bool{}
	for _, id := range some {
		alive[id] = true
	}
	rest := []uuid.UUID{}
	for _, id := range all {
		if !alive[id] {
			rest = append(rest, id)
		}
	}
	return rest
}
