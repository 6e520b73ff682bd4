package engine_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
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
[[steps]]
name = "one"
type = "map"
function = "first"
range = { from = 0, length = 50, size = 10 }
policy = { quorum = 1 }
[[steps]]
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
		Text: strings.NewReplacer(change...).Replace(told), Functions: []workflow.Pin{{Name: "first", Function: "first", Version: 1}},
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

func (w *world) startWorkflow(name string) workflow.RunDetail {
	w.t.Helper()
	r, _, err := w.StartWorkflow(w.t.Context(), w.by, w.project, workflow.Start{Workflow: name}, functions.Idempotency{})
	require.NoError(w.t, err)
	return r
}

// document reads what a report came to.
func (w *world) document(d *workflow.ReportDocument) string {
	w.t.Helper()
	require.NotNil(w.t, d)
	r, _, err := w.OpenObject(w.t.Context(), w.project, d.Digest)
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, r.Close()) }()
	text, err := io.ReadAll(r)
	require.NoError(w.t, err)
	require.Len(w.t, text, int(d.Bytes))
	return string(text)
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
	w.collectAll()
	w.document(r.Steps[2].Document)
	require.NoError(t, w.DeleteWorkflowRun(t.Context(), w.by, w.project, r.ID))
	w.collectAll()
	_, _, err = w.OpenObject(t.Context(), w.project, r.Steps[2].Document.Digest)
	requireCode(t, err, "not_found")
}

// collectAll has the collector look at all objects, a day later.
func (w *world) collectAll() {
	w.t.Helper()
	w.sql("update ostraka.objects set look_at = now() - interval '1 hour'")
	require.NoError(w.t, w.Collect(w.t.Context(), functions.CollectArgs{}))
}

// TestModulesOfARunArePinned has the modules of a job's function pinned as well: its aggregator is not named by any step.
func TestModulesOfARunArePinned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.pushMine(1)
	w.pushFunction("first", "[aggregator]\nmodule = \"mine\"\n[aggregator.params]\nop = \"count\"\n")
	text := told[:strings.Index(told, "[modules.mine]")] + told[strings.Index(told, "[[steps]]"):strings.Index(told, "[[steps]]\nname = \"how_many\"")]
	v, _, err := w.PushWorkflow(t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: []workflow.Pin{{Name: "first", Function: "first", Version: 1}}})
	require.NoError(t, err)
	require.Equal(t, functions.ModulePins{{Name: "mine", Kind: "aggregator", Version: 1, Digest: first.Digest}}, v.Modules)
	w.pushMine(2)
	r := w.startWorkflow("told")
	w.settleAll()
	require.Equal(t, first.Digest, w.job(*w.workflowRun(r.ID).Steps[0].JobID).Aggregator.Digest)

	// A module that is deprecated is not used, pinned or not.
	_, err = w.DeprecateModule(t.Context(), w.by, w.project, "mine", true, "wrong")
	require.NoError(t, err)
	r = w.startWorkflow("told")
	w.settleAll()
	require.Contains(t, w.workflowRun(r.ID).Error, "module_deprecated")
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
	require.Greater(t, cuts[functions.AdvanceRunArgs{}.Kind()], 20, "%v", cuts)
}

func TestAFoldIsCancelledWithItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushTold()
	r := w.startWorkflow("told")
	w.settleAll()
	require.Equal(t, 5, w.agent(honest).do(5))
	w.drainUntil(func() bool { return w.workflowRun(r.ID).Steps[1].State == graph.StepRunning })
	_, err := w.PauseWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	_, err = w.CancelWorkflowRun(ctx, w.by, w.project, r.ID)
	require.NoError(t, err)
	require.NoError(t, w.Advance(ctx, functions.AdvanceRunArgs{Project: w.project, Run: r.ID}))
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
	w.pushTold()
	r := w.startWorkflow("told")
	w.settleAll()
	require.Equal(t, 5, w.agent(honest).do(5))
	w.drainUntil(func() bool { return w.workflowRun(r.ID).Steps[1].State == graph.StepRunning })
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
	w.pushTold()
	r := w.startWorkflow("told")
	w.settleAll()
	require.Equal(t, 5, w.agent(honest).do(5))
	w.drainUntil(func() bool { return w.workflowRun(r.ID).Steps[1].State == graph.StepRunning })
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
		w.pushTold(change[0], change[1])
		r := w.startWorkflow("told")
		w.settleAll()
		require.Equal(t, 5, w.agent(honest).do(5))
		w.settleAll()
		r = w.workflowRun(r.ID)
		require.Equal(t, graph.RunFailed, r.State, "%v", change)
		require.Contains(t, r.Error, want)
	}
}

// TestAModuleThatAlwaysAsksForAnotherTryFailsItsReport shows the reason from the first try on, and gives up at the last one.
func TestAModuleThatAlwaysAsksForAnotherTryFailsItsReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTold()
	code, err := hex.DecodeString(asksAgain)
	require.NoError(t, err)
	object, err := w.PutObject(t.Context(), w.project, "", bytes.NewReader(code))
	require.NoError(t, err)
	w.inProject("update workflow_versions set modules = jsonb_set(modules, '{0,digest}', to_jsonb($1::text))", object.Digest)
	r := w.startWorkflow("told")
	w.settleAll()
	require.Equal(t, 5, w.agent(honest).do(5))
	w.drainUntil(func() bool { return w.workflowRun(r.ID).Steps[1].State == graph.StepRunning })
	w.drain(func(s waiting) {
		if s.Kind != (functions.AdvanceRunArgs{}).Kind() {
			w.once(s)
		}
	})
	args := functions.AdvanceRunArgs{Project: w.project, Run: r.ID}
	for range workflow.MaxReportTries - 1 {
		require.ErrorContains(t, w.Advance(t.Context(), args), "making the report document")
		step := w.workflowRun(r.ID).Steps[2]
		require.Equal(t, graph.StepWaiting, step.State)
		require.Contains(t, step.Error, "it is tried again: ")
	}
	require.NoError(t, w.Advance(t.Context(), args))
	require.Contains(t, w.workflowRun(r.ID).Error, "step document: the module of the report failed: it has asked for another try 5 times in a row")
}

// drainUntil runs the steps of the queue one after the other until something holds.
func (w *world) drainUntil(holds func() bool) {
	w.t.Helper()
	for range 200 {
		if holds() {
			return
		}
		list := w.steps()
		require.NotEmpty(w.t, list, "nothing is left to do")
		require.NoError(w.t, w.step(list[0]))
		w.done(list[0])
	}
	require.Fail(w.t, "it never holds")
}

// written is a workflow whose report is made by a function.
const written = `
name = "written"
[functions]
first = "functions/first"
[[steps]]
name = "one"
type = "map"
function = "first"
range = { from = 0, length = 50, size = 10 }
policy = { quorum = 1 }
[[steps]]
name = "page"
type = "report"
needs = ["one"]
function = "first"
policy = { quorum = 1 }
`

func (w *world) runWritten(text string, answer func(input string) functions.Result) workflow.RunDetail {
	w.t.Helper()
	w.pushFunction("first", "")
	_, _, err := w.PushWorkflow(w.t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: []workflow.Pin{{Name: "first", Function: "first", Version: 1}}})
	require.NoError(w.t, err)
	r := w.startWorkflow("written")
	w.settleAll()
	require.Equal(w.t, 5, w.agent(honest).do(5))
	w.settleAll()
	require.Equal(w.t, 1, w.agent(answer).do(1))
	w.settleAll()
	return w.workflowRun(r.ID)
}

func TestAFunctionMakesAReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	read := ""
	r := w.runWritten(written, func(input string) functions.Result {
		read = input
		return ok(`"# Five\n"`)
	})
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.JSONEq(t, `{"n":5,"sum":100}`, pathOf(t, read, "steps", "one", "answer"))
	require.Equal(t, "page.txt", r.Steps[1].Document.Name)
	require.Equal(t, "# Five\n", w.document(r.Steps[1].Document))
	require.NotNil(t, r.Steps[1].JobID)
	require.Equal(t, int64(1), r.Steps[1].Shards.Accepted)

	w = newWorld(t)
	r = w.runWritten(written+"file = \"page.html\"\n", func(string) functions.Result { return ok(`null`) })
	require.Equal(t, graph.RunFailed, r.State)
	require.Contains(t, r.Error, `step page: no_document: the function has left no file "page.html"`)
}

// TestHowMuchAReportReads pads the answer of a step, at the limit of a function and of an answer and one past them.
func TestHowMuchAReportReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("first", "")
	begin := func(text string) (workflow.RunDetail, uuid.UUID) {
		_, _, err := w.PushWorkflow(t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: []workflow.Pin{{Name: "first", Function: "first", Version: 1}}})
		require.NoError(t, err)
		r := w.startWorkflow("written")
		w.settleAll()
		_, err = w.PauseWorkflowRun(t.Context(), w.by, w.project, r.ID)
		require.NoError(t, err)
		require.Equal(t, 5, w.agent(honest).do(5))
		w.settleAll()
		return r, *w.workflowRun(r.ID).Steps[0].JobID
	}
	answers := func(job uuid.UUID, n int) {
		object, err := w.PutObject(t.Context(), w.project, "", strings.NewReader(`"`+strings.Repeat("x", n-2)+`"`))
		require.NoError(t, err)
		w.exec("update aggregations set value = null, object = $2 where job_id = $1", job, object.Digest)
		w.exec("update jobs set created_at = finished_at - interval '1 second' where id = $1", job) // so that no metric is longer than another time
	}
	goOn := func(r workflow.RunDetail) workflow.RunDetail {
		_, err := w.ResumeWorkflowRun(t.Context(), w.by, w.project, r.ID)
		require.NoError(t, err)
		w.settleAll()
		return w.workflowRun(r.ID)
	}
	r, job := begin(written)
	answers(job, 66<<10)
	r = goOn(r)
	require.Contains(t, r.Error, "step page: report_too_large: the report would read ")
	var around int
	_, err := fmt.Sscanf(r.Error, "step page: report_too_large: the report would read %d bytes", &around)
	require.NoError(t, err)
	around -= 66 << 10
	r, job = begin(written)
	answers(job, partition.MaxItemBytes-around)
	require.Equal(t, graph.StepRunning, goOn(r).Steps[1].State)
	_, err = w.CancelWorkflowRun(t.Context(), w.by, w.project, r.ID)
	require.NoError(t, err)
	w.settleAll()
	r, job = begin(written)
	answers(job, partition.MaxItemBytes-around+1)
	require.Contains(t, goOn(r).Error, "the report would read 65537 bytes of JSON, and the limit is 65536")

	module := strings.Replace(written, "needs = [\"one\"]\nfunction = \"first\"\npolicy = { quorum = 1 }", "needs = [\"one\"]\nmodule = \"concat\"", 1)
	r, job = begin(module)
	answers(job, planner.MaxAggregateBytes)
	r = goOn(r)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Greater(t, r.Steps[1].Document.Bytes, int64(planner.MaxAggregateBytes))
	r, job = begin(module)
	answers(job, planner.MaxAggregateBytes+1)
	require.Contains(t, goOn(r).Error, "step page: answer_too_large: the answer of step one has more than 262144 bytes")
}

// pathOf is a value within a JSON document.
func pathOf(t *testing.T, text string, names ...string) string {
	t.Helper()
	raw := json.RawMessage(text)
	for _, name := range names {
		var table map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &table), "%s", raw)
		raw = table[name]
	}
	return string(raw)
}

// sampled is a workflow whose second step works on what the first one has found.
const sampled = `
name = "sampled"
[functions]
first = "functions/first"
[[steps]]
name = "one"
type = "map"
function = "first"
range = { from = 0, length = 50, size = 10 }
policy = { quorum = 1 }
aggregator = "concat"
[[steps]]
name = "each"
type = "map"
function = "first"
needs = ["one"]
items = { step = "one" }
policy = { quorum = 1 }
aggregator = "count"
[[steps]]
name = "right"
type = "check"
needs = ["each"]
when = "steps.each.answer == 5"
`

func (w *world) runSampled(text string) workflow.RunDetail {
	w.t.Helper()
	w.pushFunction("first", "")
	_, _, err := w.PushWorkflow(w.t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: []workflow.Pin{{Name: "first", Function: "first", Version: 1}}})
	require.NoError(w.t, err)
	r := w.startWorkflow("sampled")
	a := w.agent(func(input string) functions.Result {
		if strings.Contains(input, "from") {
			return honest(input)
		}
		return ok(input)
	})
	for range 2 {
		w.settleAll()
		a.do(10)
	}
	w.settleAll()
	return w.workflowRun(r.ID)
}

func TestItemsComeFromAnEarlierStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.runSampled(sampled)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Equal(t, int64(5), r.Steps[1].Shards.Total)

	w = newWorld(t)
	r = w.runSampled(strings.Replace(sampled, `{ step = "one" }`, `{ step = "one", field = "found" }`, 1))
	require.Contains(t, r.Error, `step each: bad_workflow: steps.each.items: the answer of the step one has no field "found"`)

	// Where nothing was found there is nothing to do, and an answer of null.
	w = newWorld(t)
	nothing := strings.NewReplacer(`aggregator = "concat"`, "aggregator = \"merge\"\nparams = { fields = { found = \"concat\" } }", `{ step = "one" }`, `{ step = "one", field = "found" }`, "steps.each.answer == 5", "steps.each.answer == null")
	w.pushFunction("first", "")
	_, _, err := w.PushWorkflow(t.Context(), w.by, w.project, workflow.Push{Text: nothing.Replace(sampled), Functions: []workflow.Pin{{Name: "first", Function: "first", Version: 1}}})
	require.NoError(t, err)
	run := w.startWorkflow("sampled")
	w.settleAll()
	w.agent(func(string) functions.Result { return ok(`{"found":[]}`) }).do(5)
	w.settleAll()
	r = w.workflowRun(run.ID)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Equal(t, []string{"one finished", "each finished", "right finished"}, states(r))
	require.Nil(t, r.Steps[1].JobID)
}

func TestWhatAVersionPins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTold()
	push := func(change func(p *workflow.Push)) error {
		p := w.toldPush(1)
		change(&p)
		_, _, err := w.PushWorkflow(t.Context(), w.by, w.project, p)
		return err
	}
	for want, change := range map[string]func(p *workflow.Push){
		"modules: there is no version of mine": func(p *workflow.Push) { p.Modules = nil },
		`modules: "mine" is no module`:         func(p *workflow.Push) { p.Modules = append(p.Modules, p.Modules[0]) },
		`modules: "other" is no module`:        func(p *workflow.Push) { p.Modules = []workflow.ModulePin{{Name: "other", Version: 1}} },
		`files: "x" is no file`:                func(p *workflow.Push) { p.Files = []workflow.PinnedFile{{Name: "x", Digest: strings.Repeat("0", 64)}} },
	} {
		err := push(change)
		requireCode(t, err, "bad_workflow")
		require.ErrorContains(t, err, want)
	}
	requireCode(t, push(func(p *workflow.Push) { p.Modules[0].Version = 9 }), "not_found")
	requireCode(t, push(func(p *workflow.Push) { p.Text = strings.Replace(p.Text, `module = "concat"`, `module = "missing"`, 1) }), "not_found")
	requireCode(t, push(func(p *workflow.Push) { p.Text = strings.Replace(p.Text, `kind = "aggregator"`, `kind = "planner"`, 1) }), "bad_kind")
	requireCode(t, push(func(p *workflow.Push) {
		p.Text = strings.Replace(p.Text, `module = "concat"`, `module = "tolerant"`, 1)
	}), "bad_kind")
}

func TestAFileOfTheFolderIsPinned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	text := strings.NewReplacer("[functions]", "[files]\nnumbers = \"numbers.jsonl\"\n[functions]", "{ step = \"one\" }", `{ file = "numbers" }`).Replace(sampled)
	w.pushFunction("first", "")
	object, err := w.PutObject(ctx, w.project, "", strings.NewReader("1\n2\n3\n4\n5\n"))
	require.NoError(t, err)
	push := workflow.Push{Text: text, Functions: []workflow.Pin{{Name: "first", Function: "first", Version: 1}}}
	_, _, err = w.PushWorkflow(ctx, w.by, w.project, push)
	require.ErrorContains(t, err, "files: there is no digest of numbers")
	push.Files = []workflow.PinnedFile{{Name: "numbers", Digest: strings.Repeat("0", 64)}}
	_, _, err = w.PushWorkflow(ctx, w.by, w.project, push)
	requireCode(t, err, "not_found")
	push.Files[0].Digest = object.Digest
	v, _, err := w.PushWorkflow(ctx, w.by, w.project, push)
	require.NoError(t, err)
	require.Equal(t, []workflow.PinnedFile{{Name: "numbers", Digest: object.Digest, Bytes: 10}}, v.Files)
	w.collectAll()
	r := w.startWorkflow("sampled")
	a := w.agent(func(input string) functions.Result { return ok("1") })
	for range 2 {
		w.settleAll()
		a.do(10)
	}
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	require.Equal(t, object.Digest, w.job(*r.Steps[1].JobID).Partition.Object)
}

func TestAProofIsExecutedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushProved()
	w.pushFunction("certify", "")
	const text = `
name = "proved"
[functions]
certify = "functions/certify"
[[steps]]
name = "proofs"
type = "prove"
function = "certify"
items = ["1000003000009000027", "18446744073709551629"]
aggregator = "count"
VALIDATOR
[[steps]]
name = "certain"
type = "check"
needs = ["proofs"]
when = "steps.proofs.answer == 2 && steps.proofs.metrics.verification.error_bound == 0.0"
`
	push := func(validator string) error {
		_, _, err := w.PushWorkflow(ctx, w.by, w.project, workflow.Push{
			Text: strings.Replace(text, "VALIDATOR", validator, 1), Functions: []workflow.Pin{{Name: "certify", Function: "certify", Version: 1}},
		})
		return err
	}
	err := push("")
	requireCode(t, err, "bad_workflow")
	require.ErrorContains(t, err, "steps.proofs.validator: neither the step nor its function")
	requireCode(t, push(`validator = "sum"`), "bad_kind")
	require.NoError(t, push(`validator = "proved"`))
	r := w.startWorkflow("proved")
	w.settleAll()
	liar := w.agent(func(input string) functions.Result {
		return ok(fmt.Sprintf(`{"factor":"7","n":%s,"proof":"factor","verdict":"composite"}`, input))
	})
	require.Equal(t, 2, liar.do(2))
	w.settleAll()
	require.Equal(t, int64(2), w.workflowRun(r.ID).Steps[0].Shards.Open, "what proves nothing does not count")
	require.Equal(t, 2, w.agent(certified).do(2))
	w.settleAll()
	r = w.workflowRun(r.ID)
	require.Equal(t, graph.RunFinished, r.State, r.Error)
	job := w.job(*r.Steps[0].JobID)
	require.Equal(t, 1, job.Policy.Quorum)
	require.True(t, job.Validator.Certificate)
	require.Equal(t, int64(4), job.Attempts, "two lies, and each proof once")
}

// certified answers with evidence that holds.
func certified(input string) functions.Result {
	if input == `"1000003000009000027"` {
		return ok(`{"factor":"1000003","n":"1000003000009000027","proof":"factor","verdict":"composite"}`)
	}
	return ok(fmt.Sprintf(`{"bases":[2,3,5,7,11,13,17,19,23,29,31,37,41],"n":%s,"proof":"miller-rabin-13","verdict":"prime"}`, input))
}

// pushProved pushes the validator of proofs of the examples.
func (w *world) pushProved() {
	w.t.Helper()
	file, err := os.Open("../../examples/modules/proved/proved.wasm")
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, file.Close()) }()
	_, _, err = w.PushModule(w.t.Context(), w.by, w.project, "proved", "validator", file)
	require.NoError(w.t, err)
}
