package engine_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/planner"
)

// hitEvery is how many shards of rangeOf have one hit among them.
const hitEvery = 10

// confirmed is a job whose hits are executed once more before they count.
func confirmed(confirm string) func(*functions.NewJob) {
	return func(j *functions.NewJob) { j.Quorum, j.TargetError, j.Confirm = 0, 1e-3, confirm }
}

// isHit says whether a shard of rangeOf has the hit.
func isHit(input string) bool {
	var bounds struct{ From string }
	from, ok := new(big.Int), false
	if json.Unmarshal([]byte(input), &bounds) == nil {
		from, ok = from.SetString(bounds.From, 10)
	}
	begin := new(big.Int).Lsh(big.NewInt(1), 64)
	return ok && new(big.Int).Mod(from.Sub(from, begin), big.NewInt(10*hitEvery)).Sign() == 0
}

// finder finds what is there: the answer of an honest agent has the hits counted.
func finder(input string) functions.Result {
	hit := "0"
	if isHit(input) {
		hit = "1"
	}
	return ok(`{"hit":` + hit + `,` + strings.TrimPrefix(honest(input).Output, "{"))
}

// courtOfHits executes shards as finders do.
func courtOfHits() *court {
	return &court{answer: func(input string, _ uint32) functions.Result { return finder(input) }}
}

// inventor is right but where it matters: what it finds is not what there is.
func inventor(input string) functions.Result {
	if isHit(input) {
		return ok(`{"hit":1,` + strings.TrimPrefix(liar(input).Output, "{"))
	}
	return finder(input)
}

// hider is right but where it matters, too: it says that there was nothing.
func hider(input string) functions.Result {
	return ok(`{"hit":0,` + strings.TrimPrefix(honest(input).Output, "{"))
}

func requireHits(t *testing.T, w *world, job functions.Job, shards int64) functions.JobConfirmation {
	t.Helper()
	require.Equal(t, functions.JobFinished, job.State, job.Error)
	require.Equal(t, `{"hit":`+big.NewInt(shards/hitEvery).String()+`,`+strings.TrimPrefix(truth(rangeOf(shards)), "{"), string(job.Aggregate.Value))
	require.NotNil(t, job.Verification.Confirm)
	w.requireQuiet()
	return *job.Verification.Confirm
}

// TestALieWhereItMattersIsExecutedOnceMore has an agent that is right but for what it finds. By the sample alone such a lie stands as often
// as its window passes.
func TestALieWhereItMattersIsExecutedOnceMore(t *testing.T) {
	t.Parallel()
	const shards = 600
	w := newWorld(t, withCourt(courtOfHits()))
	w.opened()
	job := w.submit(shards, confirmed("output.hit == 1"))
	targeted := w.agent(inventor)
	w.settleAll()
	lease := targeted.lease(200)
	targeted.report(lease)
	w.settleAll()
	require.Equal(t, "output.hit == 1", w.job(job.ID).Policy.Confirm)
	done := w.workOff(job, 200, targeted, w.agent(finder), w.agent(finder), w.agent(finder))
	c := requireHits(t, w, done, shards)
	require.GreaterOrEqual(t, c.Matched, int64(shards/hitEvery))
	require.Equal(t, int64(shards/hitEvery), w.count("select count(*) from attempts where agent_id = '00000000-0000-0000-0000-000000000000' and shard % $1 = 0", hitEvery),
		"the server has executed each hit: %+v", c)
	require.Equal(t, c.Matched, c.Confirmed+c.Refuted)
	require.Zero(t, c.Unjudged)
	if len(hitsOf(lease)) > 0 {
		require.NotZero(t, c.Refuted)
		require.NotZero(t, w.count("select count(*) from audits where state = 'failed'"))
	}
}

func hitsOf(lease *functions.Lease) (hits []int64) {
	for _, s := range lease.Shards {
		if isHit(s.Input) {
			hits = append(hits, s.Number)
		}
	}
	return hits
}

// TestAResultThatMattersDoesNotCountBeforeItIsConfirmed looks while the server has not executed it yet.
func TestAResultThatMattersDoesNotCountBeforeItIsConfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(courtOfHits()))
	w.opened()
	job := w.submit(20, confirmed("output.hit == 1"))
	w.settleAll()
	a := w.agent(finder)
	for a.do(20) > 0 {
		w.settleBut()
	}
	now := w.job(job.ID)
	require.Equal(t, int64(2), now.Shards.Open, "%+v", now.Shards)
	require.Equal(t, functions.JobConfirmation{Matched: 2}, *now.Verification.Confirm)
	d, err := w.GetShard(t.Context(), w.project, job.ID, 0)
	require.NoError(t, err)
	require.Equal(t, functions.ShardOpen, d.State)
	require.Equal(t, "confirm", string(d.Reasons[0].Code), "%+v", d)
	require.True(t, d.Attempts[0].Matters)
	require.Empty(t, d.Attempts[0].ConfirmError)
	other, err := w.GetShard(t.Context(), w.project, job.ID, 1)
	require.NoError(t, err)
	require.False(t, other.Attempts[0].Matters)
	done := w.workOff(job, 20, a, w.agent(finder))
	require.Equal(t, functions.JobConfirmation{Matched: 2, Confirmed: 2}, requireHits(t, w, done, 20))
}

// TestALieThatHidesWhatMattersIsFoundAsBefore has so few results of each agent that all of them are audited.
func TestALieThatHidesWhatMattersIsFoundAsBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(courtOfHits()))
	w.opened()
	job := w.submit(20, confirmed("output.hit == 1"))
	hiding := w.agent(hider)
	w.settleAll()
	hiding.do(20)
	done := w.workOff(job, 20, hiding, w.agent(finder), w.agent(finder))
	requireHits(t, w, done, 20)
}

// TestAnOutputThatCannotBeJudgedMatters: the field is not there, and the side that is safe is to execute.
func TestAnOutputThatCannotBeJudgedMatters(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(30, confirmed("output.find.size > 3"))
	done := w.workOff(job, 30, w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	require.Equal(t, functions.JobConfirmation{Matched: 30, Confirmed: 30, Unjudged: 30}, *done.Verification.Confirm)
	require.Equal(t, 30, c.executed)
	d, err := w.GetShard(t.Context(), w.project, job.ID, 3)
	require.NoError(t, err)
	require.Contains(t, d.Attempts[0].ConfirmError+d.Attempts[1].ConfirmError, "has(output.x) tells whether a field is there")
	w.requireQuiet()
}

// TestOtherOwnersConfirmWhereNoServerCan: as many as make an answer credible.
func TestOtherOwnersConfirmWhereNoServerCan(t *testing.T) {
	t.Parallel()
	const shards = 200
	w := newWorld(t)
	job := w.submit(shards, confirmed("output.hit == 1"), func(j *functions.NewJob) { j.TargetError = 0.05 })
	done := w.workOff(job, shards, w.stranger("one", inventor), w.stranger("two", finder), w.stranger("three", finder), w.stranger("four", finder))
	c := requireHits(t, w, done, shards)
	require.Equal(t, c.Matched, c.Confirmed+c.Refuted, "%+v", c)
	require.Zero(t, w.count(`select count(*) from shards s join attempts a on a.job_id = s.job_id and a.shard = s.number and a.agent_id = s.agent_id
		where a.matters is not null and (select count(distinct o.agent_id) from attempts o where o.job_id = s.job_id and o.shard = s.number and o.outcome = a.outcome) < 2`))
}

// TestConfirmIsCheckedAtSubmission: what is wrong, where, and what to do.
func TestConfirmIsCheckedAtSubmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := func(change ...func(*functions.NewJob)) error {
		j := functions.NewJob{Function: "numbers", Partition: rangeOf(2)}
		for _, c := range change {
			c(&j)
		}
		_, err := w.PlanJob(t.Context(), w.project, j)
		return err
	}
	long := "true || " + strings.Repeat(" ", planner.MaxExpressionBytes)
	require.NoError(t, want(confirmed(long[:planner.MaxExpressionBytes-4]+"true")))
	for expression, part := range map[string]string{
		"output.hit =":       "line 1, column",
		"hit > 1":            "there is output",
		"size(output)":       "gives int, not bool",
		" ":                  "the expression is empty",
		long[:4093] + "true": "4097 bytes, and the limit is 4096",
	} {
		err := want(confirmed(expression))
		requireCode(t, err, "bad_confirm")
		require.ErrorContains(t, err, part, expression)
	}
	requireCode(t, want(func(j *functions.NewJob) { j.Quorum, j.Confirm = 2, "true" }), "bad_confirm")
	requireCode(t, want(func(j *functions.NewJob) { j.None, j.Confirm = true, "true" }), "bad_confirm")
	requireCode(t, want(func(j *functions.NewJob) { j.TargetError, j.Confirm = 0.2, "true" }), "bad_confirm")
	_, _, err := w.PushFunction(t.Context(), w.by, w.project, strings.NewReader(string(w.pack("wrong", "[verification]\nconfirm = \"hit\"\n"))), nil)
	requireCode(t, err, "bad_confirm")
}

// TestAFunctionSaysWhatMatters: its jobs have its condition, also those that verify in another way that allows one.
func TestAFunctionSaysWhatMatters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	w.pushFunction("finds", "[verification]\nconfirm = \"output.hit == 1\"\n")
	for _, tc := range []struct {
		change func(*functions.NewJob)
		want   string
	}{
		{func(*functions.NewJob) {}, "output.hit == 1"},
		{func(j *functions.NewJob) { j.Confirm = "output.n > 1" }, "output.n > 1"},
		{func(j *functions.NewJob) { j.TargetError = 1e-4 }, "output.hit == 1"},
		{func(j *functions.NewJob) { j.AnswerError = 0.01 }, "output.hit == 1"},
		{func(j *functions.NewJob) { j.Recheck = "all" }, "output.hit == 1"},
		{func(j *functions.NewJob) { j.Quorum = 2 }, ""},
	} {
		j := functions.NewJob{Function: "finds", Partition: rangeOf(100_000)}
		tc.change(&j)
		p, err := w.PlanJob(t.Context(), w.project, j)
		require.NoError(t, err)
		require.Equal(t, tc.want, p.Policy.Confirm)
		require.Equal(t, tc.want != "", p.Forecast.Confirmed >= 2, "%+v", p.Forecast)
	}
}

// TestASwarmThatConfirms is TestASwarmWithABound where every tenth result matters.
func TestASwarmThatConfirms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shortLeases, withCourt(&court{}))
	w.opened()
	w.work("one", "two")
	const shards = 1500
	job := w.submit(shards, confirmed(`string(output.sum).endsWith("16") || output.n != 1`))
	w.runWild(job, 6)
	c := w.job(job.ID).Verification.Confirm
	require.Equal(t, c.Matched, c.Confirmed+c.Refuted, "%+v", c)
	require.NotZero(t, c.Confirmed)
}

// TestConfirmingMayBeCutOffAnywhere cuts off every call and step of a job whose results matter, one of whose agents lies where they do.
func TestConfirmingMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	const shards = 40
	w := newWorld(t, withCourt(courtOfHits()))
	w.opened()
	job := w.submit(shards, confirmed("output.hit == 1"))
	cuts := w.cutOffThroughout(job.ID, []*agent{w.agent(inventor), w.agent(finder), w.agent(finder)})
	c := requireHits(t, w, w.job(job.ID), shards)
	require.Equal(t, c.Matched, c.Confirmed+c.Refuted, "%+v", c)
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null"))
	require.Greater(t, cuts["verify"], 5)
}
