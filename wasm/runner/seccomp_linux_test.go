package runner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	w "github.com/ostraka/ostraka/wasm/internal/wasmtest"
)

// filteredProbe names the variable that makes the test binary try, under the
// filter of a running guest, what it must not be able to do.
const filteredProbe = "OSTRAKA_TEST_FILTERED"

func runFilteredProbe() {
	if err := errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), restrict(runCalls)); err != nil {
		fmt.Println("no filter:", err)
		return
	}
	_, socket := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	_, open := unix.Open("/etc/passwd", unix.O_RDONLY, 0)
	_, _, fork := unix.RawSyscall(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0)
	exe := unix.Exec("/bin/true", []string{"true"}, nil)
	kill := unix.Kill(os.Getppid(), 0)
	_, _, trace := unix.RawSyscall(unix.SYS_PTRACE, 0, 0, 0)
	fmt.Println(socket == unix.EPERM, open == unix.EPERM, fork == unix.EPERM, exe == unix.EPERM, kill == unix.EPERM, trace == unix.EPERM)
}

// A guest that took over its runner could compute, and talk to the server's
// end of three pipes, and nothing else.
func TestFilterLeavesNothingButComputing(t *testing.T) {
	probe := exec.Command("/proc/self/exe")
	probe.Env = append(os.Environ(), filteredProbe+"=1")
	out, err := probe.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "true true true true true true\n", string(out))
}

func TestRunnersAreFilteredAndGiveWay(t *testing.T) {
	p, err := loaded(t, w.Print("1").Bytes(), nil)
	require.NoError(t, err)
	require.True(t, p.Filtered)
	status, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.Pid()), "status"))
	require.NoError(t, err)
	require.Contains(t, string(status), "Seccomp:\t2")
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, p.Pid())
	require.NoError(t, err)
	require.LessOrEqual(t, priority, 20-Niceness, "the kernel's answer is 20 less the Niceness")
}
