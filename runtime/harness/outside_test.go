//go:build linux

package harness

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/testenv"
)

// TestKillEndsTheShardAndNoMore ends a running shard from outside; the session goes on.
func TestKillEndsTheShardAndNoMore(t *testing.T) {
	r := start(t, "import time\ndef handler(x):\n    if x == 'stay':\n        print('here', flush=True)\n        time.sleep(1000)\n    return x\n", func(c *Config) {
		c.Manifest.Limits.WallSeconds = 100
	})
	require.DirExists(t, "/proc/"+strconv.Itoa(r.s.PID()))
	require.Zero(t, r.s.OutputBytes())
	r.s.Kill("nothing runs, so nothing happens")
	require.Equal(t, StatusOK, r.run(`"go"`).Status)
	results := make(chan Result)
	go func() {
		got, _ := r.s.Run(context.Background(), r.shard(`"stay"`))
		results <- got
	}()
	testenv.Eventually(t, func() bool { return r.s.OutputBytes() == int64(len("here\n")) }, "the shard is heard of")
	r.s.Kill("memory_bytes was 9, over the critical threshold of 8")
	got := <-results
	require.Equal(t, StatusKilled, got.Status)
	require.Equal(t, ExceptionKilled, got.Exception.Type)
	require.Equal(t, "memory_bytes was 9, over the critical threshold of 8", got.Exception.Message)
	require.Empty(t, got.Output)
	require.Equal(t, StatusOK, r.run(`"go"`).Status)
	pid := r.s.PID()
	require.NoError(t, r.s.Close())
	require.Zero(t, r.s.PID())
	_, err := os.Stat("/proc/" + strconv.Itoa(pid))
	require.ErrorIs(t, err, os.ErrNotExist)
}
