package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/testenv"
)

// aFunction writes a small function and returns its folder.
func aFunction(t *testing.T, name, source string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "function.toml"), []byte("name = \""+name+"\"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	return dir
}

const double = "def handler(x):\n    return 2 * int(x['from'])\n"

// The contract that other programs rely on.
func TestDevContract(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	p, d := devRun(t, folder, "--agents", "2", "--liars", "1")
	require.NoError(t, uuid.Validate(d.Project))
	require.NotEmpty(t, d.OwnerKey)
	require.NotEmpty(t, d.OperatorKey)
	require.NotEmpty(t, d.EnrolmentToken)
	require.NotEmpty(t, d.DatabaseURL)
	agents := ostraka(t, d, "agent", "list")
	require.Contains(t, agents, "agent-1 ", "what is ready has its agents")
	require.Contains(t, agents, "agent-2-liar")
	testenv.Eventually(t, func() bool { return strings.Contains(p.said(), filepath.Join(folder, "dev.env")) }, "it says what to type next")
	require.NotContains(t, p.said(), d.OwnerKey, "but no key")

	// A second one on the same folder is refused, and does not harm the first.
	second := runProgram(t, nil, "dev", "--data", folder, "--listen", "127.0.0.1:0")
	require.Equal(t, exitFailed, second.ends())
	require.Contains(t, second.said(), "another ostraka dev runs in")

	// dev.env is for shells.
	env, err := os.ReadFile(filepath.Join(folder, "dev.env"))
	require.NoError(t, err)
	require.Contains(t, string(env), "export OSTRAKA_KEY='"+d.OwnerKey+"'")

	p.signal(syscall.SIGTERM)
	require.Zero(t, p.ends())
	nothingRunsIn(t, folder)

	// The same folder is the same project, with the same keys.
	p, again := devRun(t, folder, "--agents", "1")
	again.URL = d.URL // the port is another where something has taken it
	require.Equal(t, d, again)
	p.signal(os.Interrupt)
	require.Zero(t, p.ends())
	nothingRunsIn(t, folder)
}

func TestDevRecoversFromKills(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	p, d := devRun(t, folder, "--agents", "2")
	ostraka(t, d, "function", "push", aFunction(t, "double", double))
	job := ostraka(t, d, "job", "run", "double", "--range", "0:400", "--shard-size", "1", "-o", "json")
	id := memberOf(t, job, "id")

	// kill -9 takes everything along.
	kill(t, p.cmd.Process.Pid)
	p.ends()
	nothingRunsIn(t, folder)

	// The next start goes on where it was.
	p, d = devRun(t, folder, "--agents", "2")
	require.Contains(t, ostraka(t, d, "job", "watch", id, "-o", "json"), `"accepted": 400,`)

	// Postgres dies: it is started again, and the server rides over the gap.
	database := postmaster(folder)
	kill(t, database)
	testenv.Eventually(t, func() bool { // until it is missed, the server says that it is ready
		pid := postmaster(folder)
		return pid != 0 && pid != database && isReady(t.Context(), d.URL)
	}, "the server is ready again")
	require.Contains(t, ostraka(t, d, "job", "run", "double", "--range", "0:4", "--shard-size", "1", "--wait", "-o", "json"), `"state": "finished"`)

	// An agent dies: it is started again.
	before := 0
	testenv.Eventually(t, func() bool { before = agentPID(t, folder, "agent-1"); return before != 0 }, "the agent runs")
	kill(t, before)
	testenv.Eventually(t, func() bool { pid := agentPID(t, folder, "agent-1"); return pid != 0 && pid != before }, "the agent runs again")
	p.signal(syscall.SIGTERM)
	require.Zero(t, p.ends())
	nothingRunsIn(t, folder)
}

// memberOf is a string member of indented JSON.
func memberOf(t *testing.T, doc, name string) string {
	t.Helper()
	_, after, found := strings.Cut(doc, `"`+name+`": "`)
	require.True(t, found, doc)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

func isReady(ctx context.Context, url string) bool {
	c, err := dial(url, "")
	if err != nil {
		return false
	}
	resp, err := c.Readyz(ctx)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// agentPID is the process ID of an agent of `ostraka dev`; 0 where it does not run.
func agentPID(t *testing.T, folder, name string) int {
	t.Helper()
	for _, p := range processesOf(filepath.Join(folder, "agents", name)) {
		pid, rest, _ := strings.Cut(p, " ")
		if strings.HasPrefix(rest, "ostraka agent start") {
			n, err := strconv.Atoi(pid)
			require.NoError(t, err)
			return n
		}
	}
	return 0
}

func TestDevSaysThatItsPortIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	folder := filepath.Join(t.TempDir(), "data")
	p := runProgram(t, nil, "dev", "--data", folder, "--listen", taken.Addr().String())
	require.Equal(t, exitFailed, p.ends())
	require.Contains(t, p.said(), "address already in use")
	require.Contains(t, p.said(), "choose another address with --listen")
	nothingRunsIn(t, folder)
}

// A signal during the start stops what has been started so far, at whatever point that is.
func TestDevIsInterruptedWhileItStarts(t *testing.T) {
	for name, begun := range map[string]string{"early": "dev.lock", "while Postgres starts": "db/data/postmaster.pid", "with keys": "dev.json"} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "data")
			p := runProgram(t, nil, "dev", "--data", folder, "--listen", "127.0.0.1:0")
			testenv.Eventually(t, func() bool {
				_, err := os.Stat(filepath.Join(folder, begun))
				return err == nil
			}, "%s is there", begun)
			p.signal(os.Interrupt)
			code := p.ends()
			require.Contains(t, []int{exitOK, exitInterrupted}, code, "0 when it was ready just before")
			nothingRunsIn(t, folder)
		})
	}
}

// Without --data nothing is kept.
func TestDevForgets(t *testing.T) {
	tmp := t.TempDir()
	p := runProgram(t, []string{"TMPDIR=" + tmp}, "dev", "--listen", "127.0.0.1:0", "--agents", "1")
	p.line("ready http://")
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.NotEmpty(t, left)
	p.signal(syscall.SIGTERM)
	require.Zero(t, p.ends())
	left, err = os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
	nothingRunsIn(t, tmp)
}

// An agent that is told to stop sends what is done and returns the rest at once, so that another does not wait for the lease to
// expire.
func TestAgentReturnsItsLeaseWhenItIsStopped(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	_, d := devRun(t, folder, "--agents", "0")
	ostraka(t, d, "function", "push", aFunction(t, "slow", "import time\ndef handler(x):\n    if x['from'] == '1':\n        time.sleep(600)\n    return 1\n"))
	job := interruptedWait(t, d, "slow")
	interpreter, err := pythonDir(systemTerminal())
	require.NoError(t, err)
	a := runProgram(t, []string{"OSTRAKA_TOKEN=" + d.EnrolmentToken, pythonDirVariable + "=" + interpreter}, "agent", "start", "--url", d.URL, "--data", filepath.Join(folder, "mine"), "--name", "mine", "--allow-unsigned", "--accept-eula", eula.Embedded().Version)
	shard := func() string { return ostraka(t, d, "job", "shard", job, "1", "-o", "json") }
	testenv.Eventually(t, func() bool { return strings.Contains(ostraka(t, d, "job", "get", job, "-o", "json"), `"accepted": 1,`) }, "the quick shard is accepted")
	require.Contains(t, shard(), `"lent": 1,`)
	a.signal(syscall.SIGTERM)
	require.Zero(t, a.ends())
	require.Contains(t, a.said(), "returned what is left of a lease")
	require.Contains(t, shard(), `"lent": 0,`)
	require.Contains(t, shard(), `"lost": 0,`, "a lease that is returned is not lost")
	nothingRunsIn(t, filepath.Join(folder, "mine"))
}

// interruptedWait runs a job, stops waiting for it as Ctrl-C does, and returns its ID: the job goes on.
func interruptedWait(t *testing.T, d devInfo, function string) string {
	t.Helper()
	p := runProgram(t, d.environment(), "job", "run", function, "--range", "0:2", "--shard-size", "1", "--no-verify", "--wait")
	testenv.Eventually(t, func() bool { return strings.Contains(p.said(), "0 of 2 shards") }, "it waits")
	p.signal(os.Interrupt)
	require.Equal(t, exitInterrupted, p.ends())
	_, after, found := strings.Cut(p.said(), "ostraka job watch ")
	require.True(t, found, p.said())
	require.NotContains(t, p.said(), "ostraka: ", "that is no error")
	id, _, _ := strings.Cut(after, "\n")
	return id
}
