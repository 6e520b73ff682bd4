package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/workflow"
)

// ruled is a workflow with a rule.
const ruled = `
name = "ruled"
[functions]
first = "functions/first"
[[rules]]
name = "once-more"
on_function = "first"
when = "aggregate.value.n == 5"
[rules.then]
function = "first"
partition = '{"kind": "range", "from": "0", "to": "20", "size": "10"}'
` + firstStep

func (w *world) rulesOf() (specs []planner.Rule) {
	w.t.Helper()
	list, err := w.ListRules(w.t.Context(), w.project, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	for _, r := range list {
		specs = append(specs, r.Spec)
	}
	return specs
}

func TestRulesOfAWorkflow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushFunction("first", "")
	push := func(version int, change ...string) error {
		_, _, err := w.PushWorkflow(ctx, w.by, w.project, workflow.Push{
			Text: strings.NewReplacer(change...).Replace(ruled), Functions: []workflow.Pin{{Name: "first", Function: "first", Version: version}},
		})
		return err
	}
	w.cutOff(uuid.Nil, func() error { return push(1) })
	want := planner.Rule{
		Name: "once-more", OnFunction: "first", When: "aggregate.value.n == 5", Enabled: true,
		Then: planner.Then{Function: "first", Version: 1, Partition: `{"kind": "range", "from": "0", "to": "20", "size": "10"}`},
	}
	require.Equal(t, []planner.Rule{want}, w.rulesOf())
	w.startWorkflow("ruled")
	w.settleAll()
	require.Equal(t, 5, w.agent(honest).do(5))
	w.settleAll()
	require.Equal(t, int64(1), w.count("select count(*) from jobs where rule_id is not null"), "the rule has made a job")

	// What changes is changed, and what does not stays as it is.
	w.pushFunction("first", "description = \"newer\"\n")
	require.NoError(t, push(2))
	want.Then.Version = 2
	require.Equal(t, []planner.Rule{want}, w.rulesOf())
	require.NoError(t, push(2, "length = 50", "length = 60"))
	require.Equal(t, int64(2), w.count("select revision from rules"))

	// A name that the project has is not taken over, and nothing is made then.
	other := want
	other.Name = "other"
	_, _, err := w.CreateRule(ctx, w.by, w.project, other, functions.Idempotency{})
	require.NoError(t, err)
	versions := w.count("select count(*) from workflow_versions")
	requireCode(t, push(2, "once-more", "other"), "name_taken")
	require.Equal(t, versions, w.count("select count(*) from workflow_versions"))
	require.Len(t, w.rulesOf(), 2)

	require.NoError(t, push(2, ruled[strings.Index(ruled, "[[rules]]"):strings.Index(ruled, "[[steps]]")], ""))
	require.Equal(t, []planner.Rule{other}, w.rulesOf(), "what is left out is deleted, and nothing else")
	require.NoError(t, push(2))
	require.Len(t, w.rulesOf(), 2)
	w.settleAll()
	for _, r := range w.runIDs() {
		_, err := w.CancelWorkflowRun(ctx, w.by, w.project, r)
		if err != nil {
			requireCode(t, err, "workflow_run_ended")
		}
	}
	deleted := w.count("select count(*) from audit where action = 'rule.delete'")
	require.NoError(t, w.DeleteWorkflow(ctx, w.by, w.project, "ruled", w.count("select newest from workflows")))
	require.Equal(t, deleted+1, w.count("select count(*) from audit where action = 'rule.delete'"), "the log has each of them")
	require.Equal(t, []planner.Rule{other}, w.rulesOf(), "rules go with their workflow")
}

// TestPushingAgainMendsRules: one was changed by itself, and then one was deleted.
func TestPushingAgainMendsRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushFunction("first", "")
	push := func() bool {
		_, created, err := w.PushWorkflow(ctx, w.by, w.project, workflow.Push{Text: ruled, Functions: pinned("first")})
		require.NoError(t, err)
		return created
	}
	rule := func() submit.Rule {
		list, err := w.ListRules(ctx, w.project, functions.ListPage{Limit: functions.MaxListLimit})
		require.NoError(t, err)
		require.Len(t, list, 1)
		return list[0]
	}
	require.True(t, push())
	want := rule()
	spec := want.Spec
	spec.Name, spec.Enabled = "renamed", false
	_, err := w.UpdateRule(ctx, w.by, w.project, want.ID, spec, want.Revision)
	require.NoError(t, err)
	require.False(t, push())
	require.Equal(t, want.Spec, rule().Spec)

	spec = rule().Spec
	spec.Enabled = false
	_, err = w.UpdateRule(ctx, w.by, w.project, rule().ID, spec, rule().Revision)
	require.NoError(t, err)
	require.False(t, push())
	require.Equal(t, want.Spec, rule().Spec)

	require.NoError(t, w.DeleteRule(ctx, w.by, w.project, rule().ID, rule().Revision))
	require.False(t, push())
	require.Equal(t, want.Spec, rule().Spec)
	require.Equal(t, int64(1), w.count("select count(*) from workflow_versions"))
}

func (w *world) runIDs() (ids []uuid.UUID) {
	w.t.Helper()
	list, err := w.ListWorkflowRuns(w.t.Context(), w.project, workflow.RunFilter{}, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestHowManyRulesWithThoseOfWorkflows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("first", "")
	w.inProject("insert into rules (id, name, spec) select gen_random_uuid(), 'r' || n, '{}' from generate_series(1, 99) n")
	push := func(text string) error {
		_, _, err := w.PushWorkflow(t.Context(), w.by, w.project, workflow.Push{Text: text, Functions: pinned("first")})
		return err
	}
	two := strings.Replace(ruled, "[[steps]]", fmt.Sprintf("[[rules]]\nname = \"two\"%s[[steps]]", ruled[strings.Index(ruled, "\non_function"):strings.Index(ruled, "[[steps]]")]), 1)
	requireCode(t, push(two), "too_many_rules")
	require.NoError(t, push(ruled))
}
