package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

func TestModuleRunsSpeaksAsTheServerDoes(t *testing.T) {
	require.EqualValues(t, functions.MaxModuleRuns, keptModuleRuns)
	require.EqualValues(t, functions.RunOK, runEndedWell)
}
