package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/guardian"
)

// told is a workflow that folds the results of its job a second time, and tells of both answers by a module.
const told = `
name = "told"
[functions]
first = "functions/first"
[modules.mine]
kind = "aggregator"
file = "mine.wasm"
` + firstStep + `[[steps]]
name = "how_many"
type = "fold"
of = "one"
needs = ["one"]
aggregator = "mine"
params = { op = "count" }
[[steps]]
name = "document"
type = "report"
needs = ["how_many"]
module = "concat"
[[steps]]
name = "right"
type = "check"
needs = ["document"]
when = "steps.how_many.answer == 5 && steps.one.answer.n == 5"
`

func (w *world) pushMine(custom byte) functions.Module {
	w.t.Helper()
	m, _, err := w.PushModule(w.t.Context(), w.by, w.project, "mine", "aggregator", builtinBytes(w.t, custom))
	require.NoError(w.t, err)
	return m
}

func (w *world) toldPush(version int, change ...string) workflow.Push {
	return workflow.Push{
		Text: strings.NewReplacer(change...).Replace(told), Functions: pinned("first"),
		Modules: []workflow.ModulePin{{Name: "mine", Version: version}},
	}
}

func (w *world) pushTold(change ...string) workflow.Workflow {
	w.t.Helper()
	w.pushFunction("first", "")
	v, _, err := w.PushWorkflow(w.t.Context(), w.by, w.project, w.toldPush(w.pushMine(1).Version, change...))
	require.NoError(w.t, err)
	return v
}

// runTold runs the job of a told workflow.
func (w *world) runTold(change ...string) workflow.RunDetail {
	w.t.Helper()
	w.pushTold(change...)
	r := w.startWorkflow("told")
	w.settleAll()
	require.Equal(w.t, 5, w.agent(honest).do(5))
	return r
}

// foldBegun runs a told workflow until its fold is under way.
func (w *world) foldBegun() workflow.RunDetail {
	w.t.Helper()
	r := w.runTold()
	w.drainUntil(func() bool { return w.workflowRun(r.ID).Steps[1].State == graph.StepRunning })
	return r
}

func TestAFoldAndAReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.pushTold()
	first := w.pushMine(1)
	require.Len(t, v.Modules, 3, "%v", v.Modules)
	require.Equal(t, []string{"concat", "mine", "sum"}, []string{v.Modules[0].Name, v.Modules[1].Name, v.Modules[2].Name})
	require.Equal(t, first.Digest, v.Modules[1].Digest)
	r := w.startWorkflow("told")
	w.settleAll()
	second := w.pushMine(2)
	require.NotEqual(t, first.Digest, second.Digest)
	require.Equal(t, 5, w.agent(honest).do(5))
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one finished", "how_many finished", "document finished", "right finished"}, states(r), r.Error)
	require.Equal(t, graph.RunFinished, r.State)

	job := *r.Steps[0].JobID
	require.Equal(t, job, *r.Steps[1].JobID)
	require.Equal(t, 2, *r.Steps[1].Fold)
	list := w.aggregations(job)
	require.Len(t, list, 2)
	require.True(t, list[0].Current, "the answer of the job is as it was")
	require.Equal(t, first.Digest, list[1].Aggregator.Digest, "the run keeps to the module that it was pushed with")
	require.JSONEq(t, `{"n":5,"sum":100}`, string(w.job(job).Aggregate.Value))
	require.Equal(t, int64(5), w.job(job).Attempts, "no shard has run again")
	require.Len(t, w.decided(guardian.JobAggregate), 1)
	require.Equal(t, "document.json", r.Steps[2].Document.Name)
	var records []struct {
		Workflow string
		Run      uuid.UUID
		Steps    map[string]struct {
			Type    string
			Answer  json.RawMessage
			Metrics map[string]any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(w.document(r.Steps[2].Document)), &records))
	require.Len(t, records, 1)
	require.Equal(t, r.ID, records[0].Run)
	require.Equal(t, "5", string(records[0].Steps["how_many"].Answer))
	require.Equal(t, "map", records[0].Steps["one"].Type)
	require.NotEmpty(t, records[0].Steps["one"].Metrics)
	require.Empty(t, w.steps())

	// What is pushed now pins the newer module, and makes a version although the definition is the same.
	newer, created, err := w.PushWorkflow(t.Context(), w.by, w.project, w.toldPush(second.Version))
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, second.Digest, newer.Modules[1].Digest)
	_, created, err = w.PushWorkflow(t.Context(), w.by, w.project, w.toldPush(second.Version))
	require.NoError(t, err)
	require.False(t, created)

	// The document is kept as long as its run.
	w.ageObjects()
	w.collect()
	w.document(r.Steps[2].Document)
	require.NoError(t, w.DeleteWorkflowRun(t.Context(), w.by, w.project, r.ID))
	w.ageObjects()
	w.collect()
	_, _, err = w.OpenObject(t.Context(), w.project, r.Steps[2].Document.Digest)
	requireCode(t, err, "not_found")
}

func TestTheStepsOfAToldRunMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("first", "")
	push := w.toldPush(w.pushMine(1).Version)
	w.cutOff(uuid.Nil, func() error {
		_, _, err := w.PushWorkflow(t.Context(), w.by, w.project, push)
		return err
	})
	a := w.agent(honest)
	cuts := map[string]int{}
	careful := func(s waiting) {
		cuts[s.Kind] = max(cuts[s.Kind], w.cutOff(uuid.Nil, func() error { return w.step(s) }))
		require.NoError(t, w.step(s), "and once more")
	}
	r := w.startWorkflow("told")
	w.drain(careful)
	a.do(5)
	w.drain(careful)
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.NotEmpty(t, w.document(r.Steps[2].Document))
	require.Equal(t, int64(1), w.count("select count(*) from jobs"))
	require.Equal(t, int64(2), w.count("select count(*) from aggregations"), "the fold was begun once")
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'workflow.end'"))
	require.Greater(t, cuts[stepargs.AdvanceRunArgs{}.Kind()], 20, "%v", cuts)
}

func TestAFoldIsCancelledWithItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	r := w.foldBegun()
	_, err := w.PauseWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	_, err = w.CancelWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	require.NoError(t, w.Advance(ctx, stepargs.AdvanceRunArgs{Project: w.project, Run: r.ID}))
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one finished", "how_many cancelled", "document cancelled", "right cancelled"}, states(r))
	list := w.aggregations(*r.Steps[0].JobID)
	require.Equal(t, functions.AggregationFailed, list[1].State)
	require.Contains(t, list[1].Error, "cancelled by workflow:told")
	require.Equal(t, functions.JobFinished, w.job(*r.Steps[0].JobID).State)
	require.Empty(t, w.steps())
}

func TestAFoldWhoseJobIsDeletedFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.foldBegun()
	_, err := w.DeleteJob(t.Context(), w.by, w.project, *w.workflowRun(r.ID).Steps[0].JobID)
	require.NoError(t, err)
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one finished", "how_many failed", "document skipped", "right skipped"}, states(r))
	require.Equal(t, "step how_many: its job was deleted", r.Error)
}

func TestAModuleThatFailsFailsItsStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.foldBegun()
	w.spoil(*w.workflowRun(r.ID).Steps[1].JobID)
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one finished", "how_many failed", "document skipped", "right skipped"}, states(r))
	require.Contains(t, r.Error, "step how_many: aggregation 2 of job "+r.Steps[0].JobID.String()+" failed: the aggregator failed: ")
	require.Empty(t, w.steps())

	for change, want := range map[[2]string]string{
		{`params = { op = "count" }`, `params = { op = "x" }`}:                     "step how_many: bad_params: ",
		{`module = "concat"`, `module = "concat"` + "\nparams = { nonsense = 1 }"}: "step document: the module of the report failed: ",
	} {
		w := newWorld(t)
		r := w.runTold(change[0], change[1])
		w.settleAll()
		r = w.workflowRun(r.ID)
		require.Equal(t, graph.RunFailed, r.State, "%v", change)
		require.Contains(t, r.Error, want)
	}
}
