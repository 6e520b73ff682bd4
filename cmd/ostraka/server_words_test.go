package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/verify"
)

func TestModuleRunsSpeaksAsTheServerDoes(t *testing.T) {
	require.Equal(t, registry.MaxModuleRuns, keptModuleRuns)
	require.Equal(t, registry.RunOK, runEndedWell)
}

func TestFlagKindsAreThoseOfTheServer(t *testing.T) {
	require.Equal(t, flag.FlagKinds(), flagKinds())
	require.Equal(t, verify.ProbationAudits, probationAudits)
}
