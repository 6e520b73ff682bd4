package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// TestModulesOfARunArePinned has the modules of a job's function pinned as well: its aggregator is not named by any step.
func TestModulesOfARunArePinned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.pushMine(1)
	w.pushFunction("first", "[aggregator]\nmodule = \"mine\"\n[aggregator.params]\nop = \"count\"\n")
	text := told[:strings.Index(told, "[modules.mine]")] + told[strings.Index(told, "[[steps]]"):strings.Index(told, "[[steps]]\nname = \"how_many\"")]
	v, _, err := w.PushWorkflow(t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: pinned("first")})
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
	push := workflow.Push{Text: text, Functions: pinned("first")}
	_, _, err = w.PushWorkflow(ctx, w.by, w.project, push)
	require.ErrorContains(t, err, "files: there is no digest of numbers")
	push.Files = []workflow.PinnedFile{{Name: "numbers", Digest: strings.Repeat("0", 64)}}
	_, _, err = w.PushWorkflow(ctx, w.by, w.project, push)
	requireCode(t, err, "not_found")
	push.Files[0].Digest = object.Digest
	v, _, err := w.PushWorkflow(ctx, w.by, w.project, push)
	require.NoError(t, err)
	require.Equal(t, []workflow.PinnedFile{{Name: "numbers", Digest: object.Digest, Bytes: 10}}, v.Files)
	w.ageObjects()
	w.collect()
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
