package aggregation

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestAProjectFoldsSeveralJobsOnceAtATime: another project is not kept waiting, and who comes after the end is served.
func TestAProjectFoldsSeveralJobsOnceAtATime(t *testing.T) {
	var s Service
	project := uuid.New()
	require.True(t, s.combining.take(project))
	_, err := s.Combine(t.Context(), project, uuid.New())
	require.ErrorIs(t, err, ErrCombineBusy)
	require.True(t, s.combining.take(uuid.New()))
	s.combining.leave(project)
	require.True(t, s.combining.take(project))
}
