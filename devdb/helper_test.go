package devdb_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/devdb"
	"github.com/ostraka/ostraka/testenv"
)

func start(t *testing.T, opts devdb.Options) *devdb.Server {
	t.Helper()
	opts.Disposable = true
	srv, err := devdb.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, srv.Stop(context.Background())) })
	return srv
}

func query[T any](t *testing.T, srv *devdb.Server, sql string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), srv.URL())
	require.NoError(t, err)
	defer conn.Close(context.Background())
	var v T
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&v))
	return v
}

func exe(t *testing.T, srv *devdb.Server, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), srv.URL())
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

// serversIn lists the Postgres processes that work below the directory.
func serversIn(t *testing.T, dir string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	require.NoError(t, err)
	var found []string
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			found = append(found, filepath.Base(filepath.Dir(link)))
		}
	}
	return found
}

func requireNothingRuns(t *testing.T, dir string) {
	t.Helper()
	testenv.Eventually(t, func() bool { return len(serversIn(t, dir)) == 0 },
		"no server process works in %s", dir)
}

// busyBackend starts a query that never looks up and returns its process.
func busyBackend(t *testing.T, srv *devdb.Server) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), srv.URL())
	require.NoError(t, err)
	pid := strconv.Itoa(int(conn.PgConn().PID()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		var n int64
		_ = conn.QueryRow(context.Background(), "select count(*) from generate_series(1, 1000000000000) a").Scan(&n)
	}()
	t.Cleanup(func() {
		<-done
		_ = conn.Close(context.Background())
	})
	testenv.Eventually(t, func() bool {
		return query[bool](t, srv, "select state = 'active' from pg_stat_activity where pid = "+pid)
	}, "the endless query runs")
	return pid
}

// parent starts the test binary as the owner of a server.
func parent(t *testing.T, dir string) (cmd *exec.Cmd, serverPID int) {
	t.Helper()
	return parentAs(t, dir, nil)
}

func parentAs(t *testing.T, dir string, who *syscall.Credential) (cmd *exec.Cmd, serverPID int) {
	t.Helper()
	cmd = exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), parentDirEnv+"="+dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // closes with us, so that the parent never outlives the test
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscanf(line, "ready %d\n", &serverPID)
	require.NoError(t, err, line)
	return cmd, serverPID
}

func startByHand(t *testing.T, data string) int {
	t.Helper()
	bins, err := devdb.FindBinaries(t.Context(), "", 0)
	require.NoError(t, err)
	dir, err := os.Open(data)
	require.NoError(t, err)
	defer dir.Close()
	info, err := dir.Stat()
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	cmd := exec.Command(filepath.Join(bins.Dir, "postgres"), "-D", "/proc/self/fd/3", "-c", "listen_addresses=", "-k", ".")
	cmd.ExtraFiles = []*os.File{dir}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		_ = cmd.Wait()
	})
	testenv.Eventually(t, func() bool {
		b, _ := os.ReadFile(filepath.Join(data, "postmaster.pid"))
		return strings.Contains(string(b), "ready")
	}, "the server started by hand is ready")
	return cmd.Process.Pid
}
