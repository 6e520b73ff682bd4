//go:build linux

package linux

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// nobody is an ordinary user.
const nobody = 65534

// TestAsOrdinaryUser runs the tests of sandboxes again without any privilege.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // it is one already
	}
	dir, err := os.MkdirTemp("", "ostraka-nobody-") //nolint:usetesting // nobody cannot enter that of the test
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chown(dir, nobody, nobody))
	run := "^(TestCorpus|TestCanary|TestProbe|TestVolume)"
	if filter := os.Getenv("OSTRAKA_NOBODY_RUN"); filter != "" {
		run = filter
	}
	cmd := exec.Command("/proc/self/exe", "-test.run="+run) // which tells of what failed alone
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err)
	require.NotContains(t, string(out), "no tests to run")
}
