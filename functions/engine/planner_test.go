package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/submit"
)

// pushRefine uploads the example of a planner.
func (w *world) pushRefine() {
	w.t.Helper()
	body, err := os.ReadFile("../../examples/planners/refine/refine.wasm")
	require.NoError(w.t, err)
	_, _, err = w.PushModule(w.t.Context(), w.by, w.project, "refine", "planner", bytes.NewReader(body))
	require.NoError(w.t, err)
}

// bowl is an agent's function whose least value is at (1, 1).
func bowl(input string) functions.Result {
	var p struct{ X, Y float64 }
	if json.Unmarshal([]byte(input), &p) != nil {
		return ok("null")
	}
	text, err := json.Marshal(map[string]float64{"x": p.X, "y": p.Y, "value": (p.X-1)*(p.X-1) + (p.Y-1)*(p.Y-1)})
	if err != nil {
		panic(err)
	}
	return ok(string(text))
}

// refining is a rule with the example planner.
func refining(params string) func(*planner.Rule) {
	return func(r *planner.Rule) {
		r.When, r.MaxDepth, r.MaxJobs = "metrics.shards.failed == 0", 20, 20
		r.Then = planner.Then{Function: "numbers", Planner: "refine", Params: json.RawMessage(params), Quorum: 1, Aggregator: "concat"}
	}
}

const fewRounds = `{"half":1,"points":3,"shrink":4,"tolerance":0.05}`

// found is a job of one shard that found a point, with what its follow-up step has done.
func (w *world) found() functions.Job {
	w.t.Helper()
	job := w.submit(1, func(j *functions.NewJob) { j.Quorum, j.Aggregator = 1, "concat" })
	w.settleAll()
	require.Equal(w.t, 1, w.agent(says(`{"value":8,"x":3.0,"y":3.0}`)).do(1))
	w.settleAll()
	require.Equal(w.t, functions.JobFinished, w.job(job.ID).State)
	return job
}

func (w *world) decisions(job uuid.UUID) (list []submit.RuleDecision) {
	w.t.Helper()
	c, err := w.GetChain(w.t.Context(), w.project, job)
	require.NoError(w.t, err)
	for _, d := range c.Decisions {
		if d.JobID == job {
			list = append(list, d)
		}
	}
	return list
}

// TestAPlannerRefinesUntilItConverges: every round is a job that the planner asked for, and it says itself when the chain is over.
func TestAPlannerRefinesUntilItConverges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushRefine()
	w.rule("refine", refining(fewRounds))
	root := w.found()
	for range 10 {
		w.agent(bowl).do(20)
		w.settleAll()
	}
	chain, err := w.GetChain(ctx, w.project, root.ID)
	require.NoError(t, err)
	require.Len(t, chain.Jobs, 4, "half of 1, 0.25 and 0.0625")
	for i, d := range chain.Decisions {
		want := "planned"
		if i == 3 {
			want = "stopped"
		}
		require.Equal(t, want, d.Outcome, d.Detail)
		require.Equal(t, map[string]string{"metrics.shards.failed": "0"}, d.Seen)
		require.Len(t, d.InputDigest, 64)
		require.Positive(t, d.Fuel)
	}
	require.Contains(t, chain.Decisions[3].Detail, "converged")
	require.Len(t, w.events(root.ID, base.EventPlanned), 1)

	// Repeating the step, also several times at once, asks nothing and makes nothing.
	runs := w.count("select sum(times)::bigint from module_runs where module = 'refine'")
	var all sync.WaitGroup
	for _, j := range chain.Jobs {
		all.Go(func() {
			if err := w.FollowUp(context.Background(), stepargs.FollowUpArgs{Project: w.project, Job: j.ID}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.NoError(t, w.FollowUpAgain(ctx, w.by, w.project, root.ID))
	w.settleAll()
	require.Len(t, w.family(root.ID), 4)
	require.Equal(t, runs, w.count("select sum(times)::bigint from module_runs where module = 'refine'"))
	require.Empty(t, w.events(root.ID, base.EventSkipped))

	// A dry run changes nothing either, and takes what follows already not to be there.
	trials, err := w.TryRules(ctx, w.project, root.ID, nil)
	require.NoError(t, err)
	require.Len(t, trials, 1)
	require.Equal(t, "planned", trials[0].Outcome, trials[0].Detail)
	require.Len(t, trials[0].Jobs, 1)
	require.Equal(t, int64(9), trials[0].Jobs[0].Shards)
	require.Len(t, w.family(root.ID), 4)
}

// TestAPlannerMayBeCutOffAnywhere: the step is cut off at each of its statements, and what comes out is what comes out of a quiet run.
func TestAPlannerMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushRefine()
	root := w.found()
	w.rule("refine", refining(fewRounds))
	args := stepargs.FollowUpArgs{Project: w.project, Job: root.ID}
	cuts := w.cutOff(root.ID, func() error { return w.FollowUp(t.Context(), args) })
	require.Greater(t, cuts, 20)
	require.NoError(t, w.FollowUp(t.Context(), args))
	require.Len(t, w.family(root.ID), 2)
	require.Len(t, w.events(root.ID, base.EventPlanned), 1)
	require.Len(t, w.events(root.ID, base.EventFollowUp), 1)
	require.Len(t, w.decisions(root.ID), 1)
}

// plant stores a module that no push would take: one that ends with an exit code, or traps.
func (w *world) plant(name string, module string) {
	w.t.Helper()
	object, err := w.PutObject(w.t.Context(), w.project, "", strings.NewReader(module))
	require.NoError(w.t, err)
	w.inProject("insert into modules (id, name, kind, version, digest, size) values ($1, $2, 'planner', 1, $3, $4)", uuid.New(), name, object.Digest, object.Size)
}

// exiting is a module that ends with a code below 128.
func exiting(code byte) string {
	return "\x00asm\x01\x00\x00\x00\x01\x08\x02\x60\x00\x00\x60\x01\x7f\x00" +
		"\x02\x24\x01\x16wasi_snapshot_preview1\x09proc_exit\x00\x01" + "\x03\x02\x01\x00\x05\x03\x01\x00\x01" +
		"\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x01" + "\x0a\x09\x01\x07\x00\x41" + string([]byte{code | 0x80, 0}) + "\x10\x00\x0b"
}

// TestAPlannerInTrouble leaves the job as it is and says what to do; one that asks for another try is tried again some times.
func TestAPlannerInTrouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.plant("traps", bareModule(""))
	w.plant("waits", exiting(75))
	root := w.found()
	for _, name := range []string{"traps", "waits", "missing"} {
		w.rule(name, refining(`{}`), func(r *planner.Rule) { r.Then.Planner = name })
	}
	args := stepargs.FollowUpArgs{Project: w.project, Job: root.ID}
	for try := 1; try < planner.MaxPlannerTries; try++ {
		require.ErrorContains(t, w.FollowUp(ctx, args), "rule waits", "try %d", try)
	}
	require.Len(t, w.events(root.ID, base.EventPlannerFailed), 1, "of the one that traps")
	require.NoError(t, w.FollowUp(ctx, args), "it has asked often enough")
	require.NoError(t, w.FollowUp(ctx, args))
	failed := w.events(root.ID, base.EventPlannerFailed)
	require.Len(t, failed, 2)
	for _, e := range failed {
		require.Contains(t, string(e.Data), "ostraka job follow-up "+root.ID.String())
		require.Contains(t, string(e.Data), "module_run")
	}
	skipped := w.events(root.ID, base.EventSkipped)
	require.Len(t, skipped, 1)
	require.Contains(t, string(skipped[0].Data), "missing")
	outcomes := map[string]string{}
	for _, d := range w.decisions(root.ID) {
		outcomes[d.Rule] = d.Outcome
	}
	require.Equal(t, map[string]string{"traps": "failed", "waits": "failed", "missing": "skipped"}, outcomes)
	require.Equal(t, functions.JobFinished, w.job(root.ID).State)
	require.Len(t, w.family(root.ID), 1)

	// A mended version is asked when a person says so.
	w.sql("update " + w.schema() + ".modules set name = 'broken' where name = 'traps'")
	w.pushRefine()
	w.sql("update " + w.schema() + ".modules set name = 'traps' where name = 'refine'")
	require.NoError(t, w.FollowUp(ctx, args))
	require.Len(t, w.family(root.ID), 1, "nobody has said so")
	require.NoError(t, w.FollowUpAgain(ctx, w.by, w.project, root.ID))
	require.ErrorContains(t, w.FollowUp(ctx, args), "rule waits", "which holds up nobody else")
	require.Len(t, w.family(root.ID), 2)
}

// TestLimitsOfPlanners at each limit and one past it.
func TestLimitsOfPlanners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushRefine()
	root := w.found()
	try := func(change ...func(*planner.Rule)) submit.RuleTrial {
		spec := planner.Rule{Name: "limits", Enabled: true}
		for _, c := range append([]func(*planner.Rule){refining(fewRounds)}, change...) {
			c(&spec)
		}
		list, err := w.TryRules(ctx, w.project, root.ID, &spec)
		require.NoError(t, err)
		require.Len(t, list, 1)
		return list[0]
	}
	points := func(n int) func(*planner.Rule) { return refining(fmt.Sprintf(`{"points":%d}`, n)) }
	shards := try(points(1000))
	require.Equal(t, "planned", shards.Outcome, shards.Detail)
	require.Equal(t, int64(planner.MaxChainShards), shards.Jobs[0].Shards)
	shards = try(points(1001))
	require.Equal(t, "failed", shards.Outcome)
	require.Contains(t, shards.Detail, "1000000 are left to the chain")

	spend := func(table, column string, value int64) {
		w.sql(fmt.Sprintf("update %s.%s set %s = %d", w.schema(), table, column, value))
	}
	spend("job_metrics", "executions", planner.MaxChainExecutions-9)
	require.Equal(t, "planned", try().Outcome, "nine shards are left")
	spend("job_metrics", "executions", planner.MaxChainExecutions-8)
	require.Equal(t, "failed", try().Outcome)
	spend("job_metrics", "executions", planner.MaxChainExecutions)
	require.Equal(t, string(planner.SkipBudget), try().Reason)
	spend("job_metrics", "executions", 0)

	w.inProject("insert into rule_decisions (job_id, rule_id, rule, root_job, outcome) values ($1, gen_random_uuid(), 'r', $1, 'failed')", root.ID)
	spend("rule_decisions", "fuel", planner.MaxChainFuel-10_000_000)
	require.Equal(t, "planned", try().Outcome)
	spend("rule_decisions", "fuel", planner.MaxChainFuel-1)
	require.Contains(t, try().Detail, "fuel", "one unit is left")
	require.Equal(t, "failed", try().Outcome)
	spend("rule_decisions", "fuel", planner.MaxChainFuel)
	require.Equal(t, string(planner.SkipBudget), try().Reason)
	w.inProject("update rule_decisions set root_job = gen_random_uuid(), fuel = $1", int64(planner.MaxDayFuel))
	require.Contains(t, try().Detail, "today")
	w.inProject("update rule_decisions set decided_at = decided_at - interval '1 day'")
	require.Equal(t, "planned", try().Outcome, "another day")

	w.sql(fmt.Sprintf("update %s.jobs set depth = %d", w.schema(), planner.HardPlannerDepth-1))
	deep := func(r *planner.Rule) { r.MaxDepth = planner.HardPlannerDepth }
	require.Equal(t, "planned", try(deep).Outcome)
	w.sql(fmt.Sprintf("update %s.jobs set depth = %d", w.schema(), planner.HardPlannerDepth))
	require.Equal(t, string(planner.SkipDepthLimit), try(deep).Reason)
	for field, past := range map[string]func(*planner.Rule){
		"max_depth": func(r *planner.Rule) { r.MaxDepth = planner.HardPlannerDepth + 1 },
		"max_jobs":  func(r *planner.Rule) { r.MaxJobs = planner.HardPlannerJobs + 1 },
		"partition": func(r *planner.Rule) { r.Then.Partition = "{}" },
		"planner":   func(r *planner.Rule) { r.Then.Planner = "refine@0" },
		"params":    func(r *planner.Rule) { r.MaxDepth, r.MaxJobs, r.Then.Planner, r.Then.Partition = 1, 1, "", "{}" },
	} {
		spec := planner.Rule{Name: "past", Enabled: true}
		refining(`{}`)(&spec)
		past(&spec)
		_, err := w.TryRules(ctx, w.project, root.ID, &spec)
		requireCode(t, err, "bad_rule")
		require.ErrorContains(t, err, field)
	}
	require.Len(t, w.family(root.ID), 1)
}
