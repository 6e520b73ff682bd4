package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/tenant"
)

func (w *world) rule(name string, change ...func(*planner.Rule)) submit.Rule {
	w.t.Helper()
	spec := planner.Rule{
		Name: name, Enabled: true, OnFunction: "numbers", When: "aggregate.count > 0",
		Then: planner.Then{Function: "numbers", Partition: `{"kind": "items", "values": [{"from": string(aggregate.value.sum)}]}`, Quorum: 1},
	}
	for _, c := range change {
		c(&spec)
	}
	r, _, err := w.CreateRule(w.t.Context(), w.by, w.project, spec, functions.Idempotency{})
	require.NoError(w.t, err)
	return r
}

// finished is a job of two shards that has come to its end.
func (w *world) finished() functions.Job {
	w.t.Helper()
	job := w.submit(2, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	require.Equal(w.t, 2, w.agent(honest).do(2))
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(w.t, functions.JobFinished, done.State)
	return done
}

func (w *world) family(root uuid.UUID) []functions.Job {
	w.t.Helper()
	list, err := w.ListJobs(w.t.Context(), w.project, jobs.JobFilter{Root: root}, functions.ListPage{Limit: 100})
	require.NoError(w.t, err)
	return list
}

func TestAFollowUpIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rule("again", func(r *planner.Rule) { r.MaxDepth = 2 })
	parent := w.finished()
	family := w.family(parent.ID)
	require.Len(t, family, 2)
	child := family[0]
	require.Equal(t, parent.ID, *child.Parent)
	require.Equal(t, 1, child.Depth)
	require.Equal(t, "rule:again", child.CreatedBy)
	event := w.events(parent.ID, base.EventFollowUp)
	require.Len(t, event, 1)
	require.Contains(t, string(event[0].Data), child.ID.String())

	args := stepargs.FollowUpArgs{Project: w.project, Job: parent.ID}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := w.FollowUp(context.Background(), args); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Len(t, w.family(parent.ID), 2)
	require.Len(t, w.events(parent.ID, base.EventFollowUp), 1)

	// The child's own end makes a grandchild, at the count limit of the rule none.
	require.Equal(t, 1, w.agent(honest).do(1))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(child.ID).State)
	require.Len(t, w.family(parent.ID), 2)
	skips := w.events(child.ID, base.EventSkipped)
	require.Len(t, skips, 1)
	require.Contains(t, string(skips[0].Data), string(planner.SkipCountLimit))
	require.NoError(t, w.FollowUp(t.Context(), stepargs.FollowUpArgs{Project: w.project, Job: child.ID}))
	require.Len(t, w.events(child.ID, base.EventSkipped), 1, "a skip is told once")
}

// TestAFollowUpPlansAgain has one run of the step stop between planning and submitting, while another run does it all.
func TestAFollowUpPlansAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	parent := w.finished()
	w.rule("again")
	args := stepargs.FollowUpArgs{Project: w.project, Job: parent.ID}
	planned, release := w.holdUp(store.LockJob)
	slow := make(chan error, 1)
	go func() { slow <- w.FollowUp(t.Context(), args) }()
	<-planned
	require.NoError(t, w.FollowUp(t.Context(), args))
	release()
	require.NoError(t, <-slow)
	require.Len(t, w.family(parent.ID), 2)
}

func TestFollowUpsGoAsDeepAsTheRuleAllows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rule("deeper", func(r *planner.Rule) { r.MaxDepth, r.MaxJobs = 3, 16 })
	parent := w.finished()
	for range 5 {
		w.agent(honest).do(1)
		w.settleAll()
	}
	family := w.family(parent.ID)
	require.Len(t, family, 4)
	require.Equal(t, 3, family[0].Depth)
	require.Contains(t, string(w.events(family[0].ID, base.EventSkipped)[0].Data), string(planner.SkipDepthLimit))
}

// TestManyJobsOfOneRootKeepTheLimit has many rules at once pass the number that one root job may have.
func TestManyJobsOfOneRootKeepTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range planner.HardMaxJobs + 2 {
		w.rule(fmt.Sprintf("rule-%d", i), func(r *planner.Rule) { r.MaxDepth = 2 })
	}
	parent := w.finished()
	require.Len(t, w.family(parent.ID), planner.HardMaxJobs+1)
	require.Len(t, w.events(parent.ID, base.EventSkipped), 2)
	w.sql("delete from " + w.schema() + ".rules where name in (select name from " + w.schema() + ".rules order by name limit 10)")
	require.NoError(t, w.FollowUp(t.Context(), stepargs.FollowUpArgs{Project: w.project, Job: parent.ID}))
	require.Len(t, w.family(parent.ID), planner.HardMaxJobs+1, "those of deleted rules count as well")
}

func TestFollowUpsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	off := newWorld(t, func(o *engine.Options) { o.FollowupsOff = true })
	off.rule("again")
	require.Len(t, off.family(off.finished().ID), 1)

	w := newWorld(t)
	w.rule("again")
	p, err := w.GetProject(t.Context(), w.project)
	require.NoError(t, err)
	no := false
	p, err = w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{FollowupsEnabled: &no}, p.Revision)
	require.NoError(t, err)
	require.False(t, p.FollowupsEnabled)
	require.Len(t, w.family(w.finished().ID), 1)
	yes := true
	_, err = w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{FollowupsEnabled: &yes}, p.Revision-1)
	require.ErrorIs(t, err, functions.ErrRevision)
	_, err = w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{FollowupsEnabled: &yes}, p.Revision)
	require.NoError(t, err)
	require.Len(t, w.family(w.finished().ID), 2)
}

func TestRulesThatLeadToNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rule("disabled", func(r *planner.Rule) { r.Enabled = false })
	w.rule("other", func(r *planner.Rule) { r.OnFunction = "else" })
	w.rule("false", func(r *planner.Rule) { r.When = "false" })
	w.rule("broken", func(r *planner.Rule) { r.When = "aggregate.value.missing > 0" })
	w.rule("no-function", func(r *planner.Rule) { r.Then.Function = "missing" })
	w.rule("no-items", func(r *planner.Rule) { r.Then.Partition = `{"kind": "items", "values": []}` })
	// One that was stored before the rules became stricter must not hold up the others.
	w.sql("insert into "+w.schema()+".rules (id, name, spec) values ($1, 'old', '{\"name\": \"old\", \"when\": \"((\", \"enabled\": true}')", uuid.New())
	job := w.finished()
	require.Len(t, w.family(job.ID), 1)
	told := ""
	for _, e := range w.events(job.ID, base.EventSkipped) {
		told += string(e.Data)
	}
	for rule, is := range map[string]bool{"disabled": false, "other": false, "false": false, "old": false, "broken": true, "no-function": true, "no-items": true} {
		require.Equal(t, is, strings.Contains(told, `"rule": "`+rule+`"`), "%s in %s", rule, told)
	}
}

func TestALargeAggregateIsASkipNotAnEndlessRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rule("again")
	long := `"` + strings.Repeat("x", 60<<10) + `"`
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum, j.Aggregator = 1, "concat" })
	w.settleAll()
	w.agent(says(long)).do(5)
	w.settleAll()
	require.NotEmpty(t, w.job(job.ID).Aggregate.Object)
	require.Contains(t, string(w.events(job.ID, base.EventSkipped)[0].Data), "aggregate")
}

func TestRulesAreDocumentsThatPeopleEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	spec := planner.Rule{Name: "one", When: "true", Then: planner.Then{Function: "numbers", Partition: `{"kind": "items", "values": [1]}`}}
	key := functions.Idempotency{Key: "k"}
	r, replayed, err := w.CreateRule(ctx, w.by, w.project, spec, key)
	require.NoError(t, err)
	require.False(t, replayed)
	again, replayed, err := w.CreateRule(ctx, w.by, w.project, spec, key)
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, r, again)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'rule.create'"))
	_, _, err = w.CreateRule(ctx, w.by, w.project, spec, functions.Idempotency{})
	requireCode(t, err, "name_taken")
	bad := spec
	bad.When = "((("
	_, _, err = w.CreateRule(ctx, w.by, w.project, bad, functions.Idempotency{})
	requireCode(t, err, "bad_rule")
	bad.Name = "Bad Name"
	_, _, err = w.CreateRule(ctx, w.by, w.project, bad, functions.Idempotency{})
	requireCode(t, err, "bad_name")

	spec.When = "false"
	changed, err := w.UpdateRule(ctx, w.by, w.project, r.ID, spec, r.Revision)
	require.NoError(t, err)
	require.Equal(t, r.Revision+1, changed.Revision)
	require.Equal(t, "false", changed.Spec.When)
	_, err = w.UpdateRule(ctx, w.by, w.project, r.ID, spec, r.Revision)
	require.ErrorIs(t, err, functions.ErrRevision)
	require.ErrorIs(t, w.DeleteRule(ctx, w.by, w.project, r.ID, r.Revision), functions.ErrRevision)
	require.NoError(t, w.DeleteRule(ctx, w.by, w.project, r.ID, changed.Revision))
	_, err = w.GetRule(ctx, w.project, r.ID)
	requireCode(t, err, "not_found")
	requireCode(t, w.DeleteRule(ctx, w.by, w.project, r.ID, changed.Revision), "not_found")
}

func TestTheLimitOfRulesHoldsWhenTwoAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `insert into rules (id, name, spec) select gen_random_uuid(), 'r' || n, '{}' from generate_series(1, $1) n`, submit.MaxRules-1)
		return err
	}))
	codes, all := make([]string, 4), sync.WaitGroup{}
	for i := range codes {
		all.Go(func() {
			_, _, err := w.CreateRule(context.Background(), w.by, w.project, planner.Rule{
				Name: fmt.Sprintf("x%d", i), When: "true",
				Then: planner.Then{Function: "f", Partition: `{}`},
			}, functions.Idempotency{})
			if err != nil {
				codes[i] = strings.SplitN(err.Error(), ":", 2)[0]
			}
		})
	}
	all.Wait()
	require.ElementsMatch(t, []string{"", "too_many_rules", "too_many_rules", "too_many_rules"}, codes)
}
