package engine_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// pushCode pushes a function with this main.py.
func (w *world) pushCode(name, code string) functions.FunctionVersion {
	w.t.Helper()
	dir := w.t.TempDir()
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "function.toml"), []byte("name = \""+name+"\"\n"), 0o600))
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(code), 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(w.t, err)
	v, _, err := w.PushFunction(w.t.Context(), w.by, w.project, bytes.NewReader(b.Archive()), nil)
	require.NoError(w.t, err)
	return v
}

func (w *world) setHeuristics(policy functions.HeuristicsPolicy) {
	w.t.Helper()
	p, err := w.GetProject(w.t.Context(), w.project)
	require.NoError(w.t, err)
	_, err = w.UpdateProject(w.t.Context(), w.by, w.project, tenant.ProjectChange{Heuristics: &policy}, p.Revision)
	require.NoError(w.t, err)
}

func codeRisk(rules ...functions.HeuristicRule) functions.HeuristicsPolicy {
	return functions.HeuristicsPolicy{Use: []functions.HeuristicUse{{Module: functions.CodeRisk, Rules: rules}}}
}

const dangerous = "import os\n\ndef handler(x):\n    os.system('ls')\n    return x\n"

func TestCodeIsScoredWhenItIsPushed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.Heuristics = functions.DefaultHeuristics() })
	w.pushCode("shell", dangerous)
	w.settleAll()
	list, err := w.ListFindings(t.Context(), w.project, heuristics.FindingFilter{Function: "shell"}, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	f := list[0]
	require.Equal(t, "main.py", f.File)
	require.Equal(t, []functions.HeuristicAction{functions.DoFlag}, f.Actions)
	require.Contains(t, f.Labels, "process")
	require.Equal(t, "os.system('ls')", f.Places[0].Text)
	require.Equal(t, int64(4), f.Places[0].Line)
	one, err := w.GetFinding(t.Context(), w.project, f.ID)
	require.NoError(t, err)
	require.Equal(t, f, one)
	flags, err := w.ListFlags(t.Context(), w.project, review.FlagFilter{Kind: flag.FlagFinding}, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, flags, 1)

	job := w.submit(1, func(j *functions.NewJob) { j.Function = "shell" })
	w.settleAll()
	require.NotNil(t, w.agent(honest).lease(1), "a flag holds nothing")
	require.Equal(t, int64(1), w.count("select count(*) from findings"), "what is known is not scored again: %s", job.ID)
	none, err := w.ListFindings(t.Context(), w.project, heuristics.FindingFilter{Function: "numbers"}, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestCodeWaitsForAPersonWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushCode("shell", dangerous)
	w.setHeuristics(codeRisk(functions.HeuristicRule{At: 0.5, Do: functions.DoReview}))
	a := w.agent(honest)
	fine := w.submit(1)
	job := w.submit(1, func(j *functions.NewJob) { j.Function = "shell" })
	requireReason := func(code string) {
		t.Helper()
		explained, err := w.Explain(t.Context(), w.project, job.ID)
		require.NoError(t, err)
		require.Equal(t, code, explained.Reasons[0].Code, "%+v", explained)
	}
	requireReason("code_scoring")
	require.Nil(t, a.lease(1), "nothing is lent before the code has a score")
	w.settleAll()
	requireReason("code_review")
	lease := a.lease(1)
	require.Equal(t, fine.ID, lease.Job, "what is fine is dispatched")
	a.report(lease)
	require.Nil(t, a.lease(1))

	review, err := w.GetCodeReview(t.Context(), w.project, "shell", 0)
	require.NoError(t, err)
	require.Equal(t, "review", review.Held)
	require.Len(t, review.Scores, 1)
	require.True(t, review.Scores[0].Current)
	_, err = w.ReviewCode(t.Context(), w.by, w.project, "shell", 1, heuristics.CodeAllow, "")
	requireCode(t, err, "bad_reason")
	_, err = w.ReviewCode(t.Context(), w.by, w.project, "shell", 1, "perhaps", "x")
	requireCode(t, err, "bad_decision")
	review, err = w.ReviewCode(t.Context(), w.by, w.project, "shell", 1, heuristics.CodeAllow, "it is ours")
	require.NoError(t, err)
	require.Empty(t, review.Held)
	require.Equal(t, job.ID, a.lease(1).Job)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'code.review'"))

	_, err = w.ReviewCode(t.Context(), w.by, w.project, "shell", 1, heuristics.CodeRefuse, "it is not")
	require.NoError(t, err)
	_, _, err = w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{Function: "shell", Partition: rangeOf(1)}, functions.Idempotency{})
	requireCode(t, err, "code_refused")
}

func TestAPolicyThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, err := w.GetProject(t.Context(), w.project)
	require.NoError(t, err)
	flag := []functions.HeuristicRule{{At: 0.5, Do: functions.DoFlag}}
	many := make([]functions.HeuristicUse, functions.MaxHeuristics+1)
	for name, policy := range map[string]functions.HeuristicsPolicy{
		"no rules":     {Use: []functions.HeuristicUse{{Module: functions.CodeRisk}}},
		"too many":     {Use: many},
		"rules":        {Use: []functions.HeuristicUse{{Module: functions.CodeRisk, Rules: make([]functions.HeuristicRule, functions.MaxHeuristicRules+1)}}},
		"score":        codeRisk(functions.HeuristicRule{At: 1.1, Do: functions.DoFlag}),
		"action":       codeRisk(functions.HeuristicRule{At: 1, Do: "accept"}),
		"twice":        {Use: []functions.HeuristicUse{{Module: functions.CodeRisk, Rules: flag}, {Module: functions.CodeRisk, Rules: flag}}},
		"both":         {Default: true, Use: []functions.HeuristicUse{{Module: functions.CodeRisk, Rules: flag}}},
		"other target": {Use: []functions.HeuristicUse{{Module: functions.CodeRisk, On: "results", Rules: flag}}},
		"no target":    {Use: []functions.HeuristicUse{{Module: functions.CodeRisk, On: "agents", Rules: flag}}},
	} {
		_, err := w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{Heuristics: &policy}, p.Revision)
		require.Error(t, err, name)
		requireCode(t, err, "bad_heuristics")
	}
	for code, use := range map[string]functions.HeuristicUse{
		"not_found":  {Module: "nothing", Rules: flag},
		"bad_kind":   {Module: "tolerant", Rules: flag},
		"bad_params": {Module: functions.CodeRisk, Rules: flag, Params: json.RawMessage(`{"x":1}`)},
	} {
		policy := functions.HeuristicsPolicy{Use: []functions.HeuristicUse{use}}
		_, err := w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{Heuristics: &policy}, p.Revision)
		require.Error(t, err, code)
		requireCode(t, err, code)
	}
	w.setHeuristics(codeRisk(functions.HeuristicRule{At: 1, Do: functions.DoFlag}, functions.HeuristicRule{At: 0, Do: functions.DoReview}))
}

func TestAFileThatIsTooLargeToBeReadIsAFinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.Heuristics = functions.DefaultHeuristics() })
	w.pushCode("large", "def handler(x):\n    return x\n"+strings.Repeat("# more\n", 50_000))
	w.settleAll()
	list, err := w.ListFindings(t.Context(), w.project, heuristics.FindingFilter{}, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, []string{"unread"}, list[0].Labels)
}

// TestRunsOfHeuristicsAreKept counts batches that ended well, and keeps one that failed to be run again, under the module's name.
func TestRunsOfHeuristicsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.Heuristics = functions.DefaultHeuristics() })
	for _, name := range []string{"shell", "other"} {
		w.pushCode(name, dangerous)
		w.settleAll()
	}
	runs := w.moduleRuns(functions.CodeRisk, registry.ModuleRunFilter{})
	require.Len(t, runs, 1)
	require.Equal(t, registry.RunOK, runs[0].Class)
	require.Equal(t, int64(3), runs[0].Times, "of these two, and of the function that every world has")
	require.Equal(t, int64(3), runs[0].InLines)
	require.Equal(t, "heuristic", runs[0].Kind)
	require.Nil(t, runs[0].JobID)

	// What a policy may hold was tried when it was stored: only a stored one can be wrong.
	policy := codeRisk(functions.HeuristicRule{At: 0.5, Do: functions.DoFlag})
	w.setHeuristics(policy)
	_, err := w.store.Pool.Exec(t.Context(), `update ostraka.projects set heuristics = jsonb_set(heuristics, '{use,0,params}', '{"x":1}') where id = $1`, w.project)
	require.NoError(t, err)
	w.pushCode("third", dangerous)
	w.settleAll()
	failed := w.moduleRuns(functions.CodeRisk, registry.ModuleRunFilter{Failed: new(true)})
	require.Len(t, failed, 1)
	require.Equal(t, "exit", failed[0].Class)
	require.Equal(t, "scoring version 1 of third", failed[0].Step)
	require.NotNil(t, failed[0].Input)
	review, err := w.GetCodeReview(t.Context(), w.project, "third", 0)
	require.NoError(t, err)
	require.Contains(t, review.Scores[0].Error, failed[0].ID.String(), "the run is named where the failure is told")
}
