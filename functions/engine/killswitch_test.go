package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	dispatchsql "github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/testenv"
)

func everything() fleet.KillScope { return fleet.KillScope{Scope: fleet.ScopeEverything} }

func (w *world) wholeProject() fleet.KillScope {
	return fleet.KillScope{Scope: fleet.ScopeProject, Project: &w.project}
}

func (w *world) function(name string, version int) fleet.KillScope {
	return fleet.KillScope{Scope: fleet.ScopeFunction, Project: &w.project, Function: name, Version: version}
}

func on(agent *agent, scope fleet.KillScope) fleet.KillScope {
	scope.Agent = &agent.id
	return scope
}

func (w *world) kill(scope fleet.KillScope) fleet.KillStatus {
	w.t.Helper()
	status, err := w.Kill(w.t.Context(), w.server, scope, "a test", false)
	require.NoError(w.t, err)
	return status
}

func (w *world) release(scope fleet.KillScope) bool {
	w.t.Helper()
	was, err := w.Release(w.t.Context(), w.server, scope)
	require.NoError(w.t, err)
	return was
}

func (a *agent) directives() fleet.Directives {
	a.w.t.Helper()
	d, err := a.w.Directives(a.w.t.Context(), a.id, "", 0)
	require.NoError(a.w.t, err)
	return d
}

// TestASwitchHoldsWhatItNames puts a switch of every scope on and off again: what it holds is not lent, anything else is, and the job
// ends with the right answer once it is off.
func TestASwitchHoldsWhatItNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	w.pushFunction("others", "")
	w.pushFunction("numbers", "[limits]\nwall_seconds = 7") // version 2, of which there are no jobs
	a, b := w.agent(honest), w.agent(honest)
	held := w.submit(20, func(j *functions.NewJob) { j.Version = 1 })
	free := w.submit(20, func(j *functions.NewJob) { j.Function = "others" })
	w.untilSplit(held.ID)
	w.untilSplit(free.ID)
	lends := func(a *agent) map[string]bool {
		names := map[string]bool{}
		w.exec("update lease_cursors set returned = 0") // it gives everything back, for which it would be lent nothing for a while
		for {
			lease := a.lease(5)
			if lease == nil {
				break
			}
			defer func() { require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID)) }()
			names[lease.Function] = true
		}
		return names
	}
	both, others, none := map[string]bool{"numbers": true, "others": true}, map[string]bool{"others": true}, map[string]bool{}
	require.Equal(t, both, lends(a))
	for name, c := range map[string]struct {
		scope fleet.KillScope
		a, b  map[string]bool
	}{
		"everything":                 {everything(), none, none},
		"the project":                {w.wholeProject(), none, none},
		"a function":                 {w.function("numbers", 0), others, others},
		"its version":                {w.function("numbers", 1), others, others},
		"another version":            {w.function("numbers", 2), both, both},
		"an agent":                   {on(a, everything()), none, both},
		"an agent, for the project":  {on(a, w.wholeProject()), none, both},
		"an agent, for the function": {on(a, w.function("numbers", 0)), others, both},
	} {
		status := w.kill(c.scope)
		require.Equal(t, c.a, lends(a), name)
		require.Equal(t, c.b, lends(b), name)
		require.Equal(t, status.ID, w.kill(c.scope).ID, "%s: a switch that is on stays as it is", name)
		require.True(t, w.release(c.scope), name)
		require.False(t, w.release(c.scope), "%s: twice", name)
		require.Equal(t, both, lends(a), name)
	}
	require.Equal(t, functions.JobFinished, w.swarm(held.ID, 7, a, b).State)
	requireTruth(t, w.job(held.ID), truth(rangeOf(20)))
	require.Equal(t, functions.JobFinished, w.swarm(free.ID, 7, a, b).State)
	require.Equal(t, int64(8), w.audited("killswitch.on"))
	require.Equal(t, int64(8), w.audited("killswitch.off"))
	require.Equal(t, int64(6), w.count("select count(*) from audit where action = 'killswitch.on'"), "the project's own log has those of the project")
}

func (w *world) untilSplit(job uuid.UUID) {
	w.t.Helper()
	testenv.Eventually(w.t, func() bool { return w.job(job).State != functions.JobSplitting }, "the job is split")
}

func (w *world) audited(action string) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.store.Pool.QueryRow(w.t.Context(), "select count(*) from ostraka.server_audit where action = $1", action).Scan(&n))
	return n
}

// TestASwitchIsConfirmed follows a switch from the command to silence.
func TestASwitchIsConfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	a, b := w.agent(honest), w.agent(honest)
	job := w.submit(20)
	w.untilSplit(job.ID)
	lease := a.lease(5)
	known := a.directives()
	require.Empty(t, known.Switches)
	require.Equal(t, known.Revision, b.directives().Revision)

	answered := make(chan fleet.Directives)
	go func() { // the poll that an agent always holds
		d, _ := w.Directives(context.WithoutCancel(t.Context()), a.id, known.Revision, time.Minute)
		answered <- d
	}()
	status := w.kill(w.function("numbers", 0))
	require.False(t, status.Silent)
	require.Equal(t, 2, status.Agents)
	require.Equal(t, 2, status.Unconfirmed)
	require.Equal(t, int64(1), status.Leases)
	require.Len(t, status.Waiting, 2)
	orders := <-answered
	require.Equal(t, []fleet.KillOrder{{ID: status.ID, Scope: "function", Project: &w.project, Function: "numbers"}}, orders.Switches)

	requireCode(t, w.Confirm(t.Context(), a.id, known.Revision), "directives_changed")
	require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID))
	require.NoError(t, w.Confirm(t.Context(), a.id, orders.Revision))
	silent := make(chan fleet.KillStatus)
	go func() {
		s, _ := w.WaitSilent(context.WithoutCancel(t.Context()), uuid.Nil, status.ID, time.Minute)
		silent <- s
	}()
	beat, err := w.Heartbeat(t.Context(), b.id, fleet.Heartbeat{})
	require.NoError(t, err)
	require.Equal(t, orders.Revision, beat.Revision, "heartbeats answer the same")
	_, err = w.Heartbeat(t.Context(), b.id, fleet.Heartbeat{CarriedOut: beat.Revision})
	require.NoError(t, err)
	status = <-silent
	require.True(t, status.Silent)
	require.Equal(t, 2, status.Confirmed)
	require.Empty(t, status.Waiting)
	require.Zero(t, status.Leases)

	why, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "killswitch", why.Reasons[0].Code)
	require.Contains(t, why.Reasons[0].Text, "a test")
	require.True(t, w.release(w.function("numbers", 0)))
	require.Empty(t, a.directives().Switches)
	requireTruth(t, w.swarm(job.ID, 7, a, b), truth(rangeOf(20)))
}

// TestAnAgentThatIsAwayLearnsOfASwitchLater counts agents that cannot confirm, and takes back what they hold where that is forced.
func TestAnAgentThatIsAwayLearnsOfASwitchLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	a := w.agent(honest)
	job := w.submit(5)
	w.untilSplit(job.ID)
	lease := a.lease(5)
	_, err := w.store.Pool.Exec(t.Context(), "update ostraka.agents set last_seen_at = now() - interval '1 hour'")
	require.NoError(t, err)
	status, err := w.Kill(t.Context(), w.by, w.wholeProject(), "", false)
	require.NoError(t, err)
	require.Equal(t, 1, status.Offline)
	require.False(t, status.Silent, "its lease is open")
	status, err = w.Kill(t.Context(), w.by, w.wholeProject(), "", true)
	require.NoError(t, err)
	status, err = w.WaitSilent(t.Context(), w.project, status.ID, time.Minute)
	require.NoError(t, err)
	require.True(t, status.Silent)
	require.Equal(t, 1, status.Offline)
	_, err = a.post(lease.ID, a.results(lease.Shards)...)
	requireCode(t, err, "lease_revoked")
	require.Len(t, a.directives().Switches, 1, "it is back")
	require.Zero(t, w.count("select sum(lost) from shards"), "nobody's fault")
}

// TestASwitchWaitsForLeasesThatAreBeingMade puts a switch on while a lease is being written: it waits, and then knows of the lease.
func TestASwitchWaitsForLeasesThatAreBeingMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	a := w.agent(honest)
	job := w.submit(5)
	w.untilSplit(job.ID)
	asked, release := w.holdUp(dispatchsql.IndexLease)
	leased := make(chan *functions.Lease)
	go func() {
		lease, _ := a.Lease(context.WithoutCancel(t.Context()), 5, 0)
		leased <- lease
	}()
	<-asked
	switched := make(chan fleet.KillStatus)
	go func() {
		status, _ := w.Kill(context.WithoutCancel(t.Context()), w.server, everything(), "", false)
		switched <- status
	}()
	testenv.Eventually(t, func() bool {
		var waits int
		err := w.store.Pool.QueryRow(t.Context(), "select count(*) from pg_locks where locktype = 'advisory' and not granted").Scan(&waits)
		return err == nil && waits > 0
	}, "the switch waits")
	release()
	require.NotNil(t, <-leased)
	require.Equal(t, int64(1), (<-switched).Leases)
	require.Nil(t, a.lease(5))
}

// TestSwitchesAreForThoseWhoMay keeps projects apart.
func TestSwitchesAreForThoseWhoMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, _ := w.newProject("other")
	a := w.agent(honest)
	theirs := fleet.KillScope{Scope: fleet.ScopeProject, Project: &other}
	status := w.kill(theirs)
	require.Empty(t, a.directives().Switches, "the agent does not work for it")
	_, err := w.KillStatus(t.Context(), w.project, status.ID)
	requireCode(t, err, "not_found")
	list, err := w.ListSwitches(t.Context(), w.project)
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = w.Kill(t.Context(), w.server, on(a, theirs), "", false)
	requireCode(t, err, "not_found")
	nobody := uuid.New()
	_, err = w.Kill(t.Context(), w.server, fleet.KillScope{Scope: fleet.ScopeEverything, Agent: &nobody}, "", false)
	requireCode(t, err, "not_found")
	_, err = w.Kill(t.Context(), w.server, fleet.KillScope{Scope: fleet.ScopeProject, Project: &nobody}, "", false)
	requireCode(t, err, "not_found")
	for _, misspelt := range []fleet.KillScope{w.function("letters", 0), w.function("numbers", 99)} {
		_, err = w.Kill(t.Context(), w.server, misspelt, "", false)
		requireCode(t, err, "not_found")
		was, err := w.Release(t.Context(), w.server, misspelt)
		require.NoError(t, err)
		require.False(t, was)
	}
	w.kill(everything())
	list, err = w.ListSwitches(t.Context(), w.project)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, 1, list[0].Agents, "of everything, an owner sees the project's agents")
	for _, bad := range []fleet.KillScope{
		{},
		{Scope: "agent"},
		{Scope: fleet.ScopeProject},
		{Scope: fleet.ScopeFunction, Project: &other},
		{Scope: fleet.ScopeEverything, Project: &other},
		{Scope: fleet.ScopeProject, Project: &other, Function: "f"},
		{Scope: fleet.ScopeProject, Project: &other, Version: 1},
		{Scope: fleet.ScopeFunction, Project: &other, Function: "f", Version: -1},
	} {
		_, err = w.Kill(t.Context(), w.server, bad, "", false)
		requireCode(t, err, "bad_scope")
		_, err = w.Release(t.Context(), w.server, bad)
		requireCode(t, err, "bad_scope")
	}
}

// TestASwitchOutlivesTheServer reads it with another service on the same database.
func TestASwitchOutlivesTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	w.kill(everything())
	again := engine.New(w.options)
	d, err := again.Directives(t.Context(), a.id, "", 0)
	require.NoError(t, err)
	require.Len(t, d.Switches, 1)
}

// TestSwitchesAreCountedByProject fills the list of one project: no other project is kept from a switch by that, and nobody from one in
// an emergency.
func TestSwitchesAreCountedByProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, _ := w.newProject("other")
	a := w.agent(honest)
	_, err := w.store.Pool.Exec(t.Context(), `insert into ostraka.kill_switches (id, scope, project_id, function, reason, on_by)
		select gen_random_uuid(), 'function', $1, 'f' || n, '', 'a test' from generate_series(2, $2) n`, w.project, fleet.MaxSwitches)
	require.NoError(t, err)
	w.kill(w.function("numbers", 0)) // the last that fits
	one := w.function("numbers", 1)
	for _, more := range []fleet.KillScope{one, on(a, one), on(a, w.wholeProject())} {
		_, err = w.Kill(t.Context(), w.by, more, "", false)
		requireCode(t, err, "too_many_switches")
	}
	w.kill(w.function("numbers", 0)) // it is on
	w.kill(w.wholeProject())
	w.kill(everything())
	w.kill(fleet.KillScope{Scope: fleet.ScopeProject, Project: &other})
	w.kill(on(a, everything()))

	ours, err := w.ListSwitches(t.Context(), w.project)
	require.NoError(t, err)
	require.Len(t, ours, fleet.MaxSwitches+2, "with the one for all of the project, and the one for everything")
	all, err := w.ListSwitches(t.Context(), uuid.Nil)
	require.NoError(t, err)
	require.Len(t, all, fleet.MaxSwitches+4)
	require.True(t, w.release(w.function("numbers", 0)))
	w.kill(one)
}
