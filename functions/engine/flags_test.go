package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/runtime/canonical"
)

func (w *world) flag(id uuid.UUID) review.FlagDetail {
	w.t.Helper()
	d, err := w.GetFlag(w.t.Context(), w.project, id)
	require.NoError(w.t, err)
	return d
}

func (w *world) decideFlag(f review.Flag, r review.FlagResolution) (review.FlagDetail, error) {
	return w.ResolveFlag(w.t.Context(), w.by, w.project, f.ID, f.Revision, r)
}

// TestAFlagShowsWhatItTakesToDecide goes through the whole of it: groups, differences, decisions, and what each of them does.
func TestAFlagShowsWhatItTakesToDecide(t *testing.T) {
	t.Parallel()
	w, job, agents := contested(t)
	f := w.flags(job.ID, flag.FlagReview)[0]
	require.Equal(t, review.FlagOpen, f.State)
	require.Equal(t, "contested", f.Function)
	require.EqualValues(t, 1, f.Times)
	d := w.flag(f.ID)
	require.NotNil(t, d.Item)
	require.Equal(t, functions.ShardReview, d.Item.State)
	require.Len(t, d.Item.Groups, 3)
	require.True(t, d.Item.Groups[0].Reference)
	require.Equal(t, []review.Difference{{Path: "$.sum", Here: "1", Reference: "0"}}, d.Item.Groups[1].Differences)
	require.Len(t, d.Decisions, 6, "three groups, and once more, recheck and reject")

	chosen := canonical.Digest([]byte(`{"n":1,"sum":2}`))
	for _, bad := range []struct {
		revision int64
		r        review.FlagResolution
		code     string
	}{
		{1, review.FlagResolution{Decision: "accept", Digest: chosen}, "bad_reason"},
		{1, review.FlagResolution{Decision: "dismiss", Reason: strings.Repeat("x", functions.MaxResolutionReason+1)}, "bad_reason"},
		{1, review.FlagResolution{Decision: "accept", Digest: canonical.Digest([]byte("1")), Reason: "r"}, "no_such_output"},
		{1, review.FlagResolution{Decision: "dismiss", Reason: "r"}, "not_offered"},
		{1, review.FlagResolution{Decision: "burn", Reason: "r"}, "not_offered"},
		{2, review.FlagResolution{Decision: "reject", Reason: "r"}, "revision_changed"},
	} {
		_, err := w.ResolveFlag(t.Context(), w.by, w.project, f.ID, bad.revision, bad.r)
		requireCode(t, err, bad.code)
	}
	accept := review.FlagResolution{Decision: "accept", Digest: chosen, Reason: "checked by hand"}
	d, err := w.decideFlag(f, accept)
	require.NoError(t, err)
	require.Equal(t, review.FlagResolved, d.State)
	require.Equal(t, "accept", d.Resolution)
	require.Equal(t, w.by.Actor(), d.ResolvedBy)
	require.Equal(t, functions.ShardAccepted, d.Item.State)
	require.True(t, d.Item.Groups[0].Accepted)
	require.Equal(t, []uuid.UUID{agents[2].id}, d.Item.Groups[0].Agents)
	again, err := w.decideFlag(f, accept)
	require.NoError(t, err, "an answer that was lost is asked for again")
	require.Equal(t, d.Revision, again.Revision)
	require.Len(t, w.events(job.ID, base.EventFlagResolved), 1)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'flag.resolve' and detail ->> 'reason' = 'checked by hand'"))
	accept.Reason = "for another reason"
	_, err = w.decideFlag(f, accept)
	requireCode(t, err, "revision_changed")
	w.check(job.ID)

	// It was wrong after all: the job has not ended, and the shard is lent once more.
	d, err = w.decideFlag(d.Flag, review.FlagResolution{Decision: "rerun", Reason: "it was the wrong one"})
	require.NoError(t, err)
	require.Equal(t, functions.ShardOpen, d.Item.State)
	require.EqualValues(t, 3, d.Revision)
	require.Len(t, w.events(job.ID, base.EventReopened), 1)
	require.Equal(t, 1, w.agent(says(`{"n":1,"sum":1}`)).do(5))
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	_, err = w.decideFlag(d.Flag, review.FlagResolution{Decision: "rerun", Reason: "too late"})
	requireCode(t, err, "not_offered")
	w.check(job.ID)
}

func TestAnotherProjectsFlagIsNotThere(t *testing.T) {
	t.Parallel()
	w, job, _ := contested(t)
	f := w.flags(job.ID, flag.FlagReview)[0]
	other, by := w.newProject("other")
	_, err := w.GetFlag(t.Context(), other, f.ID)
	requireCode(t, err, "not_found")
	_, err = w.ResolveFlag(t.Context(), by, other, f.ID, 1, review.FlagResolution{Decision: "reject", Reason: "r"})
	requireCode(t, err, "not_found")
}

// TestAHundredFlagsAreEnough has more shards wait for a person than there may be flags, and decides about all at once.
func TestAHundredFlagsAreEnough(t *testing.T) {
	t.Parallel()
	const shards = flag.MaxOpenFlags + 30
	w := newWorld(t)
	w.pushFunction("dice", "[verification]\nquorum = 2\nmax_attempts = 2\n")
	job := w.submit(shards, func(j *functions.NewJob) { j.Function, j.Quorum = "dice", 0 })
	w.settleAll()
	for i := range 2 {
		require.Equal(t, shards, w.agent(says(fmt.Sprintf(`{"n":1,"sum":%d}`, i))).do(shards))
		w.settleAll()
	}
	require.Equal(t, functions.JobReview, w.job(job.ID).State)
	flags := w.flags(job.ID, flag.FlagReview)
	require.Len(t, flags, flag.MaxOpenFlags+1)
	more := flags[flag.MaxOpenFlags]
	require.Nil(t, more.Shard)
	require.EqualValues(t, 30, more.Times)
	require.Len(t, w.flag(more.ID).Samples, flag.MaxFlagSamples-1)
	require.Len(t, w.events(job.ID, base.EventReview), flag.MaxOpenFlags+2, "one for each flag, and one of the job")
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	last := e.Reasons[len(e.Reasons)-1]
	require.Equal(t, "flags", last.Code)
	require.Contains(t, last.Text, "101 review, 130 times")

	d, err := w.decideFlag(more, review.FlagResolution{Decision: "reject", Reason: "dice never agree"})
	require.NoError(t, err)
	require.Equal(t, review.FlagResolved, d.State)
	require.Empty(t, w.flags(job.ID, flag.FlagReview), "those of the shards are decided with them")
	w.settleAll()
	require.Equal(t, functions.ShardCounts{Total: shards, Failed: shards}, w.job(job.ID).Shards)
	w.check(job.ID)
}

func TestMismatchesAndLimitsAreCountedByAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(30)
	w.settleAll()
	cheat, slow := w.agent(liar), w.agent(func(string) functions.Result { return functions.Result{Status: "timeout"} })
	broken := w.agent(func(string) functions.Result { return functions.Result{Status: "killed"} })
	for _, a := range []*agent{cheat, slow, broken, w.agent(honest), w.agent(honest), w.agent(honest)} {
		a.do(30)
		w.settleAll()
	}
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	for kind, a := range map[string]*agent{flag.FlagMismatch: cheat, flag.FlagLimit: slow, flag.FlagSandbox: broken} {
		flags := w.flags(job.ID, kind)
		require.Len(t, flags, 1, kind)
		require.Equal(t, a.id, *flags[0].Agent, kind)
		require.NotEmpty(t, flags[0].Attempt, kind)
		require.GreaterOrEqual(t, flags[0].Times, int64(1), kind)
	}
	limit := w.flags(job.ID, flag.FlagLimit)[0]
	require.Equal(t, "timeout", limit.Rule)
	require.EqualValues(t, 30, limit.Times)
	d, err := w.decideFlag(limit, review.FlagResolution{Decision: "dismiss", Reason: "an old machine"})
	require.NoError(t, err)
	require.Equal(t, review.FlagResolved, d.State)
	list, err := w.ListFlags(t.Context(), w.project, review.FlagFilter{State: review.FlagResolved}, functions.ListPage{Limit: 9})
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// TestRefusedSubmissionsAreFlagged sends what an honest agent never sends.
func TestRefusedSubmissionsAreFlagged(t *testing.T) {
	t.Parallel()
	w, a, lease := leased(t)
	results := a.results(lease.Shards)
	forged := a.sign(lease.ID, results)
	forged.Signature[0] ^= 1
	for range 3 {
		_, err := w.Record(t.Context(), a.id, lease.ID, forged)
		requireCode(t, err, "bad_signature")
	}
	flags := w.flags(lease.Job, flag.FlagSignature)
	require.Len(t, flags, 1)
	require.Equal(t, "bad_signature", flags[0].Rule)
	require.Equal(t, a.id, *flags[0].Agent)
	require.Equal(t, "refused", flags[0].Decision)
	wrong := a.results(lease.Shards)
	wrong[0].OutputDigest = canonical.Digest([]byte("1"))
	_, err := a.post(lease.ID, wrong...)
	requireCode(t, err, "bad_result")
	thief := w.agent(honest)
	_, err = thief.post(lease.ID, results...)
	requireCode(t, err, "not_found")
	_, err = thief.post(uuid.New(), results...)
	requireCode(t, err, "not_found")
	rules := map[string]uuid.UUID{}
	for _, f := range w.flags(lease.Job, flag.FlagSignature) {
		rules[f.Rule] = *f.Agent
	}
	require.Equal(t, map[string]uuid.UUID{"bad_signature": a.id, "bad_result": a.id, "foreign_lease": thief.id}, rules)
	a.report(lease)
}

// TestTheServerDecidesWhatAPersonHasItExecute: before it can there is a clear refusal.
func TestTheServerDecidesWhatAPersonHasItExecute(t *testing.T) {
	t.Parallel()
	truth := `{"n":1,"sum":18446744073709551616}`
	w := newWorld(t, withCourt(&court{answer: func(string, uint32) functions.Result { return ok(truth) }}))
	w.pushFunction("contested", "[verification]\nquorum = 2\nmax_attempts = 3\n")
	job := w.submit(1, func(j *functions.NewJob) { j.Function, j.Quorum = "contested", 0 })
	w.settleAll()
	for i := range 3 {
		w.agent(says(fmt.Sprintf(`{"n":1,"sum":%d}`, i))).do(1)
		w.settleAll()
	}
	f := w.flags(job.ID, flag.FlagReview)[0]
	recheck := review.FlagResolution{Decision: "recheck", Reason: "let the server see"}
	_, err := w.decideFlag(f, recheck)
	requireCode(t, err, "no_recheck")
	_, err = w.resolve(job, 0, review.Resolution{Decision: "recheck", Reason: "r"})
	requireCode(t, err, "bad_decision")
	w.opened()
	d, err := w.decideFlag(f, recheck)
	require.NoError(t, err)
	require.Equal(t, "recheck", d.Resolution)
	require.Equal(t, functions.ShardOpen, d.Item.State)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, truth, string(done.Aggregate.Value))
	d = w.flag(f.ID)
	require.True(t, d.Item.Groups[0].Server && d.Item.Groups[0].Reference && d.Item.Groups[0].Accepted)
	w.check(job.ID)
}
