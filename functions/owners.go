package functions

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// hand names whoever is behind an agent: its owner, or the agent itself where it has none. The names of the two kinds never meet.
func hand(owner string, agent uuid.UUID) string {
	if owner != "" {
		return "owner " + owner
	}
	return "agent " + agent.String()
}

// handsOf are those of owners.
func handsOf(owners []string) []string {
	hands := make([]string, len(owners))
	for i, o := range owners {
		hands[i] = hand(o, uuid.Nil)
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

// kinRow is what a project knows about all agents of an owner together.
type kinRow struct {
	Owner        string
	Caught       int64
	CaughtAt     *time.Time
	Passed       int64
	Failed       int64
	SinceFailure int64
	Vouched      int64
}

// kin is the evidence by which package verify judges.
func (r kinRow) kin() verify.Kin {
	return verify.Kin{Caught: r.Caught, Passed: r.Passed, Failed: r.Failed, SinceFailure: r.SinceFailure, Vouched: r.Vouched}
}

// caught says whether the owner is, and why.
func (r kinRow) caught() (why string, caught bool) {
	standing, why := r.kin().Standing()
	return why, standing == verify.Caught
}

// kinOfOwners reads what is known about owners; those about whom nothing is are left out.
func kinOfOwners(ctx context.Context, tx *store.Tx, names ...string) (map[string]kinRow, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !isOwner(n) })
	if len(names) == 0 {
		return nil, nil //nolint:nilnil // nothing is known about nobody
	}
	slices.Sort(names)
	rows, err := store.Many[kinRow](ctx, tx, store.TrustOfOwners, slices.Compact(names))
	known := make(map[string]kinRow, len(rows))
	for _, r := range rows {
		known[r.Owner] = r
	}
	return known, err
}

// caughtOwners names the owners that are caught: none of their agents is lent anything.
func caughtOwners(ctx context.Context, tx *store.Tx) ([]string, error) {
	caught := []string{}
	suspects, err := store.Values[string](ctx, tx, store.SuspectOwners, verify.CatchKin)
	if err != nil {
		return caught, err
	}
	known, err := kinOfOwners(ctx, tx, suspects...)
	for name, r := range known {
		if _, is := r.caught(); is {
			caught = append(caught, name)
		}
	}
	return caught, err
}

// ownerCaught says whether the agents of an owner are lent nothing.
func ownerCaught(ctx context.Context, tx *store.Tx, name string) (bool, error) {
	known, err := kinOfOwners(ctx, tx, name)
	_, caught := known[name].caught()
	return caught, err
}
