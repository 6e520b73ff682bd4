//go:build linux

package main

import (
	"bytes"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/testenv"
)

// told remembers what a service was told.
type told struct {
	mu    sync.Mutex
	times int
	last  tenant.Usual
}

func (s *told) SetUsual(u tenant.Usual) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times, s.last = s.times+1, u
}

func (s *told) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times
}

// configuredServer are the options of a server with a file of settings, and what it logs.
func configuredServer(t *testing.T, content string, args ...string) (*serverOptions, *bytes.Buffer) {
	t.Helper()
	path := writeConfig(t, content, 0o600)
	log := &bytes.Buffer{}
	o := &serverOptions{terminal: quietTerminal(map[string]string{"OSTRAKA_DATABASE_URL": "postgres://e"})}
	o.terminal.talk = log
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	o.register(flags)
	require.NoError(t, flags.Parse(append([]string{"--config", path, "--blob-dir=o", "--queues=all"}, args...)))
	require.NoError(t, o.load(flags))
	return o, log
}

func (o *serverOptions) rewrite(t *testing.T, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(o.configPath, []byte(content), 0o600))
}

func TestAServerTakesOverWhatItCan(t *testing.T) {
	t.Parallel()
	const before = "[log]\nlevel = \"info\"\n[recheck]\nseconds = 5\n[quotas]\nopen_jobs = 1\npolls = 3\n[limits]\nconnections = 9\nrequests_per_key = 4\n"
	const after = "[log]\nlevel = \"debug\"\n[recheck]\nseconds = 6\n[quotas]\nopen_jobs = 2\npolls = 4\nresults = 8\n[limits]\nconnections = 10\nrequests_per_key = 5\n"
	o, log := configuredServer(t, before)
	service := &told{}
	require.False(t, o.config.Log.Enabled(t.Context(), slog.LevelDebug))
	o.rewrite(t, after)
	for round := range 2 {
		log.Reset()
		o.reload(service)
		require.Equal(t, round+1, service.count())
		require.Equal(t, tenant.Usual{RecheckSeconds: 6, Quotas: map[functions.QuotaName]int64{
			functions.QuotaOpenJobs: 2, functions.QuotaResults: 8, functions.QuotaPolls: 3, functions.QuotaRequests: 4,
		}}, service.last)
		require.True(t, o.config.Log.Enabled(t.Context(), slog.LevelDebug))
		require.Contains(t, log.String(), `settings="[limits.connections limits.requests_per_key quotas.polls]"`, "as long as they wait they are named")
		taken := `taken_over="[recheck.seconds log.level quotas.open_jobs quotas.results]"`
		if round > 0 {
			taken = "taken_over=[]"
		}
		require.Contains(t, log.String(), taken)
	}
	o.rewrite(t, before)
	log.Reset()
	o.reload(service)
	require.NotContains(t, log.String(), "need a restart", "all is as it was at the start")
	require.Equal(t, int64(1), service.last.Quotas[functions.QuotaOpenJobs])
	require.NotContains(t, service.last.Quotas, functions.QuotaResults, "what the file no longer names is as usual")
}

func TestABrokenFileChangesNothing(t *testing.T) {
	t.Parallel()
	const before = "[log]\nlevel = \"info\"\n[quotas]\nopen_jobs = 1\n"
	for _, broken := range []string{
		"[log]\nlevel = \"debug\"\nlevl = 1\n", "[log]\nlevel = \"debug\"\n[quotas]\nopen_jobs = -1\n", "[log]\nlevel = \"debug\"\n[recheck]\nsandbox = \"x\"\n", "[log", "[log]\nlevel = \"loud\"\n",
	} {
		o, log := configuredServer(t, before)
		service := &told{}
		o.rewrite(t, broken)
		o.reload(service)
		require.Zero(t, service.count(), broken)
		require.False(t, o.config.Log.Enabled(t.Context(), slog.LevelDebug), broken)
		require.Contains(t, log.String(), "what was in force stays in force", broken)
		require.NotContains(t, log.String(), "was read again", broken)
	}
}

func TestFlagsCountForMoreThanAFileThatIsReadAgain(t *testing.T) {
	t.Parallel()
	o, log := configuredServer(t, "", "--quota=open_jobs=1", "--quota=events=2", "--log-level=warn", "--recheck-seconds=7")
	service := &told{}
	o.rewrite(t, "[log]\nlevel = \"debug\"\n[quotas]\nopen_jobs = 5\n[recheck]\nseconds = 9\n[server]\nqueues = [\"verify\"]\n")
	o.reload(service)
	require.Equal(t, int64(7), service.last.RecheckSeconds)
	require.Equal(t, int64(1), service.last.Quotas[functions.QuotaOpenJobs])
	require.Equal(t, int64(2), service.last.Quotas[functions.QuotaEvents])
	require.Equal(t, slog.LevelWarn, o.log.inForce.Level())
	require.NotContains(t, log.String(), "need a restart")
}

// It is not parallel: the signal is the whole process's.
func TestAHangupHasTheFileReadAgain(t *testing.T) {
	o, _ := configuredServer(t, "[recheck]\nseconds = 5\n")
	service := &told{}
	stop := o.reloadAtHangup(t.Context(), service)
	o.rewrite(t, "[recheck]\nseconds = 6\n")
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	testenv.Eventually(t, func() bool { return service.count() > 0 }, "the file is read again")
	stop()
	require.Equal(t, int64(6), service.last.RecheckSeconds)
	without := &serverOptions{}
	without.reloadAtHangup(t.Context(), service)()
}
