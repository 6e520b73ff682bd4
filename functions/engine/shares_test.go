package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/testenv"
)

// TestAProjectLeavesTheDatabaseToOthers has one project ask for more transactions at a time than there are connections, none of which end.
// Another one's go on, and so do the first one's when they can.
func TestAProjectLeavesTheDatabaseToOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, _ := w.newProject("other")
	var under, ended atomic.Int64
	release := make(chan struct{})
	var all sync.WaitGroup
	for range 2 * store.MaxConns {
		all.Go(func() {
			err := w.store.Project(t.Context(), w.project, func(*store.Tx) error {
				under.Add(1)
				<-release
				return nil
			})
			if err == nil {
				ended.Add(1)
			}
		})
	}
	most := int64(store.EachProject())
	testenv.Eventually(t, func() bool { return under.Load() == most }, "the project has all that it may have")
	require.NoError(t, w.store.Project(t.Context(), other, func(*store.Tx) error { return nil }))
	require.Equal(t, most, under.Load())
	close(release)
	all.Wait()
	require.EqualValues(t, 2*store.MaxConns, ended.Load())
}
