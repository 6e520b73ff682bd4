package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// giveWayEnv has this program give way and print what its threads have.
const giveWayEnv = "OSTRAKA_ABUSE_GIVE_WAY"

// TestAllThreadsOfTheNoiseGiveWay looks at each thread: a niceness is one thread's.
func TestAllThreadsOfTheNoiseGiveWay(t *testing.T) {
	if os.Getenv(giveWayEnv) != "" {
		require.NoError(t, giveWay())
		files, err := filepath.Glob("/proc/self/task/*/stat")
		require.NoError(t, err)
		seen := 0
		for _, f := range files {
			text, err := os.ReadFile(f)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) { // a thread that has ended meanwhile
				continue
			}
			require.NoError(t, err)
			seen++
			_, after, _ := strings.Cut(string(text), ") ")
			const nice = 16 // of the fields after the name
			require.Equal(t, "19", strings.Fields(after)[nice], f)
		}
		require.Greater(t, seen, 1)
		return
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), giveWayEnv+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
