package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
)

// awayBlobs is an object store that does not answer.
type awayBlobs struct{ functions.Blobs }

func (awayBlobs) Ping(context.Context) error { return errors.New("away") }

func TestReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	checks, ready := w.Ready(t.Context())
	require.True(t, ready, checks)
	o := w.options
	o.Blobs = awayBlobs{w.blobs}
	checks, ready = engine.New(o).Ready(t.Context())
	require.False(t, ready)
	require.Equal(t, "ok", checks["database"])
	require.NotEqual(t, "ok", checks["objects"])
	w.sql("update ostraka.schema_version set version = version - 1")
	checks, ready = w.Ready(t.Context())
	require.False(t, ready)
	require.Contains(t, checks["migrations"], "ostraka migrate up")
	w.store.Pool.Close()
	checks, ready = w.Ready(t.Context())
	require.False(t, ready)
	require.NotEqual(t, "ok", checks["database"])
	_, err := w.GetJob(t.Context(), w.project, w.project)
	require.Error(t, err)
}

func TestStats(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent(honest)
	w.submit(1)
	s, err := w.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1), s.OpenJobs)
	require.Equal(t, map[string]int64{"active": 1}, s.Agents)
	require.Len(t, s.Queues, 1)
	require.Equal(t, "split", s.Queues[0].Kind)
	require.Equal(t, int64(1), s.Queues[0].Count)
	require.GreaterOrEqual(t, s.Queues[0].OldestAge.Nanoseconds(), int64(0))
}
