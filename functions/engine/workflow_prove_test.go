package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

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
			Text: strings.Replace(text, "VALIDATOR", validator, 1), Functions: pinned("certify"),
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
