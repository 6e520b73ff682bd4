package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/guardian"
)

// aboutJob is a condition of rules that are about one job.
func aboutJob(id uuid.UUID) string { return `job.id == "` + id.String() + `"` }

// allowing is a rule that allows on conditions.
func allowing(name string, c guardian.Conditions, on ...guardian.Kind) guardian.Rule {
	r := guardRule(name, guardian.Allow, "", on...)
	r.Conditions = c
	return r
}

// codes are the codes of what explains a job.
func (w *world) codes(job uuid.UUID) (list []string) {
	w.t.Helper()
	e, err := w.Explain(w.t.Context(), w.project, job)
	require.NoError(w.t, err)
	for _, r := range e.Reasons {
		list = append(list, r.Code)
	}
	return list
}

// TestARefusedJobKeepsNoOtherFromAnAgent has jobs that are denied, asked about while no further approval is kept, and allowed on conditions that
// they do not keep: the same poll of an agent is lent another one.
func TestARefusedJobKeepsNoOtherFromAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.agent(honest)
	denied, asked, strict, free := w.submit(4), w.submit(4), w.submit(4), w.submit(4)
	w.settleAll()
	w.guard(guardRule("denies", guardian.Deny, aboutJob(denied.ID), guardian.JobDispatch))
	w.guard(guardRule("asks", guardian.Ask, aboutJob(asked.ID), guardian.JobDispatch))
	tight := allowing("tight", guardian.Conditions{Shards: 3}, guardian.JobDispatch)
	tight.When = aboutJob(strict.ID)
	w.guard(tight)
	w.inProject(`insert into guardian_approvals (id, kind, subject, digest, facts, layer, rule, rule_version, risk, reason, requested_by, expires_at)
		select gen_random_uuid(), 'key.create', 'k', sha256(n::text::bytea), '{}', 'project', 'x', 1, 'LOW', 'x', 'x', now() + interval '1 day'
		from generate_series(1, $1::int) n`, policy.MaxWaiting)
	for range 2 {
		lease, err := w.Lease(t.Context(), one.id, dispatch.Poll{Most: 2}, functions.Idempotency{})
		require.NoError(t, err)
		require.NotNil(t, lease)
		require.Equal(t, free.ID, lease.Job)
	}
	lease, err := w.Lease(t.Context(), one.id, dispatch.Poll{Most: 2}, functions.Idempotency{})
	require.NoError(t, err)
	require.Nil(t, lease, "there is no work, and the agent is not told that it is refused anything")

	require.NoError(t, w.DeleteGuardianRule(t.Context(), w.by, w.project, "denies", 1))
	tight.Conditions.Shards = 4
	_, err = w.SetGuardianRule(t.Context(), w.by, w.project, tight, 1)
	require.NoError(t, err)
	lent := map[uuid.UUID]bool{}
	for {
		lease, err := w.Lease(t.Context(), one.id, dispatch.Poll{Most: 4}, functions.Idempotency{})
		require.NoError(t, err)
		if lease == nil {
			break
		}
		lent[lease.Job] = true
	}
	require.Equal(t, map[uuid.UUID]bool{denied.ID: true, strict.ID: true}, lent, "what is at the limit of a condition is lent")
}

// TestConditionsHoldForWhatFollows has a job under conditions run again, called, and followed up by jobs that no rule is about.
func TestConditionsHoldForWhatFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conditions := guardian.Conditions{Owners: []string{"owner-1"}, Quorum: 1, Shards: 2, MemoryBytes: 1 << 40}
	w.guard(allowing("kept", conditions, guardian.JobSubmit))
	w.rule("next")
	w.rule("large", func(r *planner.Rule) { r.Then.Partition = `{"kind": "items", "values": [1, 2, 3]}` })
	parent := w.finished()
	require.Equal(t, &conditions, parent.Conditions)
	family := w.family(parent.ID)
	require.Len(t, family, 2, "one that has more shards than its parent may have is not made")
	child := w.job(family[0].ID)
	require.Equal(t, "rule:next", child.CreatedBy)
	require.Equal(t, &conditions, child.Conditions)
	skips := w.events(parent.ID, base.EventSkipped)
	require.Len(t, skips, 1)
	require.Contains(t, string(skips[0].Data), "at most 2 are allowed")
	require.Nil(t, w.agent(honest).lease(1), "it is not lent to others")

	require.Equal(t, &conditions, w.submit(2, rerunOf(parent.ID)).Conditions)
	call, _, err := w.CallFunction(t.Context(), w.by, w.project, functions.NewJob{Function: "numbers", Items: []byte("1\n"), Quorum: 1}, time.Nanosecond, functions.Idempotency{})
	require.NoError(t, err)
	require.Equal(t, &conditions, w.job(call.Job).Conditions)
	require.Contains(t, w.codes(call.Job), "owners_only")
}

// TestWhatWasAllowedForATimeEndsWithIt: nothing more of a job is lent, and nothing follows from it.
func TestWhatWasAllowedForATimeEndsWithIt(t *testing.T) {
	t.Parallel()
	clock := &watch{}
	w := newWorld(t, guarded(clock))
	w.guard(allowing("today", guardian.Conditions{ValidUntil: time.Now().Add(time.Hour)}, guardian.JobSubmit))
	one := w.agent(honest)
	job := w.submit(4, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	clock.step(time.Hour - time.Minute)
	require.NotNil(t, one.lease(2))
	require.NotContains(t, w.codes(job.ID), "no_longer_allowed")
	clock.step(time.Minute)
	require.Nil(t, one.lease(2))
	require.Equal(t, "no_longer_allowed", w.codes(job.ID)[0])
}

// TestNoShareIsKeptForWhomConditionsLeaveOut: an owner is lent all of a job that is for nobody else, though others have nothing to do.
func TestNoShareIsKeptForWhomConditionsLeaveOut(t *testing.T) {
	t.Parallel()
	for name, verified := range map[string]func(*functions.NewJob){"bound": bounded(1e-3), "quorum": func(j *functions.NewJob) { j.Quorum = 2 }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shared(time.Hour))
			w.guard(allowing("ours", guardian.Conditions{Owners: []string{"owner-1"}}, guardian.JobSubmit))
			one := w.agent(honest)
			w.agent(honest)
			w.agent(honest)
			job := w.submit(300, verified)
			w.settleAll()
			w.there()
			n, _ := one.takeAll()
			require.Equal(t, 300, n)
			w.check(job.ID)
		})
	}
}

// TestNobodyIsWaitedForWhomConditionsLeaveOut: where the agents of the owners that a job is for have all tried, a server executes its shards,
// whoever else is there.
func TestNobodyIsWaitedForWhomConditionsLeaveOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	w.guard(allowing("ours", guardian.Conditions{Owners: []string{"owner-1"}}, guardian.JobSubmit))
	one, other := w.agent(honest), w.agent(honest)
	job := w.submit(2)
	w.settleAll()
	require.Equal(t, 2, one.do(2))
	w.settleAll()
	require.Nil(t, other.lease(2))
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
}
