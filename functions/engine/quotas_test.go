package engine_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/tenant"
)

// setQuota sets a limit of the world's project.
func (w *world) setQuota(name functions.QuotaName, value int64) {
	w.t.Helper()
	_, err := w.SetQuotas(w.t.Context(), w.server, w.project, map[functions.QuotaName]*int64{name: &value})
	require.NoError(w.t, err)
}

func (w *world) quota(name functions.QuotaName) functions.Quota {
	w.t.Helper()
	list, err := w.ProjectQuotas(w.t.Context(), w.project)
	require.NoError(w.t, err)
	for _, q := range list {
		if q.Name == name {
			return q
		}
	}
	require.Fail(w.t, "no such limit", name)
	return functions.Quota{}
}

func (w *world) trySubmit(shards int64, idem functions.Idempotency) (functions.Job, bool, error) {
	return w.SubmitJob(w.t.Context(), w.by, w.project, functions.NewJob{
		Function: "numbers", None: true, Partition: rangeOf(shards),
	}, idem)
}

func quotaDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// requireQuota requires that a limit has refused, and says the figures.
func requireQuota(t *testing.T, err error, name functions.QuotaName, most, used int64) {
	t.Helper()
	var refused *functions.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, tenant.QuotaCode(name), refused.Code)
	require.Equal(t, functions.KindExhausted, refused.Kind)
	require.Equal(t, [2]int64{most, used}, [2]int64{refused.Quota.Limit, refused.Quota.Used})
	require.Positive(t, refused.Quota.Again)
	require.NotEmpty(t, refused.Hint)
}

func TestLimitsOfJobsAtTheLimitAndOnePastIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[functions.QuotaName]struct {
		most       int64
		fits, over int64 // shards of a job that still fits after one of 10, and of one that does not
		used       int64 // after the first
	}{
		functions.QuotaOpenJobs:   {2, 5, 1, 1},
		functions.QuotaOpenShards: {15, 5, 1, 10},
		functions.QuotaResults:    {15, 5, 1, 10},
		functions.QuotaEvents:     {2, 5, 1, 1},
	} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.setQuota(name, c.most)
			_, _, err := w.trySubmit(10, functions.Idempotency{})
			require.NoError(t, err)
			require.Equal(t, c.used, *w.quota(name).Used)
			idem := functions.Idempotency{Key: "second"}
			second, _, err := w.trySubmit(c.fits, idem)
			require.NoError(t, err, "as much as the project may have")
			require.Equal(t, c.most, *w.quota(name).Used)
			_, _, err = w.trySubmit(c.over, functions.Idempotency{})
			requireQuota(t, err, name, c.most, c.most)
			require.Equal(t, c.most, *w.quota(name).Used, "what is refused is not counted")
			require.Equal(t, int64(2), w.count("select count(*) from jobs"))
			again, replayed, err := w.trySubmit(c.fits, idem)
			require.NoError(t, err, "a request that is repeated at the limit is answered as the first time")
			require.True(t, replayed)
			require.Equal(t, second.ID, again.ID)

			w.setQuota(name, c.most+1)
			_, _, err = w.trySubmit(c.over, functions.Idempotency{})
			require.NoError(t, err, "the limit was raised")
			w.setQuota(name, 1)
			require.Equal(t, c.most+1, *w.quota(name).Used, "lowering it takes nothing away")
			require.Equal(t, int64(3), w.count("select count(*) from jobs"))
			_, _, err = w.trySubmit(c.over, functions.Idempotency{})
			requireQuota(t, err, name, 1, c.most+1)
			w.setQuota(name, 0)
			_, _, err = w.trySubmit(c.over, functions.Idempotency{})
			require.NoError(t, err, "0 is no limit")
		})
	}
}

func TestJobsThatEndMakeRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setQuota(functions.QuotaOpenShards, 10)
	job, _, err := w.trySubmit(10, functions.Idempotency{})
	require.NoError(t, err)
	_, _, err = w.trySubmit(1, functions.Idempotency{})
	requireQuota(t, err, functions.QuotaOpenShards, 10, 10)
	_, err = w.CancelJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err)
	_, err = w.CancelJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err, "a second time counts nothing twice")
	require.Zero(t, *w.quota(functions.QuotaOpenJobs).Used)
	require.Zero(t, *w.quota(functions.QuotaOpenShards).Used)
	require.Equal(t, int64(10), *w.quota(functions.QuotaResults).Used, "its shards are kept")
	_, _, err = w.trySubmit(10, functions.Idempotency{})
	require.NoError(t, err)
	_, _, err = w.trySubmit(11, functions.Idempotency{})
	require.ErrorContains(t, err, "quota_open_shards")
	var refused *functions.Error
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Hint, "make it smaller", "waiting would not help")
}

// TestManySubmitsAtTheLimit has as many as there is room for pass, however they meet.
func TestManySubmitsAtTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const room, clients = 3, 8
	w.setQuota(functions.QuotaOpenJobs, room)
	errs := make([]error, clients)
	var done sync.WaitGroup
	for i := range clients {
		done.Go(func() { _, _, errs[i] = w.trySubmit(2, functions.Idempotency{}) })
	}
	done.Wait()
	passed := 0
	for _, err := range errs {
		if err == nil {
			passed++
			continue
		}
		requireQuota(t, err, functions.QuotaOpenJobs, room, room)
	}
	require.Equal(t, room, passed)
	require.Equal(t, int64(room), *w.quota(functions.QuotaOpenJobs).Used)
	require.Equal(t, int64(room), w.controlCount("select count(*) from open_jobs"))
}

func TestLimitsOfOneProjectAreNotAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.Quotas = map[functions.QuotaName]int64{functions.QuotaOpenUploads: 1} })
	other, _ := w.newProject("other")
	upload := func(project uuid.UUID, digit string) (registry.Upload, error) {
		u, _, err := w.CreateUpload(t.Context(), w.by, project, quotaDigest(digit), 1, functions.Idempotency{})
		return u, err
	}
	first, err := upload(w.project, "a")
	require.NoError(t, err)
	_, err = upload(w.project, "b")
	requireQuota(t, err, functions.QuotaOpenUploads, 1, 1)
	_, err = upload(other, "b")
	require.NoError(t, err)
	_, err = w.ReceiveUpload(t.Context(), w.project, first.ID, strings.NewReader("a"))
	require.NoError(t, err)
	for range 2 {
		_, err = w.CompleteUpload(t.Context(), w.project, first.ID)
		require.NoError(t, err)
	}
	require.Zero(t, *w.quota(functions.QuotaOpenUploads).Used)
	_, err = upload(w.project, "b")
	require.NoError(t, err, "one was completed")
	stats, err := w.Stats(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 1, stats.Quotas[functions.QuotaOpenUploads], 0)
	w.setQuota(functions.QuotaOpenUploads, 2)
	_, err = upload(w.project, "c")
	require.NoError(t, err)
	_, err = w.SetQuotas(t.Context(), w.server, w.project, map[functions.QuotaName]*int64{functions.QuotaOpenUploads: nil})
	require.NoError(t, err)
	require.Equal(t, int64(1), w.quota(functions.QuotaOpenUploads).Limit, "the server's default again")
	require.False(t, w.quota(functions.QuotaOpenUploads).Own)
}

func TestAgentsOfOneToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setQuota(functions.QuotaAgentsPerToken, 2)
	create := func(uses int64) (fleet.EnrolmentToken, error) {
		token, _, _, err := w.CreateEnrolmentToken(t.Context(), w.by, w.project, fleet.NewEnrolmentToken{Name: "few", MaxUses: uses}, functions.Idempotency{})
		return token, err
	}
	_, err := create(3)
	requireQuota(t, err, functions.QuotaAgentsPerToken, 2, 0)
	_, err = create(2)
	require.NoError(t, err)
	_, err = create(0)
	require.NoError(t, err, "what is left out fits")
	for range 2 { // w.token is for more than that, and was made before
		w.agent(honest)
	}
	w.setQuota(functions.QuotaAgentsPerToken, 3)
	w.agent(honest)
	require.Equal(t, int64(3), w.controlCount("select uses from enrolment_tokens where max_uses > 2"))
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	_, _, err = w.join(private, w.token, "one too many", "")
	require.ErrorContains(t, err, "token_used_up")
}

func TestWhatIsCountedEveryHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3)
	w.settleAll()
	_, err := w.CancelJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err)
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	require.Equal(t, w.count("select count(*) from events"), *w.quota(functions.QuotaEvents).Used)
	require.Equal(t, int64(3), *w.quota(functions.QuotaResults).Used)
	w.setQuota(functions.QuotaEvents, w.count("select count(*) from events"))
	_, _, err = w.trySubmit(1, functions.Idempotency{})
	require.ErrorContains(t, err, "quota_events")
}

func TestLimitsThatDoNotExist(t *testing.T) {
	t.Parallel()
	require.NoError(t, tenant.CheckQuotas(map[functions.QuotaName]int64{functions.QuotaPolls: 0}))
	var refused *functions.Error
	require.ErrorAs(t, tenant.CheckQuotas(map[functions.QuotaName]int64{"shares": 1}), &refused)
	require.Equal(t, "bad_quota", refused.Code)
	require.Error(t, tenant.CheckQuotas(map[functions.QuotaName]int64{functions.QuotaPolls: -1}))
}

// TestAFollowUpWaitsForRoom: a job that a rule makes is not lost where the project has no room for it now.
func TestAFollowUpWaitsForRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rule("again", func(r *planner.Rule) { r.MaxDepth = 1 })
	w.setQuota(functions.QuotaResults, 2)
	job := w.submit(2, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	require.Equal(t, 2, w.agent(honest).do(2))
	w.drain(func(s waiting) {
		if s.Kind != (stepargs.FollowUpArgs{}).Kind() {
			w.once(s)
			return
		}
		var later *functions.Snooze
		require.ErrorAs(t, w.step(s), &later)
		require.Positive(t, later.For)
		require.Len(t, w.family(job.ID), 1)
		w.setQuota(functions.QuotaResults, 3)
		w.once(s)
		require.Len(t, w.family(job.ID), 2)
	})
	require.Len(t, w.family(job.ID), 2)
}
