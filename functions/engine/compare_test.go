package engine_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/wasm"
)

func always(output string) func(string) functions.Result {
	return func(string) functions.Result { return ok(output) }
}

func tolerant(params string) func(*functions.NewJob) {
	return func(j *functions.NewJob) {
		j.Aggregator = "concat"
		j.Validator = &functions.ValidatorUse{Module: "tolerant", Params: json.RawMessage(params)}
	}
}

func TestAgentsThatDifferInTheLastDigitAgree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.agent(always(`{"seconds":1,"x":0.30000000000000004}`)), w.agent(always(`{"seconds":2,"x":0.3}`))
	job := w.submit(3, tolerant(`{"relative":1e-12,"ignore":["seconds"]}`))
	require.Equal(t, "tolerant", w.job(job.ID).Validator.Module)
	require.Len(t, w.job(job.ID).Validator.Digest, 64)
	w.settleAll()
	require.Equal(t, 3, second.do(3))
	w.settleAll()
	require.Equal(t, 3, first.do(3))
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	one := `{"seconds":1,"x":0.30000000000000004}`
	require.Equal(t, "["+one+","+one+","+one+"]", string(done.Aggregate.Value), "the output with which the others were compared counts: that of the agent which joined first")
	require.Equal(t, int64(2), w.count("select count(*) from trust where passed = 3 and failed = 0"))
	w.check(job.ID)
}

func TestBeyondTheToleranceAgentsDisagree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cheat, a, b := w.agent(always(`1.1`)), w.agent(always(`1.0000000000000002`)), w.agent(always(`1.0`))
	job := w.submit(1, tolerant(`{"relative":1e-9}`))
	w.settleAll()
	for _, agent := range []*agent{cheat, a, b} {
		require.Equal(t, 1, agent.do(1))
		w.settleAll()
	}
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, `[1.0000000000000002]`, string(done.Aggregate.Value))
	require.Equal(t, int64(1), w.count("select failed from trust where agent_id = $1", cheat.id))
	require.Equal(t, int64(0), w.count("select sum(failed) from trust where agent_id <> $1", cheat.id))
	w.check(job.ID)
}

// TestALiarInsideTheToleranceIsBelieved shows what a tolerance costs: whoever joined first may bend an answer by as much.
func TestALiarInsideTheToleranceIsBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cheat, a := w.agent(always(`1.0009`)), w.agent(always(`1.0`))
	job := w.submit(1, tolerant(`{"relative":0.001}`))
	w.settleAll()
	require.Equal(t, 1, cheat.do(1))
	w.settleAll()
	require.Equal(t, 1, a.do(1))
	w.settleAll()
	require.Equal(t, `[1.0009]`, string(w.job(job.ID).Aggregate.Value))
}

func TestALateAnswerIsComparedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, late, wrong := w.agent(always(`2.0`)), w.agent(always(`2.0000000000000004`)), w.agent(always(`1.9999999999999998`)), w.agent(always(`3.0`))
	job := w.submit(2, tolerant(`{}`), func(j *functions.NewJob) { j.Quorum = 4 })
	w.settleAll()
	leases := map[*agent]*functions.Lease{}
	for _, agent := range []*agent{a, b, late, wrong} {
		leases[agent] = agent.lease(1)
		require.Len(t, leases[agent].Shards, 1)
	}
	for _, agent := range []*agent{a, b, late, wrong} {
		agent.report(leases[agent])
		w.settleAll()
	}
	require.Equal(t, int64(2), w.count("select count(distinct representative) from answer_classes where job_id = $1", job.ID))
	require.Equal(t, int64(4), w.count("select count(*) from answer_classes where job_id = $1", job.ID))
}

// TestAFailingValidatorIsNoVerdict has a validator with too little fuel for what it is asked.
func TestAFailingValidatorIsNoVerdict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) {
		pool, err := wasm.NewPool(wasm.Options{CacheDir: filepath.Join(t.TempDir(), "little"), Log: o.Log, Runners: 2, Limits: wasm.Limits{Fuel: 3_000_000}})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		o.Modules = pool
	})
	many := func(step string) string {
		var list []string
		for i := range 400 {
			list = append(list, fmt.Sprintf("%d.%s", i, step))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	a, b := w.agent(always(many("5"))), w.agent(always(many("25")))
	job := w.submit(1, tolerant(`{"sets":true}`), func(j *functions.NewJob) { j.Aggregator = "count" })
	w.settleAll()
	require.Equal(t, 1, a.do(1))
	w.settleAll()
	require.Equal(t, 1, b.do(1))
	tries := 0
	w.drain(func(s waiting) {
		for {
			err := w.step(s)
			if err == nil {
				return
			}
			require.Equal(t, stepargs.CompareArgs{}.Kind(), s.Kind)
			require.ErrorContains(t, err, "fuel")
			if tries++; tries == 1 {
				explained, err := w.Explain(t.Context(), w.project, job.ID)
				require.NoError(t, err)
				require.Contains(t, jsonOf(t, explained), "comparison_failing")
				require.Equal(t, int64(1), w.job(job.ID).Shards.Open)
			}
		}
	})
	require.Equal(t, trust.MaxCompareFailures-1, tries, "the last failure gives up, and the step ends")
	require.Equal(t, functions.JobReview, w.job(job.ID).State)
	require.Len(t, w.events(job.ID, base.EventComparisonFailed), 1)
	require.Len(t, w.flags(job.ID, flag.FlagValidator), 1)
	shard, err := w.GetShard(t.Context(), w.project, job.ID, 0)
	require.NoError(t, err)
	require.Contains(t, jsonOf(t, shard.Reasons), "incomparable")
	require.Equal(t, int64(0), w.count("select coalesce(sum(failed), 0) from trust"), "nobody is charged")
}

func TestAValidatorIsCheckedWhenAJobIsSubmitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct{ module, params, code string }{
		"unknown":    {"nothing", "", "not_found"},
		"aggregator": {"sum", "", "bad_kind"},
		"parameters": {"tolerant", `{"relativ":1}`, "bad_params"},
		"no object":  {"tolerant", `[]`, "bad_params"},
	} {
		_, _, err := w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{
			Function: "numbers", Partition: rangeOf(1), Quorum: 2, Validator: &functions.ValidatorUse{Module: c.module, Params: json.RawMessage(c.params)},
		}, functions.Idempotency{})
		require.Error(t, err, name)
		requireCode(t, err, c.code)
	}
	w.pushFunction("close", "[verification.validator]\nmodule = \"tolerant\"\nparams = { relative = 0.5 }\n")
	job := w.submit(1, func(j *functions.NewJob) { j.Function = "close" })
	require.JSONEq(t, `{"relative":0.5}`, string(job.Validator.Params))
	job = w.submit(1, func(j *functions.NewJob) {
		j.Function, j.Validator = "close", &functions.ValidatorUse{Module: registry.NoValidator}
	})
	require.Nil(t, job.Validator)
}
