// Package owner knows the owner of an agent, and a project's evidence about all agents of an owner together: one vote, one share, one
// quarantine. It reads trust and writes nothing.
package owner

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/owner/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// Hand names who is behind an agent: its owner, or the agent itself if it has none. The names of the two kinds never collide.
func Hand(owner string, agent uuid.UUID) string {
	if owner != "" {
		return "owner " + owner
	}
	return "agent " + agent.String()
}

// Hands are those of owners.
func Hands(owners []string) []string {
	hands := make([]string, len(owners))
	for i, o := range owners {
		hands[i] = Hand(o, uuid.Nil)
	}
	return hands
}

// elsewhere begins the names of those who work for an open project and joined others, or none, see the migration of owner_at.
const elsewhere = "elsewhere"

// isOwner says whether a name is that of somebody who answers for all agents under it. Strangers who came the same way have one voice
// together, and one of them must not cost the others their standing, nor earn it for them.
func isOwner(name string) bool {
	return name != "" && name != elsewhere && !strings.HasPrefix(name, elsewhere+":")
}

// Kin is what a project knows about all agents of an owner together.
type Kin struct {
	Owner        string
	Caught       int64
	CaughtAt     *time.Time
	Passed       int64
	Failed       int64
	SinceFailure int64
	Vouched      int64
}

// Evidence is the evidence by which package verify judges.
func (r Kin) Evidence() verify.Kin {
	return verify.Kin{Caught: r.Caught, Passed: r.Passed, Failed: r.Failed, SinceFailure: r.SinceFailure, Vouched: r.Vouched}
}

// WhyCaught says whether the owner is, and why.
func (r Kin) WhyCaught() (why string, caught bool) {
	standing, why := r.Evidence().Standing()
	return why, standing == verify.Caught
}

// ReadKin reads what is known about owners; those about whom nothing is are left out.
func ReadKin(ctx context.Context, tx *store.Tx, names ...string) (map[string]Kin, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !isOwner(n) })
	if len(names) == 0 {
		return nil, nil //nolint:nilnil // nothing is known about nobody
	}
	slices.Sort(names)
	rows, err := store.Many[Kin](ctx, tx, sql.TrustOfOwners, slices.Compact(names))
	known := make(map[string]Kin, len(rows))
	for _, r := range rows {
		known[r.Owner] = r
	}
	return known, err
}

// ListCaught names the owners that are caught: none of their agents gets leases.
func ListCaught(ctx context.Context, tx *store.Tx) ([]string, error) {
	caught := []string{}
	suspects, err := store.Values[string](ctx, tx, sql.SuspectOwners, verify.CatchKin)
	if err != nil {
		return caught, err
	}
	known, err := ReadKin(ctx, tx, suspects...)
	for name, r := range known {
		if _, is := r.WhyCaught(); is {
			caught = append(caught, name)
		}
	}
	return caught, err
}

// IsCaught says whether the agents of an owner get no leases.
func IsCaught(ctx context.Context, tx *store.Tx, name string) (bool, error) {
	known, err := ReadKin(ctx, tx, name)
	_, caught := known[name].WhyCaught()
	return caught, err
}
