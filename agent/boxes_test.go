package agent

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// TestTheServerHearsOfTheEndOfWhatItWasTold has a sandbox that ends right after a heartbeat has named it: the server would else show it
// as running until it has heard nothing of it for a minute.
func TestTheServerHearsOfTheEndOfWhatItWasTold(t *testing.T) {
	b := newBoxBook(monitor.New(monitor.Options{}))
	lease := &heldLease{Lease: &client.Lease{ID: uuid.New()}}
	x := b.open(lease, bundle.Process, &fakeSession{}, threshold.Plan{})
	parts, _ := b.reports()
	require.Len(t, slices.Concat(parts...), 1)
	require.False(t, parts[0][0].Ended)
	b.close(x, "its lease is done")

	parts, undo := b.reports()
	require.Len(t, slices.Concat(parts...), 1)
	require.Equal(t, []any{x.id, true, "its lease is done"}, []any{parts[0][0].ID, parts[0][0].Ended, parts[0][0].EndReason})
	undo() // the heartbeat failed
	parts, _ = b.reports()
	require.Len(t, slices.Concat(parts...), 1)
	parts, _ = b.reports()
	require.Empty(t, parts)
}
