package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestRunsAreNamedByPartsOfTheirIDs(t *testing.T) {
	one, two := uuid.MustParse("01a218b6-1725-79e6-ad92-bfa85b9274d5"), uuid.MustParse("01a218b6-9e75-714a-894e-bca687f7e06d")
	runs := []client.WorkflowRun{{ID: two}, {ID: one}}
	for part, want := range map[string][]uuid.UUID{
		lastRun: {two}, "9274d5": {one}, "01a218b6-17": {one}, "01a218b6": {two, one}, "abcdef": nil,
	} {
		require.Equal(t, want, runsNamed(runs, part), part)
	}
	require.Empty(t, runsNamed(nil, lastRun))
}
