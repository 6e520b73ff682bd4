package engine_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// written is a workflow whose report is made by a function.
const written = `
name = "written"
[functions]
first = "functions/first"
` + firstStep + `[[steps]]
name = "page"
type = "report"
needs = ["one"]
function = "first"
policy = { quorum = 1 }
`

func (w *world) runWritten(text string, answer func(input string) functions.Result) workflow.RunDetail {
	w.t.Helper()
	w.pushWorkflow(text, "first")
	r := w.startWorkflow("written")
	w.settleAll()
	require.Equal(w.t, 5, w.agent(honest).do(5))
	w.settleAll()
	require.Equal(w.t, 1, w.agent(answer).do(1))
	w.settleAll()
	return w.workflowRun(r.ID)
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
		if s.Kind != (stepargs.AdvanceRunArgs{}).Kind() {
			w.once(s)
		}
	})
	args := stepargs.AdvanceRunArgs{Project: w.project, Run: r.ID}
	for range workflow.MaxReportTries - 1 {
		require.ErrorContains(t, w.Advance(t.Context(), args), "making the report document")
		step := w.workflowRun(r.ID).Steps[2]
		require.Equal(t, graph.StepWaiting, step.State)
		require.Contains(t, step.Error, "it is tried again: ")
	}
	require.NoError(t, w.Advance(t.Context(), args))
	require.Contains(t, w.workflowRun(r.ID).Error, "step document: the module of the report failed: it has asked for another try 5 times in a row")
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
	begin := func(text string) (workflow.RunDetail, uuid.UUID) {
		w.pushWorkflow(text, "first")
		r := w.startWorkflow("written")
		w.settleAll()
		_, err := w.PauseWorkflowRun(t.Context(), w.by, w.project, r.ID)
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
