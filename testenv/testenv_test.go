package testenv_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/testenv"
)

// endEnv makes the test binary end in the way it names, without Main.
const endEnv = "OSTRAKA_TESTENV_TEST_END"

func TestMain(m *testing.M) {
	if os.Getenv(endEnv) != "" {
		os.Exit(m.Run()) // what a package does that has forgotten Main
	}
	testenv.Main(m)
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	return conn
}

func TestDatabasesAreFreshAndDropped(t *testing.T) {
	keep := testenv.Database(t)
	var url, name string
	t.Run("inner", func(t *testing.T) {
		url = testenv.Database(t)
		conn := connect(t, url) // left open: dropping must not mind
		_, err := conn.Exec(t.Context(), "create table mine ()")
		require.NoError(t, err)
		require.NoError(t, conn.QueryRow(t.Context(), "select current_database()").Scan(&name))
	})
	conn := connect(t, keep)
	defer conn.Close(context.Background())
	var exists bool
	require.NoError(t, conn.QueryRow(t.Context(), "select exists (select from pg_database where datname = $1)", name).Scan(&exists))
	require.False(t, exists)
	require.NoError(t, conn.QueryRow(t.Context(), "select to_regclass('mine') is not null").Scan(&exists))
	require.False(t, exists)
}

func TestDatabaseFromFillsOnce(t *testing.T) {
	var calls int
	fill := func(url string) error {
		calls++
		conn := connect(t, url) // left open: copying must not mind
		_, err := conn.Exec(t.Context(), "create table filled as select 42 as v")
		return err
	}
	for range 3 {
		conn := connect(t, testenv.DatabaseFrom(t, "filled", fill))
		var v int
		require.NoError(t, conn.QueryRow(t.Context(), "update filled set v = v + 1 returning v").Scan(&v))
		require.Equal(t, 43, v, "each copy is its own")
		require.NoError(t, conn.Close(t.Context()))
	}
	require.Equal(t, 1, calls)
}

func TestMinIOTakesAnObject(t *testing.T) {
	cfg := testenv.MinIO(t)
	require.NotEqual(t, cfg.Bucket, testenv.MinIO(t).Bucket)
	client, err := minio.New(cfg.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(cfg.AccessKey, cfg.SecretKey, "")})
	require.NoError(t, err)
	require.NoError(t, client.MakeBucket(t.Context(), cfg.Bucket, minio.MakeBucketOptions{}))
	_, err = client.PutObject(t.Context(), cfg.Bucket, "k", strings.NewReader("v"), 1, minio.PutObjectOptions{})
	require.NoError(t, err)
}

// TestEnding is the body that the re-executed binary runs; see TestNothingIsLeft.
func TestEnding(t *testing.T) {
	how := os.Getenv(endEnv)
	if how == "" {
		return // an ordinary run: TestNothingIsLeft starts it
	}
	var pid int
	require.NoError(t, connect(t, testenv.Database(t)).QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid))
	files, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd")) // Postgres itself names its directory by a descriptor
	require.NoError(t, err)
	testenv.MinIO(t)
	fmt.Println("up", os.Getpid(), files)
	switch how {
	case "exit":
		os.Exit(3)
	case "panic":
		panic(errors.New("on purpose"))
	case "kill":
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

// TestServerOfOnesOwn runs this binary twice against our server, as if it were
// one that a developer keeps: the first is killed, the second sweeps up after it
// and leaves those alone that are still at work.
func TestServerOfOnesOwn(t *testing.T) {
	ours := testenv.Database(t)
	run := func(how string) *exec.Cmd {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestEnding$")
		cmd.Env = append(os.Environ(), endEnv+"="+how, testenv.DatabaseURLEnv+"="+ours)
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		t.Cleanup(func() { _ = stdin.Close() })
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line, err := bufio.NewReader(stdout).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "up")
		return cmd
	}
	conn := connect(t, ours)
	defer conn.Close(context.Background())
	count := func() (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), `select count(*) from pg_database where datname like 'ostraka\_test\_%'`).Scan(&n))
		return n
	}
	before := count()
	killed := run("kill")
	require.Equal(t, before+1, count())
	require.NoError(t, killed.Process.Kill())
	_ = killed.Wait()
	testenv.Eventually(t, func() bool {
		var n int
		require.NoError(t, conn.QueryRow(t.Context(), `select count(distinct application_name) from pg_stat_activity where application_name like 'ostraka\_test\_%'`).Scan(&n))
		return n == 1
	}, "the server notices that the killed run is gone")
	require.Equal(t, before+1, count(), "the killed run leaves its database")
	require.NoError(t, run("return").Wait())
	require.Equal(t, before, count())
}

func TestNothingIsLeft(t *testing.T) {
	for _, c := range []struct{ how, temp string }{
		{"return", t.TempDir()},
		{"exit", t.TempDir()},
		{"panic", t.TempDir()},
		{"kill", t.TempDir()},
		{"return", ""},
		{"kill", ""}, // Postgres' files are in memory then, where there is enough
	} {
		t.Run(c.how+" "+filepath.Base(c.temp), func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe", "-test.run=^TestEnding$")
			cmd.Env = append(os.Environ(), endEnv+"="+c.how, "TMPDIR="+c.temp)
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer stdin.Close()
			line, err := bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			files, up := strings.CutPrefix(strings.TrimSpace(line), "up "+strconv.Itoa(cmd.Process.Pid)+" ")
			require.True(t, up, line)
			require.DirExists(t, files)
			if c.how == "kill" {
				require.NoError(t, cmd.Process.Kill())
			}
			_ = cmd.Wait()
			testenv.Eventually(t, func() bool {
				if _, err := os.Stat(filepath.Dir(files)); err == nil || mentioned(t, filepath.Dir(files)) {
					return false
				}
				left, err := filepath.Glob(filepath.Join(c.temp, "*"))
				require.NoError(t, err)
				return c.temp == "" || len(left) == 0 && !mentioned(t, c.temp)
			}, "no file and no process of the ended binary is left")
		})
	}
}

// mentioned tells whether a process works in the directory or names it.
func mentioned(t *testing.T, dir string) bool {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, proc := range procs {
		cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
		args, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		if strings.HasPrefix(cwd, dir) || strings.Contains(string(args), dir) {
			return true
		}
	}
	return false
}
