//go:build linux

package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/testenv"
)

// untidy is an import that leaves a process behind which neither its group nor its environment gives away, and writes its number to a file.
const untidy = `
import os, subprocess
child = subprocess.Popen(["/bin/sleep", "1000"], env={}, start_new_session=True).pid
with open(%q, "w") as f: f.write(str(child) + "\n")
def handler(x): return x
`

// TestAZygoteSweepsThoughNobodyListens closes the connection while the zygote, which stands still, has something to say.
func TestAZygoteSweepsThoughNobodyListens(t *testing.T) {
	dir := t.TempDir()
	begun, goOn, left := filepath.Join(dir, "begun"), filepath.Join(dir, "go on"), filepath.Join(dir, "left")
	z, template := zygoteOf(t, `
import os, time
open(`+strconv.Quote(begun)+`, "w").close()
while not os.path.exists(`+strconv.Quote(goOn)+`): time.sleep(0.01)
`+fmt.Sprintf(untidy, left))
	testenv.Eventually(t, func() bool { return exists(begun) }, "the zygote has told the template to import the function")
	require.NoError(t, z.cmd.Process.Signal(syscall.SIGSTOP))
	require.NoError(t, os.WriteFile(goOn, nil, 0o600))
	child := childIn(t, left)
	testenv.Eventually(t, func() bool { return sleeps(template) }, "the template has imported the function, said so, and waits for the zygote")
	requireSwept(t, z, child)
}

// TestAZygoteSweepsThoughItsWordsAreNotRead closes the connection while more lies there than Go has read, as where a function kills the
// process of each shard before it gets one, and the zygote waits for room to say that it has ended.
func TestAZygoteSweepsThoughItsWordsAreNotRead(t *testing.T) {
	left := filepath.Join(t.TempDir(), "left")
	z, template := zygoteOf(t, fmt.Sprintf(untidy, left))
	child := childIn(t, left)
	still := 0
	testenv.Eventually(t, func() bool {
		table, err := processes()
		require.NoError(t, err)
		still++
		for _, p := range table {
			if p.parent == z.cmd.Process.Pid && p.pid != template && sleeps(p.pid) { // it has said that it is there
				require.NoError(t, syscall.Kill(p.pid, syscall.SIGKILL))
				still = 0
			}
		}
		if !sleeps(z.cmd.Process.Pid) || !sleeps(template) {
			still = 0
		}
		return still > 20 && len(z.messages) == cap(z.messages)
	}, "the zygote waits for room")
	requireSwept(t, z, child)
}

// zygoteOf starts an interpreter that imports a function, and gives its template's number.
func zygoteOf(t *testing.T, source string) (z *zygote, template int) {
	t.Helper()
	cfg := configure(t, source, nil)
	z, err := startZygote(&cfg)
	require.NoError(t, err)
	t.Cleanup(z.kill)
	_, err = z.await(t.Context(), opLoaded)
	require.NoError(t, err)
	require.NoError(t, z.configure(&cfg))
	ready, err := z.await(t.Context(), opReady)
	require.NoError(t, err)
	return z, ready.Template
}

// childIn waits for the number of a process in a file.
func childIn(t *testing.T, file string) (child int) {
	t.Helper()
	testenv.Eventually(t, func() bool {
		text, _ := os.ReadFile(file)
		child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return child > 0 && strings.HasSuffix(string(text), "\n")
	}, "the import has left a process behind")
	return child
}

// requireSwept closes the connection, and expects that the zygote ends with all that the import left behind.
func requireSwept(t *testing.T, z *zygote, child int) {
	t.Helper()
	require.NoError(t, z.conn.Close())
	if err := z.cmd.Process.Signal(syscall.SIGCONT); err != nil { // one that was not stopped may have ended by now
		require.ErrorIs(t, err, os.ErrProcessDone)
	}
	<-z.exited
	require.Zero(t, z.cmd.ProcessState.ExitCode())
	require.False(t, lives(child), "what the import left behind is gone")
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
