package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheServiceIsMeantOnlyByThoseWhoHaveNoAgentOfTheirOwn(t *testing.T) {
	mine, service, none := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "none")
	require.Equal(t, mine, existing(mine, service))
	require.Equal(t, service, existing(none, service))
	require.Equal(t, none, existing(none, filepath.Join(none, "neither")))
	require.Equal(t, mine, existing(mine, none))
}
