package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/verify"
)

func TestModuleRunsSpeaksAsTheServerDoes(t *testing.T) {
	require.Equal(t, functions.MaxModuleRuns, keptModuleRuns)
	require.Equal(t, functions.RunOK, runEndedWell)
}

func TestFlagKindsAreThoseOfTheServer(t *testing.T) {
	require.Equal(t, functions.FlagKinds(), flagKinds())
	require.Equal(t, verify.ProbationAudits, probationAudits)
}
