package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An honest slow agent is not worse off, and holds nothing up: by the sizes that agents ask for and those that the server lends.
func TestTheMakespanIsNearAnOracles(t *testing.T) {
	var report strings.Builder
	broken, err := makespans(&report)
	require.NoError(t, err)
	require.Zero(t, broken, report.String())
	require.Contains(t, report.String(), "\nmakespan_of_oracle 1.")
	for _, s := range stays() {
		o := s.simulate()
		require.GreaterOrEqual(t, o.took, o.oracle)
		require.GreaterOrEqual(t, 10*o.slowest, 9*o.slowestOracle, "the slowest get their part: %+v", s)
	}
}

func TestTheOracle(t *testing.T) {
	two := []*worker{{each: 2 * time.Second}, {each: time.Second}}
	require.InDelta(t, 2, oracle(two, 3).Seconds(), 1e-3)
	require.InDelta(t, 1, oracle(two, 1).Seconds(), 1e-3)
	require.InDelta(t, 20, oracle(two, 30).Seconds(), 1e-3)
}
