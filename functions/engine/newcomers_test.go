package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/verify"
)

// known gives agents a record in the project: audits that they passed before a server.
func (w *world) known(agents ...*agent) {
	w.t.Helper()
	for _, a := range agents {
		w.exec("insert into trust (agent_id, vouched, audits_passed, since_failure) values ($1, $2, $2, $2) on conflict (agent_id) do update set vouched = $2", a.id, int64(verify.ProbationAudits))
	}
}

// TestNewcomersQuarantineNobody: no server executes shards, and five of 25 owners, who lie alike, ask for work ten times as often as others.
// They are most of those who audit. The job need not end; nobody who is honest is shut out, whatever the dice say.
func TestNewcomersQuarantineNobody(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(seed, 12))
			w := newWorld(t)
			job := w.submit(400, bounded(1e-3))
			w.settleAll()
			var polls, good []*agent
			for i := range 25 {
				a, times := w.agent(honest), 1
				if i < 5 {
					a.answer, times = liar, 10
				} else {
					good = append(good, a)
				}
				for range times {
					polls = append(polls, a)
				}
			}
			for range 250 {
				polls[dice.IntN(len(polls))].do(1 + dice.IntN(20))
				w.settleAll()
				if w.job(job.ID).State.Ended() {
					break
				}
			}
			w.check(job.ID)
			require.Positive(t, w.count("select count(*) from audits where state = 'failed'"), "results were taken back")
			require.Zero(t, w.count("select count(*) from trust where caught_at is not null"))
			require.Zero(t, w.count("select coalesce(sum(failed), 0)::bigint from trust"))
			require.Zero(t, w.count("select count(*) from wrong_alike"), "nor are honest owners taken for one voice")
			require.Len(t, good, 20)
			now := w.job(job.ID)
			require.Contains(t, now.Verification.Caveat, "no server executes shards")
		})
	}
}

// TestAJobSaysOnWhatItsBoundRests: on other agents, or on a server.
func TestAJobSaysOnWhatItsBoundRests(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	before := w.submit(30, bounded(1e-3))
	require.NotEmpty(t, w.job(before.ID).Verification.Caveat, "no server was seen")
	w.opened()
	require.Empty(t, w.job(before.ID).Verification.Caveat)
	done := w.workOff(before, 30, w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State)
	require.Empty(t, done.Verification.Caveat)
	_, err := w.store.Pool.Exec(t.Context(), "delete from ostraka.recheckers")
	require.NoError(t, err)
	require.Empty(t, w.job(before.ID).Verification.Caveat, "servers have executed what it needed")
	require.NotEmpty(t, w.job(w.submit(1, bounded(1e-3)).ID).Verification.Caveat)
	require.Nil(t, w.job(w.submit(1).ID).Verification, "a quorum promises nothing that it would rest on")
}

// TestAnOwnersRecordSpeaksForAllItsAgents: a machine that an owner adds accuses as its others do. One owner with a record is not enough.
func TestAnOwnersRecordSpeaksForAllItsAgents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known  int
		caught int64
	}{
		"nobody has a record": {0, 0},
		"one owner has":       {1, 0},
		"all owners have":     {5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			court := &court{answer: func(string, uint32) functions.Result { return functions.Result{Status: "timeout"} }}
			w := newWorld(t, withCourt(court))
			w.opened()
			others := []*agent{w.stranger("first", honest), w.stranger("second", honest), w.stranger("third", honest), w.stranger("fourth", honest), w.stranger("fifth", honest)}
			all := w.submit(1, func(j *functions.NewJob) { j.Quorum = len(others) })
			require.Equal(t, functions.JobFinished, w.workOff(all, 10, others...).State, "it is known whose machine each is")
			for _, a := range others[:c.known] { // other machines of theirs passed the audits
				w.exec("insert into trust (agent_id, owner, vouched) select gen_random_uuid(), max(owner), $2 from lease_cursors where agent_id = $1", a.id, int64(verify.ProbationAudits))
			}
			job := w.submit(40, bounded(1e-3))
			w.settleAll()
			liar := w.stranger("liar", says(`{"n":1,"sum":"7"}`))
			for liar.do(40) > 0 {
				w.settleAll()
			}
			done := w.workOff(job, 60, others...)
			require.Equal(t, functions.JobFinished, done.State, "%+v", done)
			requireTruth(t, done, truth(rangeOf(40)))
			require.Positive(t, w.count("select count(*) from audits where state = 'failed'"))
			require.Equal(t, c.caught, w.count("select count(*) from trust where caught_at is not null"))
		})
	}
}
