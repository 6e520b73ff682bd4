package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/backup"
	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/devdb"
	"github.com/ostraka/ostraka/testenv"
)

// TestABackupInTheMiddleOfAJob copies an installation whose agents work, loses it after it went on, and has a restored one finish the job:
// in another Postgres and another bucket, with the agents of before, which remember what is lost.
func TestABackupInTheMiddleOfAJob(t *testing.T) {
	t.Parallel()
	s3 := testenv.MinIO(t)
	w := &world{t: t, dir: t.TempDir(), binary: program(t), address: freeAddress(t), s3: &s3}
	w.open(0)
	d := newDayOf(t, w, strings.ReplaceAll(dayFunction, "0.02", "0.15")) // it must not be done before it is lost
	kept := d.start("kept", "http://"+d.address)
	d.untilAccepted(10)

	dir := filepath.Join(t.TempDir(), "backup")
	run(t, d.binary, d.serverEnv(), append([]string{"backup", dir, "--recheck-sandbox", "none"}, d.objects()...)...)
	manifest, _, err := backup.Read(dir)
	require.NoError(t, err)
	require.Zero(t, manifest.Objects.Missing)
	require.Positive(t, manifest.Objects.Count)
	d.goOn("kept")

	kept.kill()
	w.server.kill()
	lost := d.count("select count(*) from shards where state = 'accepted'")
	require.NoError(t, w.db.Stop(t.Context()))
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "postgres")))
	d.restore(dir)
	restored := d.count("select count(*) from shards where state = 'accepted'")
	require.Less(t, restored, lost, "the backup is of an earlier moment")
	require.Positive(t, restored, "and of one in the middle of the job")

	d.startServer()
	operator := append(d.serverEnv(), "OSTRAKA_URL=http://"+d.address, "OSTRAKA_KEY="+w.operator)
	run(t, d.binary, operator, "audit", "restart", "--operator", "--yes", "--reason", "restored a backup")
	owner := append(d.serverEnv(), "OSTRAKA_URL=http://"+d.address, "OSTRAKA_KEY="+d.project.ownerKey, "OSTRAKA_PROJECT="+d.project.id.String())
	run(t, d.binary, owner, "audit", "restart", "--yes", "--reason", "restored a backup")
	d.start("kept", "http://"+d.address)
	d.acceptRestarts("kept")
	d.end()
}

// goOn has something happen after the backup that the log tells, until the agent remembers it and shards were settled.
func (d *day) goOn(name string) {
	d.t.Helper()
	made, err := d.project.owner.CreateKeyWithResponse(d.t.Context(), d.project.id, nil, client.NewKey{Name: "made after the backup", Role: "viewer"})
	require.NoError(d.t, err)
	require.NotNil(d.t, made.JSON201, string(made.Body))
	size := d.count("select count(*) from audit")
	testenv.Eventually(d.t, func() bool { return d.remembered(name) >= size }, "the agent remembers what will be lost")
	d.untilAccepted(min(d.status().Shards.Accepted+20, dayShards))
}

// noteSize finds the size of a log in the head that a witness keeps of it.
var noteSize = regexp.MustCompile(`^[^\n]*\n(\d+)\n`)

// remembered is how many records of the project's log the agent remembers.
func (d *day) remembered(name string) (size int64) {
	text, err := os.ReadFile(filepath.Join(d.data(name), "witness", "heads.json"))
	var servers map[string]map[string]struct{ Note string }
	if err != nil || json.Unmarshal(text, &servers) != nil {
		return 0
	}
	for _, logs := range servers {
		if m := noteSize.FindStringSubmatch(logs[d.project.id.String()].Note); m != nil {
			size, err = strconv.ParseInt(m[1], 10, 64)
			require.NoError(d.t, err)
		}
	}
	return size
}

// restore makes an installation of a backup in a Postgres and a bucket of their own, which the world goes on with.
func (d *day) restore(dir string) {
	d.t.Helper()
	db, err := devdb.Start(d.t.Context(), devdb.Options{Dir: filepath.Join(d.t.TempDir(), "other"), Log: slog.New(slog.DiscardHandler), Disposable: true})
	require.NoError(d.t, err)
	d.t.Cleanup(func() { require.NoError(d.t, db.Stop(context.WithoutCancel(d.t.Context()))) })
	s3 := testenv.MinIO(d.t)
	d.db, d.s3 = db, &s3
	run(d.t, d.binary, d.serverEnv(), append([]string{"restore", dir, "--recheck-sandbox", "none"}, d.objects()...)...)
	objects, err := blob.OpenS3(d.t.Context(), s3)
	require.NoError(d.t, err)
	projects, err := objects.Projects(d.t.Context())
	require.NoError(d.t, errors.Join(err, objects.Close()))
	require.Contains(d.t, projects, d.project.id)
}

// acceptRestarts does what the owner of a machine does whose agent remembers what is lost, of each log, until the job is done.
func (d *day) acceptRestarts(name string) {
	d.t.Helper()
	accepted := 0
	testenv.Eventually(d.t, func() bool {
		if origin := d.alarm(name); origin != "" {
			run(d.t, d.binary, []string{"HOME=" + d.dir}, "agent", "witness", "accept", "--data", d.data(name), "--restart", origin)
			accepted++
		}
		job := d.status()
		return job != nil && job.State == "finished"
	}, "the job is done, once the owner of the agent has accepted that the logs began anew")
	require.Positive(d.t, accepted, "the agent remembers what is lost")
}

// alarm is what a log is called since a restart for which the agent has stopped.
func (d *day) alarm(name string) string {
	text, err := os.ReadFile(filepath.Join(d.data(name), "witness", "alarm.json"))
	var alarm struct {
		Restart *struct{ Origin string }
	}
	if err != nil || json.Unmarshal(text, &alarm) != nil || alarm.Restart == nil {
		return ""
	}
	return alarm.Restart.Origin
}
