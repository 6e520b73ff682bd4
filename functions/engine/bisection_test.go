package engine_test

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// bothWays counts the integers of a range by two functions, in shards of two sizes, and wants the counts to be the same.
const bothWays = `
name = "both-ways"
[functions]
first = "functions/first"
second = "functions/second"
[[steps]]
name = "one"
type = "map"
function = "first"
range = { from = "2^64", length = 400, size = 10 }
policy = { quorum = 1 }
[[steps]]
name = "two"
type = "map"
function = "second"
needs = ["one"]
range = { from = "2^64", length = 400, size = 25 }
policy = { quorum = 1 }
[[steps]]
name = "same"
type = "check"
needs = ["two"]
identity = { left = "one.n", right = "two.n" }
[[steps]]
name = "whole"
type = "check"
needs = ["same"]
when = "steps.one.answer.n == 400"
`

// firstShards is how many shards the first step has.
const firstShards = 40

// counting counts the integers of a shard, but for errors by where its input begins, beyond 2^64.
func counting(errors map[int64]int64) func(input string) functions.Result {
	return func(input string) functions.Result {
		var bounds struct{ From, To string }
		_ = json.Unmarshal([]byte(input), &bounds)
		from, to := beyond(bounds.From), beyond(bounds.To)
		return ok(fmt.Sprintf(`{"n":%d}`, to-from+errors[from]))
	}
}

// startBothWays starts it, and has its steps carried out by agents of their own.
func (w *world) startBothWays(text string) workflow.RunDetail { return w.startWith("", text) }

// startWith gives the first function a manifest.
func (w *world) startWith(manifest, text string) workflow.RunDetail {
	w.t.Helper()
	w.pushFunction("first", manifest)
	w.pushFunction("second", "")
	_, _, err := w.PushWorkflow(w.t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: pinned("first", "second")})
	require.NoError(w.t, err)
	r := w.startWorkflow("both-ways")
	w.settleAll()
	return r
}

// planted carries out the first two steps with errors that are accepted, by two agents.
func (w *world) planted(one, two map[int64]int64) (r workflow.RunDetail, first, second *agent) {
	w.t.Helper()
	r = w.startBothWays(bothWays)
	first = w.agent(counting(one))
	require.Equal(w.t, firstShards, first.do(firstShards))
	w.settleAll()
	second = w.agent(counting(two))
	require.Equal(w.t, 16, second.do(16))
	w.settleAll()
	return r, first, second
}

// carryOn has honest agents do what there is to do until the run has ended.
func (w *world) carryOn(r workflow.RunDetail, settle func()) workflow.RunDetail {
	w.t.Helper()
	honest := []*agent{w.agent(counting(nil)), w.agent(counting(nil))}
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(w.t, i, 200)
		settle()
		for _, a := range honest {
			a.do(firstShards)
			settle()
		}
	}
	settle()
	return w.workflowRun(r.ID)
}

// most is how many jobs it may take to find a wrong shard.
var most = int64(bits.Len(firstShards-1) + 2)

func TestAWrongShardThatPassedIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, crooked, _ := w.planted(map[int64]int64{170: 3}, nil)
	require.Equal(t, []string{"one finished", "two finished", "same running", "whole waiting"}, states(w.workflowRun(r.ID)))
	b := w.workflowRun(r.ID).Steps[2].Bisection
	require.Equal(t, "one", b.Step)
	require.Equal(t, int64(400), beyond(b.To)-beyond(b.From))
	r = w.carryOn(r, w.settleAll)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	found := r.Steps[2].Bisection.Found
	require.Len(t, found, 1)
	require.Equal(t, "one", found[0].Step)
	require.Equal(t, r.Steps[0].JobID, found[0].JobID)
	require.Equal(t, int64(17), found[0].Shard)
	require.Equal(t, int64(170), beyond(found[0].From))
	require.Equal(t, int64(180), beyond(found[0].To))
	require.JSONEq(t, `{"n":13}`, string(found[0].Was))
	require.JSONEq(t, `{"n":10}`, string(found[0].Instead))
	require.Len(t, found[0].Agents, 1)
	require.Equal(t, crooked.id, found[0].Agents[0].Agent)
	require.LessOrEqual(t, found[0].Jobs, most)
	require.Equal(t, 2+found[0].Jobs, w.count("select count(*) from jobs"))
	require.Equal(t, int64(1), w.count("select audits_failed from trust where agent_id = $1", crooked.id), "it is held against the agent as a failed audit is")
	require.Equal(t, int64(1), w.count("select count(*) from trust where agent_id = $1 and failed = 1", crooked.id))
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'workflow.wrong_shard'"))
	require.JSONEq(t, `{"n":403}`, string(w.job(*r.Steps[0].JobID).Aggregate.Value), "an answer that was given does not change")
}

func TestSeveralWrongShardsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	errors := map[int64]int64{0: 1, 170: 3, 180: -2, 390: 5}
	r, crooked, _ := w.planted(errors, nil)
	r = w.carryOn(r, w.settleAll)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	found := r.Steps[2].Bisection.Found
	require.Len(t, found, len(errors))
	for _, f := range found {
		require.NotZero(t, errors[beyond(f.From)], "shard %d", f.Shard)
		require.LessOrEqual(t, f.Jobs, most)
	}
	require.Equal(t, int64(1), w.count("select count(*) from trust where agent_id = $1 and caught_at is not null", crooked.id))
}

// TestWhatAnIdentityCannotSee plants errors that cancel out: the identity holds. With a third one beside them that one is found, and the two
// are not.
func TestWhatAnIdentityCannotSee(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, _, _ := w.planted(map[int64]int64{40: 2, 50: -2}, nil)
	r = w.carryOn(r, w.settleAll)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Nil(t, r.Steps[2].Bisection)
	require.Equal(t, int64(2), w.count("select count(*) from jobs"))

	other := newWorld(t)
	r, _, _ = other.planted(map[int64]int64{40: 2, 50: -2, 300: 1}, nil)
	r = other.carryOn(r, other.settleAll)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Len(t, r.Steps[2].Bisection.Found, 1)
	require.Equal(t, int64(30), r.Steps[2].Bisection.Found[0].Shard)
}

func TestAWrongShardOfTheOtherSideIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, _, crooked := w.planted(nil, map[int64]int64{75: 4})
	r = w.carryOn(r, w.settleAll)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	found := r.Steps[2].Bisection.Found
	require.Len(t, found, 1)
	require.Equal(t, "two", found[0].Step)
	require.Equal(t, int64(3), found[0].Shard)
	require.Equal(t, crooked.id, found[0].Agents[0].Agent)
}

// TestFunctionsThatDiffer: the first function counts one too many wherever a range begins at 170, whoever executes it.
func TestFunctionsThatDiffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.startBothWays(bothWays)
	hands := []*agent{w.agent(nil), w.agent(nil), w.agent(nil)} // who gave the result in doubt is no witness, and two others are wanted
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(t, i, 100)
		for _, a := range hands {
			if lease := a.lease(firstShards); lease != nil {
				if a.answer = counting(nil); w.job(lease.Job).Function == "first" {
					a.answer = counting(map[int64]int64{170: 1})
				}
				a.report(lease)
			}
			w.settleAll()
		}
	}
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunFailed, r.State)
	require.Contains(t, r.Error, "step same: over [18446744073709551786, 18446744073709551796), shard 17 of job")
	require.Contains(t, r.Error, "no agent is at fault, the functions differ")
	require.Zero(t, w.count("select coalesce(sum(audits_failed + failed), 0) from trust"))
}

func TestABisectionMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, crooked, _ := w.planted(map[int64]int64{170: 3}, nil)
	cuts := map[string]int{}
	r = w.carryOn(r, func() {
		w.drain(func(s waiting) {
			cuts[s.Kind] = max(cuts[s.Kind], w.cutOff(uuid.Nil, func() error { return w.step(s) }))
			require.NoError(t, w.step(s), "and once more")
		})
	})
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	found := r.Steps[2].Bisection.Found
	require.Len(t, found, 1)
	require.Equal(t, 2+found[0].Jobs, w.count("select count(*) from jobs"), "each is made once")
	require.Equal(t, int64(1), w.count("select audits_failed from trust where agent_id = $1", crooked.id), "it is held against the agent once")
	require.Greater(t, cuts[stepargs.AdvanceRunArgs{}.Kind()], 15, "%v", cuts)
}

func TestABisectionIsPausedAndCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	r, _, _ := w.planted(map[int64]int64{170: 3}, nil)
	_, err := w.PauseWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	a := w.agent(counting(nil))
	for range 5 {
		a.do(firstShards)
		w.settleAll()
	}
	require.Equal(t, int64(3), w.count("select count(*) from jobs"), "no further one begins")
	_, err = w.ResumeWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	w.settleAll()
	require.Equal(t, int64(4), w.count("select count(*) from jobs"))
	_, err = w.CancelWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	w.settleAll()
	run := w.workflowRun(r.ID)
	require.Equal(t, []string{"one finished", "two finished", "same cancelled", "whole cancelled"}, states(run))
	require.Zero(t, w.count("select count(*) from jobs where state in ('splitting', 'running', 'aggregating')"))
	require.NoError(t, w.DeleteWorkflowRun(ctx, w.by, w.project, r.ID))
	require.Zero(t, w.count("select count(*) from workflow_bisections"))
}

// TestHowManyWrongShardsAreFound plants one more than a check looks for.
func TestHowManyWrongShardsAreFound(t *testing.T) {
	t.Parallel()
	for n, end := range map[int]graph.RunState{graph.MaxWrongShards: graph.RunFinished, graph.MaxWrongShards + 1: graph.RunFailed} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			errors := map[int64]int64{}
			for i := range n {
				errors[int64(20*i)] = 1
			}
			r, _, _ := w.planted(errors, nil)
			r = w.carryOn(r, w.settleAll)
			require.Equal(t, end, r.State, r.Error)
			require.Len(t, r.Steps[2].Bisection.Found, graph.MaxWrongShards)
			if end == graph.RunFailed {
				require.Contains(t, r.Error, "after 16 wrong shards were found")
			}
		})
	}
}

// tolerantly is bothWays with a first function whose answers are compared by a validator.
const tolerantly = "[verification.validator]\nmodule = \"tolerant\"\nparams = { ignore = [\"seconds\"] }\n"

// timed is a function that no two executions of give the same bytes: there is the time in them, and a count.
func timed(errors map[int64]int64) func(input string) functions.Result {
	return func(input string) functions.Result {
		n := counting(errors)(input).Output
		return ok(fmt.Sprintf(`%s,"seconds":%d}`, n[:len(n)-1], time.Now().UnixMicro()))
	}
}

// byFunction has agents work until the run has ended: what each of them says of the first function is its own.
func (w *world) byFunction(r workflow.RunDetail, second func(string) functions.Result, hands map[*agent]func(string) functions.Result) workflow.RunDetail {
	w.t.Helper()
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(w.t, i, 60)
		for a, first := range hands {
			if lease := a.lease(firstShards); lease != nil {
				if a.answer = second; w.job(lease.Job).Function == "first" {
					a.answer = first
				}
				a.report(lease)
			}
			w.settleAll()
		}
	}
	return w.workflowRun(r.ID)
}

// TestWhatAValidatorTakesForOneAnswerChargesNobody: the functions differ at one shard, and whoever executes the first one gives other bytes
// than whoever else does.
func TestWhatAValidatorTakesForOneAnswerChargesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.startWith(tolerantly, bothWays)
	differ := map[int64]int64{170: 1}
	r = w.byFunction(r, counting(nil), map[*agent]func(string) functions.Result{
		w.agent(nil): timed(differ), w.agent(nil): timed(differ), w.agent(nil): timed(differ),
	})
	require.Equal(t, graph.RunFailed, r.State)
	require.Contains(t, r.Error, "no agent is at fault, the functions differ")
	require.Empty(t, r.Steps[2].Bisection.Found)
	require.Zero(t, w.count("select coalesce(sum(audits_failed + failed), 0) from trust"))
}

// TestAWrongShardBeyondTheToleranceIsFound: what the validator keeps apart is wrong.
func TestAWrongShardBeyondTheToleranceIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.startWith(tolerantly, bothWays)
	crooked := w.agent(timed(map[int64]int64{170: 3}))
	require.Equal(t, firstShards, crooked.do(firstShards))
	w.settleAll()
	r = w.byFunction(r, counting(nil), map[*agent]func(string) functions.Result{w.agent(nil): timed(nil), w.agent(nil): timed(nil)})
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Len(t, r.Steps[2].Bisection.Found, 1)
	require.Equal(t, int64(1), w.count("select audits_failed from trust where agent_id = $1", crooked.id))
	require.Zero(t, w.count("select coalesce(sum(audits_failed + failed), 0) from trust where agent_id <> $1", crooked.id))
}

// TestAnotherPlatformContradictsNobody: the first function gives something else on each of two platforms.
func TestAnotherPlatformContradictsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.startBothWays(bothWays)
	first := w.agent(counting(map[int64]int64{170: 3})).on("arm64")
	require.Equal(t, firstShards, first.do(firstShards))
	w.settleAll()
	r = w.byFunction(r, counting(nil), map[*agent]func(string) functions.Result{
		w.agent(nil).on("x86_64"): counting(nil), w.agent(nil).on("x86_64"): counting(nil),
	})
	require.Equal(t, graph.RunFailed, r.State)
	require.Contains(t, r.Error, "it could not be told which is wrong: it was given on the platform linux/arm64")
	require.Contains(t, r.Error, "nobody is charged")
	require.Empty(t, r.Steps[2].Bisection.Found)
	require.Zero(t, w.count("select coalesce(sum(audits_failed + failed), 0) from trust"))
}

// TestWhoGaveAResultIsNoWitness: the agent that was wrong is the first to ask for the shard that is executed once more, and so is another one
// of its owner.
func TestWhoGaveAResultIsNoWitness(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lie := counting(map[int64]int64{170: 3})
	r := w.startBothWays(bothWays)
	crooked, sibling := w.sibling(lie), w.sibling(lie)
	require.Equal(t, firstShards, crooked.do(firstShards))
	w.settleAll()
	hands := []*agent{w.agent(counting(nil)), w.agent(counting(nil))}
	again := func() int64 { return w.count("select count(*) from jobs where rerun_of is not null") }
	for i := 0; again() == 0; i++ {
		require.Less(t, i, 60)
		for _, a := range hands {
			a.do(firstShards)
			w.settleAll()
		}
	}
	require.Nil(t, crooked.lease(1))
	require.Nil(t, sibling.lease(1))
	for i := 0; !w.workflowRun(r.ID).State.Ended(); i++ {
		require.Less(t, i, 60)
		for _, a := range hands {
			a.do(firstShards)
			w.settleAll()
		}
	}
	require.Equal(t, graph.RunFinished, w.workflowRun(r.ID).State)
	require.Equal(t, int64(1), w.count("select audits_failed from trust where agent_id = $1", crooked.id))
}
