//go:build linux

package harness

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/testenv"
)

// TestAZygoteSweepsThoughNobodyListens closes the connection while the zygote, which stands still, has something to say.
func TestAZygoteSweepsThoughNobodyListens(t *testing.T) {
	dir := t.TempDir()
	begun, goOn, left := filepath.Join(dir, "begun"), filepath.Join(dir, "go on"), filepath.Join(dir, "left")
	cfg := configure(t, `
import os, time
open(`+strconv.Quote(begun)+`, "w").close()
while not os.path.exists(`+strconv.Quote(goOn)+`): time.sleep(0.01)
child = os.fork()
if child == 0:
    os.setsid(); time.sleep(1000)
with open(`+strconv.Quote(left)+`, "w") as f: f.write(str(child) + "\n")
def handler(x): return x
`, nil)
	z, err := startZygote(&cfg)
	require.NoError(t, err)
	t.Cleanup(z.kill)
	_, err = z.await(t.Context(), opLoaded)
	require.NoError(t, err)
	require.NoError(t, z.configure(&cfg))
	ready, err := z.await(t.Context(), opReady)
	require.NoError(t, err)
	testenv.Eventually(t, func() bool { return exists(begun) }, "the zygote has told the template to import the function")
	require.NoError(t, z.cmd.Process.Signal(syscall.SIGSTOP))
	require.NoError(t, os.WriteFile(goOn, nil, 0o600))

	var child int
	testenv.Eventually(t, func() bool {
		text, _ := os.ReadFile(left)
		child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return child > 0 && strings.HasSuffix(string(text), "\n") && sleeps(ready.Template)
	}, "the template has imported the function, said so, and waits for the zygote")
	require.NoError(t, z.conn.Close())
	require.NoError(t, z.cmd.Process.Signal(syscall.SIGCONT))
	<-z.exited
	require.Zero(t, z.cmd.ProcessState.ExitCode())
	require.ErrorIs(t, syscall.Kill(child, 0), syscall.ESRCH, "what the import left behind is gone")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sleeps says whether a process waits for something.
func sleeps(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") S ")
}
