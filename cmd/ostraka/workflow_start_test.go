package main

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestWhoStopsWaitingForARunIsToldHowToComeBack holds runs to the codes and the words that jobs have.
func TestWhoStopsWaitingForARunIsToldHowToComeBack(t *testing.T) {
	for err, code := range map[error]int{context.Canceled: exitInterrupted, context.DeadlineExceeded: exitTimeout} {
		var talk bytes.Buffer
		run := uuid.New()
		stopped := stoppedRun(&terminal{talk: &talk}, run, err)
		require.Equal(t, code, exitCode(stopped))
		require.NotContains(t, stopped.Error()+talk.String(), "context")
		require.Contains(t, talk.String(), "ostraka workflow run "+run.String())
	}
	other := errors.New("another")
	require.Equal(t, other, stoppedRun(&terminal{talk: &bytes.Buffer{}}, uuid.New(), other))
}
