package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

// TestPardonText: an agent that was removed gets nothing by a pardon alone.
func TestPardonText(t *testing.T) {
	t.Parallel()
	require.Contains(t, pardonText(client.ProjectAgent{Name: "lab"}), "it gets leases again, on probation")
	removed := pardonText(client.ProjectAgent{Name: "lab", Excluded: true})
	require.Contains(t, removed, "it was removed from the project")
	require.Contains(t, removed, "after ostraka agent approve 00000000")
}
