//go:build linux

package linux

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBallastLeavesIdleThreads takes threads that Go may want when the container has no room for another.
func TestBallastLeavesIdleThreads(t *testing.T) {
	var b ballast
	t.Cleanup(b.drop)
	began, err := ownThreads()
	require.NoError(t, err)
	for _, more := range []int64{2 * idleThreads, 4 * idleThreads, 3 * idleThreads} {
		want := began + more
		require.NoError(t, b.fill(want))
		letGo := holdThreads(idleThreads / 2)
		n, err := ownThreads()
		letGo()
		require.NoError(t, err)
		// Where none were idle, Go would have to start one for each that is held. Single ones come and go by themselves: the runtime's own, and
		// those of tests before this one that were counted and have ended since.
		require.Less(t, n, want+idleThreads/4, "Go started threads although there were idle ones")
	}
}

// TestBallastIsGoneWhereItWasTakenOff: what is about to end is not counted as there, or a function would get its room.
func TestBallastIsGoneWhereItWasTakenOff(t *testing.T) {
	var b ballast
	t.Cleanup(b.drop)
	letGo := holdThreads(idleThreads) // so that Go starts none meanwhile
	defer letGo()
	for range 200 {
		b.add()
		id := b.remove()
		awaitEnd(id)
		require.NoDirExists(t, "/proc/self/task/"+strconv.Itoa(id))
	}
}

// TestBallastGivesTheMainThreadBack: Go parks the main thread for good where a goroutine ends that is locked to it, and who waits for the
// thread's end would wait in vain.
func TestBallastGivesTheMainThreadBack(t *testing.T) {
	var b ballast
	t.Cleanup(b.drop)
	addsMain := func() bool {
		b.add()
		if b.threads[len(b.threads)-1].id == 0 {
			return true
		}
		awaitEnd(b.remove())
		return false
	}
	for _, turn := range []string{"first", "second"} {
		require.Eventually(t, addsMain, time.Minute, time.Millisecond, "the main thread was not to be had a %s time", turn)
		awaitEnd(b.remove())
	}
}
