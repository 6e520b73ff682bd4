package devdb_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ostraka/ostraka/devdb"
)

const (
	// parentDirEnv makes the test binary a parent: it starts a server in the
	// directory, prints its pid and waits to be killed.
	parentDirEnv = "OSTRAKA_DEVDB_TEST_PARENT"
	// nobodyUID runs the tests a second time as an unprivileged user.
	nobodyUID = 65534
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentDirEnv); dir != "" {
		runParent(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func runParent(dir string) {
	srv, err := devdb.Start(context.Background(), devdb.Options{Dir: dir, Disposable: true})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ready", srv.PID())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestUnprivileged runs the whole suite once more as an ordinary user, since
// root and others take different ways.
func TestUnprivileged(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // the rest of the suite is what this test would run
	}
	runtime.LockOSThread() // the parent-death signal below belongs to the thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.count=1", "-test.timeout=5m")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=/tmp", "HOME=/nonexistent"}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig:  syscall.SIGKILL,
		Credential: &syscall.Credential{Uid: nobodyUID, Gid: nobodyUID},
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestParentKilled")
}

func TestLifecycleKeepsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	srv, err := devdb.Start(t.Context(), devdb.Options{Dir: dir}) // durable, as users run it
	require.NoError(t, err)
	require.Equal(t, devdb.Database, query[string](t, srv, "select current_database()"))
	require.Equal(t, devdb.User, query[string](t, srv, "select current_user"))
	require.Equal(t, "on", query[string](t, srv, "show fsync"))
	require.Equal(t, "on", query[string](t, srv, "show data_checksums"))
	require.Equal(t, "UTF8", query[string](t, srv, "show server_encoding"))
	require.Empty(t, query[string](t, srv, "show listen_addresses"))
	exe(t, srv, "create table kept as select 42 as v")
	require.NoError(t, srv.Stop(t.Context()))
	require.NoError(t, srv.Stop(t.Context()), "stopping twice is harmless")
	<-srv.Done()
	require.Empty(t, serversIn(t, dir), "when Stop returns, nothing runs")
	require.ErrorIs(t, srv.Restart(t.Context()), devdb.ErrStopped)

	again := start(t, devdb.Options{Dir: dir})
	require.Equal(t, srv.URL(), again.URL())
	require.Equal(t, 42, query[int](t, again, "select v from kept"))
}

func TestNothingIsOpenToOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, devdb.Options{Dir: dir})
	for path, want := range map[string]os.FileMode{
		"data": 0o700, "postgres.log": 0o600, "instance.lock": 0o600, "postgres.lock": 0o600,
		"data/pg_hba.conf": 0o600, "data/.s.PGSQL.5432": 0o700,
	} {
		info, err := os.Lstat(filepath.Join(dir, path))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), path)
	}
}

func TestOnlyOurAccountGetsIn(t *testing.T) {
	t.Parallel()
	srv := start(t, devdb.Options{Dir: t.TempDir()})
	other := strings.Replace(srv.URL(), "//"+devdb.User+"@", "//postgres@", 1)
	_, err := pgx.Connect(t.Context(), other)
	require.ErrorContains(t, err, "pg_hba.conf")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	srv := start(t, devdb.Options{Dir: t.TempDir(), Settings: map[string]string{
		"max_connections": "23", "listen_addresses": "*",
	}})
	require.Equal(t, "23", query[string](t, srv, "show max_connections"))
	require.Equal(t, "128MB", query[string](t, srv, "show shared_buffers"))
	require.Equal(t, "off", query[string](t, srv, "show jit"))
	require.Equal(t, "off", query[string](t, srv, "show fsync"))
	require.Empty(t, query[string](t, srv, "show listen_addresses"), "the network stays shut")
}

func TestServerKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	srv := start(t, devdb.Options{Dir: dir})
	exe(t, srv, "create table kept as select 42 as v")
	orphan := busyBackend(t, srv)

	old := srv.PID()
	require.NoError(t, syscall.Kill(old, syscall.SIGKILL))
	<-srv.Done()
	require.Contains(t, serversIn(t, dir), orphan, "a busy backend does not notice that its postmaster is dead")
	require.NoError(t, srv.Restart(t.Context()))
	require.NotEqual(t, old, srv.PID())
	require.NotContains(t, serversIn(t, dir), orphan)
	require.Equal(t, 42, query[int](t, srv, "select v from kept"))
}

func TestRestartStopsARunningServer(t *testing.T) {
	t.Parallel()
	srv := start(t, devdb.Options{Dir: t.TempDir()})
	old := srv.PID()
	require.NoError(t, srv.Restart(t.Context()))
	require.NotEqual(t, old, srv.PID())
	require.Equal(t, 1, query[int](t, srv, "select 1"))
}

func TestParentKilled(t *testing.T) {
	t.Parallel()
	for name, killServer := range map[string]bool{"parent only": false, "parent and server": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first := start(t, devdb.Options{Dir: dir})
			exe(t, first, "create table kept as select 42 as v")
			require.NoError(t, first.Stop(t.Context()))

			cmd, pid := parent(t, dir)
			require.NoError(t, cmd.Process.Kill())
			if killServer {
				require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			}
			_ = cmd.Wait()
			requireNothingRuns(t, dir)
			srv := start(t, devdb.Options{Dir: dir})
			require.Equal(t, 42, query[int](t, srv, "select v from kept"))
		})
	}
}

// TestRootKeepsTheOwnerOfTheData starts as root what an ordinary user has made:
// the server runs as that user, who can go on with the data afterwards.
func TestRootKeepsTheOwnerOfTheData(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // only root can become another user
	}
	dir, err := os.MkdirTemp("", "ostraka-devdb-") //nolint:usetesting // the parent of t.TempDir is closed to the user
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chown(dir, nobodyUID, nobodyUID))
	for range 2 {
		cmd, _ := parentAs(t, dir, &syscall.Credential{Uid: nobodyUID, Gid: nobodyUID})
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		srv := start(t, devdb.Options{Dir: dir})
		require.Equal(t, 1, query[int](t, srv, "select 1"))
		info, err := os.Stat(fmt.Sprintf("/proc/%d", srv.PID()))
		require.NoError(t, err)
		require.EqualValues(t, nobodyUID, info.Sys().(*syscall.Stat_t).Uid)
		require.NoError(t, srv.Stop(t.Context()))
	}
}

func TestStartRightAfterTheParentsDeath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, _ := parent(t, dir)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	srv := start(t, devdb.Options{Dir: dir}) // the old server may still be dying
	require.Equal(t, 1, query[int](t, srv, "select 1"))
}

func TestInUse(t *testing.T) {
	t.Parallel()
	t.Run("by another process", func(t *testing.T) {
		dir := t.TempDir()
		cmd, _ := parent(t, dir)
		_, err := devdb.Start(t.Context(), devdb.Options{Dir: dir})
		require.ErrorIs(t, err, devdb.ErrInUse)
		require.ErrorContains(t, err, fmt.Sprintf("process %d", cmd.Process.Pid))
	})
	t.Run("by this process", func(t *testing.T) {
		dir := t.TempDir()
		start(t, devdb.Options{Dir: dir})
		_, err := devdb.Start(t.Context(), devdb.Options{Dir: dir})
		require.ErrorIs(t, err, devdb.ErrInUse)
	})
	t.Run("by a server started by hand", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, start(t, devdb.Options{Dir: dir}).Stop(t.Context()))
		pid := startByHand(t, filepath.Join(dir, "data"))
		_, err := devdb.Start(t.Context(), devdb.Options{Dir: dir})
		require.ErrorIs(t, err, devdb.ErrInUse)
		require.ErrorContains(t, err, fmt.Sprintf("process %d ", pid))
	})
}

// TestStalePIDFile covers what Postgres itself refuses to start over: a pid
// file whose number now belongs to another live process of the same user.
func TestStalePIDFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, start(t, devdb.Options{Dir: dir}).Stop(t.Context()))
	for _, name := range []string{"postmaster.pid", ".s.PGSQL.5432.lock"} {
		text := fmt.Sprintf("%d\n/proc/self/fd/3\n1\n5432\n.\n\n\nready\n", os.Getpid())
		require.NoError(t, os.WriteFile(filepath.Join(dir, "data", name), []byte(text), 0o600))
	}
	srv := start(t, devdb.Options{Dir: dir})
	require.Equal(t, 1, query[int](t, srv, "select 1"))
}

func TestUnfinishedClusterIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data.new", "base"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data.new", "PG_VERSION"), []byte("15\n"), 0o600))
	srv := start(t, devdb.Options{Dir: dir})
	require.Equal(t, 1, query[int](t, srv, "select 1"))
	require.NoDirExists(t, filepath.Join(dir, "data.new"))
}

func TestDeepDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep/", 25))
	require.Greater(t, len(dir), devdb.MaxSocketPath)
	record := filepath.Join(dir, "socket.path")

	cmd, _ := parent(t, dir)
	left, err := os.ReadFile(record)
	require.NoError(t, err)
	require.DirExists(t, string(left))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()

	srv, err := devdb.Start(t.Context(), devdb.Options{Dir: dir, Disposable: true})
	require.NoError(t, err)
	require.NoDirExists(t, string(left), "what the killed parent left in /tmp is swept")
	require.Equal(t, 1, query[int](t, srv, "select 1"))
	url := srv.URL()
	require.NoError(t, srv.Restart(t.Context()))
	require.Equal(t, url, srv.URL())
	now, err := os.ReadFile(record)
	require.NoError(t, err)
	require.NoError(t, srv.Stop(t.Context()))
	require.NoDirExists(t, string(now))
	require.NoFileExists(t, record)
}

func TestPathThatAURLCannotHold(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with, comma", "space per%20cent quote'\" ünï?&=#+"} {
		dir := filepath.Join(t.TempDir(), name)
		srv := start(t, devdb.Options{Dir: dir})
		require.Equal(t, 1, query[int](t, srv, "select 1"), name)
	}
}

func TestNamesSocketAtTheLimit(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "d")
	fits := base + strings.Repeat("x", devdb.MaxSocketPath-len(filepath.Join(base, "data", ".s.PGSQL.5432")))
	for dir, temporary := range map[string]bool{fits: false, fits + "x": true} {
		srv := start(t, devdb.Options{Dir: dir})
		require.Equal(t, 1, query[int](t, srv, "select 1"))
		_, err := os.Lstat(filepath.Join(dir, "socket.path"))
		require.Equal(t, temporary, err == nil)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	t.Run("a directory that is no cluster", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
		if os.Geteuid() == 0 {
			require.NoError(t, os.Chown(filepath.Join(dir, "data"), nobodyUID, nobodyUID))
		}
		_, err := devdb.Start(t.Context(), devdb.Options{Dir: dir})
		require.ErrorContains(t, err, "holds no Postgres cluster")
	})
	t.Run("a cluster of a version that is not installed", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "PG_VERSION"), []byte("9\n"), 0o600))
		_, err := devdb.Start(t.Context(), devdb.Options{Dir: dir})
		require.ErrorIs(t, err, devdb.ErrNotInstalled)
		require.ErrorContains(t, err, "apt-get install postgresql-9")
	})
	t.Run("a bad setting, with the server's own words", func(t *testing.T) {
		dir := t.TempDir()
		_, err := devdb.Start(t.Context(), devdb.Options{
			Dir: dir, Disposable: true,
			Settings: map[string]string{"max_connections": "many"},
		})
		require.ErrorContains(t, err, `invalid value for parameter "max_connections"`)
		requireNothingRuns(t, dir)
		start(t, devdb.Options{Dir: dir}) // the failure left no lock behind
	})
	t.Run("a cancelled start", func(t *testing.T) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := devdb.Start(ctx, devdb.Options{Dir: dir})
		require.ErrorIs(t, err, context.Canceled)
		requireNothingRuns(t, dir)
	})
	t.Run("missing programs", func(t *testing.T) {
		_, err := devdb.Start(t.Context(), devdb.Options{Dir: t.TempDir(), BinDir: t.TempDir()})
		require.ErrorIs(t, err, devdb.ErrNotInstalled)
		require.ErrorContains(t, err, "apt-get install postgresql")
	})
}

// writeProgram writes a program that can be started at once. A process that another test starts meanwhile would hold the file open for writing
// until it runs its own program, and until then the kernel says "text file busy".
func writeProgram(t *testing.T, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
}

func TestOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	for version, fits := range map[string]bool{
		"13.16": false, "14.0": true, "14beta1": true, "18.1 (Debian 18.1-1)": true,
	} {
		dir := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\necho 'postgres (PostgreSQL) %s'\n", version)
		writeProgram(t, filepath.Join(dir, "postgres"), script)
		writeProgram(t, filepath.Join(dir, "initdb"), "")
		_, err := devdb.FindBinaries(t.Context(), dir, 0)
		if fits {
			require.NoError(t, err, version)
			continue
		}
		require.ErrorIs(t, err, devdb.ErrNotInstalled)
		require.ErrorContains(t, err, "needs Postgres 14 or newer")
	}
}
