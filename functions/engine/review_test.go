package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// says is an agent that always answers the same.
func says(output string) func(string) functions.Result {
	return func(string) functions.Result { return ok(output) }
}

// saysByObject says what is too large for a result itself: the digest of an object that is put beside it.
func saysByObject(output string) func(string) functions.Result {
	return func(string) functions.Result {
		r := ok(output)
		r.Output, r.OutputBytes = "", int64(len(output))
		return r
	}
}

// contested is a job of three shards, of which shard 1 has three answers and waits for a person.
func contested(t *testing.T) (*world, functions.Job, []*agent) {
	t.Helper()
	w := newWorld(t)
	w.pushFunction("contested", "[verification]\nquorum = 2\nmax_attempts = 3\n")
	job := w.submit(3, func(j *functions.NewJob) { j.Function, j.Quorum = "contested", 0 })
	w.settleAll()
	var agents []*agent
	for i := range 3 {
		a := w.agent(func(input string) functions.Result {
			if strings.HasPrefix(input, `{"from":"18446744073709551626"`) {
				return ok(fmt.Sprintf(`{"n":1,"sum":%d}`, i))
			}
			return honest(input)
		})
		agents = append(agents, a)
		a.do(3)
		w.settleAll()
	}
	now := w.job(job.ID)
	require.Equal(t, functions.JobReview, now.State)
	require.Equal(t, functions.ShardCounts{Total: 3, Accepted: 2, Review: 1}, now.Shards)
	require.Len(t, w.flags(job.ID, flag.FlagReview), 1)
	require.Len(t, w.events(job.ID, base.EventReview), 2, "one of the shard and one of the job")
	w.check(job.ID)
	list, err := w.ListShards(t.Context(), w.project, job.ID, functions.ShardReview, functions.ListPage{Limit: 5})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, int64(1), list[0].Number)
	require.NotEmpty(t, list[0].Reasons)
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "review", e.Reasons[0].Code)
	return w, now, agents
}

func (w *world) resolve(job functions.Job, shard int64, r review.Resolution) (functions.ShardDetail, error) {
	return w.ResolveShard(w.t.Context(), w.by, w.project, job.ID, shard, r)
}

func TestAPersonAcceptsAnOutput(t *testing.T) {
	t.Parallel()
	w, job, agents := contested(t)
	chosen := `{"n":1,"sum":2}`
	for _, bad := range []struct {
		shard int64
		r     review.Resolution
		code  string
	}{
		{1, review.Resolution{Decision: "accept", Digest: canonical.Digest([]byte(chosen))}, "bad_reason"},
		{1, review.Resolution{Decision: "fail", Reason: strings.Repeat("x", functions.MaxResolutionReason+1)}, "bad_reason"},
		{1, review.Resolution{Decision: "accept", Digest: canonical.Digest([]byte("1")), Reason: "r"}, "no_such_output"},
		{1, review.Resolution{Decision: "accept", Reason: "r"}, "no_such_output"},
		{1, review.Resolution{Decision: "burn", Reason: "r"}, "bad_decision"},
		{1, review.Resolution{Decision: "fail", Reason: "a\x00b"}, "bad_text"},
		{0, review.Resolution{Decision: "fail", Reason: "r"}, "not_in_review"},
		{3, review.Resolution{Decision: "fail", Reason: "r"}, "not_found"},
	} {
		_, err := w.resolve(job, bad.shard, bad.r)
		requireCode(t, err, bad.code)
	}
	shard, err := w.resolve(job, 1, review.Resolution{Decision: "accept", Digest: canonical.Digest([]byte(chosen)), Reason: "checked by hand"})
	require.NoError(t, err)
	require.Equal(t, functions.ShardAccepted, shard.State)
	require.Contains(t, jsonOf(t, shard.Reasons), "checked by hand")
	for _, a := range shard.Attempts {
		require.Equal(t, a.Agent == agents[2].id, a.Accepted)
	}
	require.Equal(t, functions.JobRunning, w.job(job.ID).State, "nobody is waited for any more")
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, `{"n":3,"sum":36893488147419103254}`, string(done.Aggregate.Value))
	require.Empty(t, w.flags(job.ID, flag.FlagReview))
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'shard.resolve' and detail ->> 'reason' = 'checked by hand'"))
	_, err = w.resolve(job, 1, review.Resolution{Decision: "fail", Reason: "r"})
	requireCode(t, err, "not_in_review")
	w.check(job.ID)
}

func TestAPersonAsksForAnotherAttempt(t *testing.T) {
	t.Parallel()
	w, job, _ := contested(t)
	_, err := w.resolve(job, 1, review.Resolution{Decision: "retry", Reason: "once more"})
	require.NoError(t, err)
	require.Equal(t, functions.JobRunning, w.job(job.ID).State)
	require.Equal(t, 1, w.agent(says(`{"n":1,"sum":9}`)).do(5), "a fourth answer")
	w.settleAll()
	require.Equal(t, functions.JobReview, w.job(job.ID).State)
	w.check(job.ID)
	_, err = w.resolve(job, 1, review.Resolution{Decision: "retry", Reason: "and once more"})
	require.NoError(t, err)
	require.Equal(t, 1, w.agent(says(`{"n":1,"sum":2}`)).do(5), "two agree now")
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, int64(9), done.Attempts)
	w.check(job.ID)
}

func TestAPersonGivesAShardUp(t *testing.T) {
	t.Parallel()
	w, job, _ := contested(t)
	_, err := w.resolve(job, 1, review.Resolution{Decision: "fail", Reason: "hopeless"})
	require.NoError(t, err)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFailed, done.State)
	require.Contains(t, done.Error, "1 of 3 shards failed")
	requireTruth(t, done, truth(rangeOf(3), 1))
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "failed", e.Reasons[0].Code)
	w.check(job.ID)
}

func TestFunctionsThatFail(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(string) functions.Result{
		"the same exception":  func(string) functions.Result { return raised("ValueError", "no") },
		"always out of time":  func(string) functions.Result { return functions.Result{Status: "timeout"} },
		"always out of space": func(string) functions.Result { return functions.Result{Status: "memory"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			job := w.submit(4)
			w.settleAll()
			for range 3 {
				a := w.agent(func(input string) functions.Result {
					if strings.HasPrefix(input, `{"from":"18446744073709551646"`) { // shard 3
						return answer(input)
					}
					return honest(input)
				})
				a.do(4)
				w.settleAll()
			}
			done := w.job(job.ID)
			require.Equal(t, functions.JobFailed, done.State)
			require.Equal(t, functions.ShardCounts{Total: 4, Accepted: 3, Failed: 1}, done.Shards)
			requireTruth(t, done, truth(rangeOf(4), 3))
			require.Len(t, w.flags(job.ID, flag.FlagFailed), 1)
			require.Len(t, w.events(job.ID, base.EventShardFailed), 1)
			w.check(job.ID)
		})
	}
}

func TestAJobOfWhichNothingWasAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	w.agent(func(string) functions.Result { return raised("ValueError", "no") }).do(2)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFailed, done.State)
	require.Contains(t, done.Error, "2 of 2 shards failed")
	require.Zero(t, done.Aggregate.Count)
	w.check(job.ID)
}

func TestAShardThatKillsAgentsGoesToReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	require.Equal(t, 1, w.agent(honest).do(1))
	w.settleAll()
	a, victims := w.agent(honest), w.victims()
	for i := range dispatch.MaxLost {
		require.Equal(t, functions.JobRunning, w.job(job.ID).State)
		w.expire(victims[i%len(victims)].lease(1).ID)
		w.check(job.ID)
	}
	require.Nil(t, a.lease(1))
	now := w.job(job.ID)
	require.Equal(t, functions.JobReview, now.State)
	require.Len(t, w.flags(job.ID, flag.FlagLost), 1)
	shard, err := w.resolve(now, 1, review.Resolution{Decision: "retry", Reason: "power cut"})
	require.NoError(t, err)
	require.Equal(t, dispatch.MaxLost, shard.Lost)
	require.NoError(t, w.ReturnLease(t.Context(), a.id, a.lease(1).ID))
	require.Equal(t, functions.JobRunning, w.job(job.ID).State, "a lease that is returned did not die")
	require.Equal(t, 1, a.do(1))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	w.check(job.ID)
}

func TestAJobIsInReviewOnlyWhenNothingElseIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1025, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a, victims := w.agent(honest), w.victims()
	first := a.lease(1024)
	for i := range dispatch.MaxLost {
		w.expire(victims[i%len(victims)].lease(1).ID)
	}
	now := w.job(job.ID)
	require.Equal(t, functions.ShardCounts{Total: 1025, Open: 1024, Review: 1}, now.Shards)
	require.Equal(t, functions.JobRunning, now.State)
	a.report(first)
	w.settleAll()
	require.Equal(t, functions.JobReview, w.job(job.ID).State)
	require.Len(t, w.events(job.ID, base.EventReview), 2)
}

// TestALateContradiction has a result come in after its shard was accepted.
func TestALateContradiction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, late, cheat := w.agent(honest), w.agent(honest), w.agent(honest), w.agent(liar)
	job := w.submit(1100) // two pages, so that the job goes on after the first shards
	w.settleAll()
	// A and the cheat disagree on shard 0, a third is asked and goes silent for long enough to be given up, a fourth settles it.
	a.do(1)
	cheat.do(1)
	w.settleAll()
	silent := late.lease(1)
	require.Equal(t, []int64{0}, numbers(silent))
	w.sql("update " + w.schema() + ".shards set wanted = 1 where number = 0") // as a person who asks for more
	b.do(1)
	w.settleAll()
	require.Equal(t, int64(1), w.job(job.ID).Shards.Accepted)
	late.answer = liar
	late.report(silent)
	w.settleAll()
	require.Len(t, w.flags(job.ID, flag.FlagContradiction), 1)
	require.Equal(t, int64(1), w.count("select failed from trust where agent_id = $1", late.id))
	require.Equal(t, int64(1), w.job(job.ID).Shards.Accepted)
	require.Equal(t, int64(4), w.job(job.ID).Attempts)
	w.check(job.ID)
}
