package e2e

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

// program builds the real binary with the flags of `make build`, so that what that has compiled is not compiled again.
var program = func() func(t *testing.T) string {
	build := sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "ostraka-e2e-")
		if err != nil {
			return "", err
		}
		built = dir
		path := filepath.Join(dir, "ostraka")
		cmd := exec.Command("go", "build", "-trimpath", "-o", path, "../cmd/ostraka")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		return path, cmd.Run()
	})
	return func(t *testing.T) string {
		t.Helper()
		path, err := build()
		require.NoError(t, err, "building the program")
		return path
	}
}()

// built is the directory of the program, for TestMain to remove.
var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// process is one process of the program. What it says goes to the test's log when the test fails.
type process struct {
	cmd *exec.Cmd
	log string // path of its output
}

// start starts the program. It is killed at the end of the test, if it has not ended by then.
func start(t *testing.T, binary string, env []string, args ...string) *process {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "stderr")
	require.NoError(t, err)
	p := &process{cmd: exec.Command(binary, args...), log: log.Name()}
	p.cmd.Env = env
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, p.cmd.Start())
	require.NoError(t, log.Close())
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			text, _ := os.ReadFile(p.log)
			t.Logf("%s said:\n%s", strings.Join(args[:1], " "), text)
		}
	})
	return p
}

// run runs the program to its end and returns what it printed.
func run(t *testing.T, binary string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = env
	out, err := cmd.Output()
	require.NoError(t, err, args)
	return strings.TrimSpace(string(out))
}

// kill kills the process at once and reaps it. It may be called again.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// freeAddress is an address that was free a moment ago; servers that are killed come back to it. Other tests listen on 127.0.0.1, so it
// is on a loopback address of its own: nobody takes it while it is not in use.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(net.IPv4(127, 1, byte(rand.IntN(256)), byte(1+rand.IntN(254))).String(), "0"))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func connect(t *testing.T, address, key string) *client.ClientWithResponses {
	t.Helper()
	api, err := client.NewClientWithResponses("http://"+address, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	require.NoError(t, err)
	return api
}
