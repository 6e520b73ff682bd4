package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/trust/execution"
	"github.com/ostraka/ostraka/testenv"
)

// lines is a log that a test reads, a record at a time.
type lines chan string

func (l lines) Write(record []byte) (int, error) {
	l <- string(record)
	return len(record), nil
}

// TestASandboxThatIsAwayIsSaidOnce tells the operator in the log, and everybody in what /readyz shows.
func TestASandboxThatIsAwayIsSaidOnce(t *testing.T) {
	c, log := &court{trouble: errAway}, make(lines, 10)
	w := newWorld(t, withCourt(c), func(o *engine.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.AnnounceRechecks(ctx, "court") }()
	require.Contains(t, <-log, "cannot execute shards itself at present\" reason=\"the sandbox does not answer\"")
	checks, _ := w.Ready(t.Context())
	require.Contains(t, checks["rechecks"], "the sandbox does not answer since ")
	stop()
	<-ended
	checks, _ = w.Ready(t.Context())
	require.Contains(t, checks["rechecks"], " since ")
}

// TestAServerThatRestartsIsWaitedFor: it ends in good order, which is said at once, and audits that have waited for long do not go to
// agents because of that.
func TestAServerThatRestartsIsWaitedFor(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.AnnounceRechecks(ctx, "court") }()
	able := func() bool { checks, _ := w.Ready(t.Context()); return checks["rechecks"] == "ok" }
	testenv.Eventually(t, able, "it is on the list")
	job := w.submit(40, bounded(1e-3))
	w.settleAll()
	c.set(func(c *court) { c.trouble = errAway })
	first := w.stranger("first", honest)
	var later []waiting
	for first.do(40) > 0 {
		later = append(later, w.settleUntilDelayed()...)
	}
	asked := w.count("select count(*) from rechecks")
	require.Positive(t, asked)
	w.exec("update rechecks set asked_at = asked_at - $1::interval", functions.RecheckerGone)
	stop()
	<-ended
	checks, _ := w.Ready(t.Context())
	require.Contains(t, checks["rechecks"], "no server that executes shards is running since ")
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Equal(t, asked, w.count("select count(*) from rechecks"), "it may be back in a moment")
	require.Empty(t, w.events(job.ID, base.EventReopened))

	c.set(func(c *court) { c.trouble = nil })
	w.opened()
	for _, step := range later {
		w.once(step)
	}
	w.settleAll()
	require.GreaterOrEqual(t, int64(c.executed), asked)
	checks, _ = w.Ready(t.Context())
	require.Equal(t, "ok", checks["rechecks"])
}

// settleUntilDelayed runs all that waits, and returns the steps that cannot be carried out now.
func (w *world) settleUntilDelayed() (later []waiting) {
	w.t.Helper()
	w.drain(func(s waiting) {
		var snooze *functions.Snooze
		if err := w.step(s); errors.As(err, &snooze) {
			later = append(later, s)
		} else {
			require.NoError(w.t, err, "%s %s", s.Kind, s.Args)
		}
	})
	return later
}

// TestADamagedBundleIsSaidToBe, to agents with a problem of its own, and of rechecks where their job is explained.
func TestADamagedBundleIsSaidToBe(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(4, func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, "all" })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(4)
	path := w.objectPath(lease.BundleDigest)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	broken := bytes.Clone(whole)
	broken[len(broken)/2]++
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, broken, 0o600))
	_, _, err = w.LeaseBundle(t.Context(), a.id, lease.ID)
	require.ErrorIs(t, err, functions.ErrObjectDamaged)
	_, _, err = w.OpenObject(t.Context(), w.project, lease.BundleDigest)
	require.ErrorIs(t, err, functions.ErrObjectDamaged)

	a.report(lease)
	later := w.settleUntilDelayed()
	require.Len(t, later, 1)
	require.Zero(t, c.executed)
	require.Equal(t, functions.JobRunning, w.job(job.ID).State)
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Condition(t, func() bool {
		return slices.ContainsFunc(e.Reasons, func(r functions.Reason) bool {
			return r.Code == "recheck_delayed" && strings.Contains(r.Text, "object_damaged")
		})
	}, "%+v", e.Reasons)

	require.NoError(t, os.WriteFile(path, whole, 0o600))
	for _, step := range later {
		w.once(step)
	}
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	require.Equal(t, 4, c.executed)
	w.requireQuiet()
}

// TestABatchOfRechecksIsBoundedByWhatTheFunctionMay: agents say that they were quick and printed little.
func TestABatchOfRechecksIsBoundedByWhatTheFunctionMay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limits string
		most   int
	}{
		"of shards":       {"", execution.RecheckBatch},
		"of time":         {"wall_seconds = 3600\n", 6},
		"of output":       {"output_bytes = \"16Mi\"\n", 16},
		"one is a minute": {"wall_seconds = 60\n", execution.RecheckBatch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &court{}
			w := newWorld(t, withCourt(c))
			w.opened()
			w.pushFunction("numbers", "[limits]\n"+test.limits)
			job := w.submit(execution.RecheckBatch+1, func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, "all" })
			done := w.workOff(job, 300, w.agent(honest))
			require.Equal(t, functions.JobFinished, done.State)
			require.Equal(t, test.most, c.largest)
			require.Equal(t, execution.RecheckBatch+1, c.executed)
			w.requireQuiet()
		})
	}
}
