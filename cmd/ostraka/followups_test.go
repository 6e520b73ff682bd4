package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSwitchForFollowUps(t *testing.T) {
	for value, want := range map[string]bool{"": false, "1": false, "true": false, "0": true, "false": true} {
		off, err := followupsOff(&terminal{env: func(string) string { return value }})
		require.NoError(t, err, value)
		require.Equal(t, want, off, value)
	}
	_, err := followupsOff(&terminal{env: func(string) string { return "off" }})
	require.Equal(t, exitUsage, exitCode(err))
}
