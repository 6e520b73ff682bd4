package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPackAfterHasALeast(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkPackAfter(time.Second))
	require.ErrorContains(t, checkPackAfter(time.Second-1), "at least 1s")
}
