package engine_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/verify"
)

// redraw repeats the draws of a receipt, as whoever has the file does.
func redraw(said audit.Statement, lines []audit.ShardLine) (seen verify.Redrawn, without int, thin int64, err error) {
	r := verify.NewRedraw(said.Draws.Key(), said.Job, said.Draws.Quorum)
	for _, l := range lines {
		if l.Draw == nil {
			without++
			continue
		}
		stated := verify.Stated{
			Shard: l.Shard, Rate: verify.Rate(l.Draw.Rate), Window: l.Draw.Window, Drawn: l.Draw.Drawn, Server: l.Server, Tolerant: said.Validator != nil,
		}
		if !said.Draws.Quorum {
			stated.Agent = l.Agents[l.Draw.Agent]
		}
		if err := r.Repeat(stated); err != nil {
			return r.Redrawn, without, 0, err
		}
	}
	var policy verify.Policy
	if err := json.Unmarshal(said.Policy, &policy); err == nil && policy.TargetError > 0 {
		thin = r.Thin(verify.Derive(policy))
	}
	return r.Redrawn, without, thin, nil
}

// requireDraws has the receipt of a job made, and repeats its draws.
func (w *world) requireDraws(job uuid.UUID) (seen verify.Redrawn, without int) {
	w.t.Helper()
	w.makeReceipt(job)
	r, lines := w.receipt(job)
	require.NotNil(w.t, r.Statement.Draws)
	require.NotNil(w.t, r.Committed, "the digest was recorded when the job was submitted")
	seen, without, thin, err := redraw(r.Statement, lines)
	require.NoError(w.t, err)
	require.Zero(w.t, thin)
	return seen, without
}

// TestTheDrawsOfAJobAreRepeated: whoever has the receipt draws the same audits.
func TestTheDrawsOfAJobAreRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.workOff(w.submit(3000, bounded(1e-3)), 300, w.agent(honest), w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, job.State)
	seen, without := w.requireDraws(job.ID)
	require.Zero(t, without, "it was drawn about every result")
	require.Equal(t, w.count("select count(*) from audits where number = 0"), seen.AtOnce)
	require.Equal(t, w.count("select count(*) from audits where number > 0"), seen.OfWindow)
	require.Equal(t, w.count("select count(*) from windows"), seen.Windows)
	require.EqualValues(t, 3000, seen.AtOnce+seen.Gathered)
	require.Zero(t, w.count(`select count(*) from shards s where (pg_column_size(s) + 7) / 8
		> (pg_column_size(jsonb_populate_record(s, '{"draw_rate": null, "in_window": null}')) + 7) / 8`), "what is kept of draws fits into what a row is padded with")
	require.Equal(t, verify.RateOf(verify.LiveRate), seen.Least, "who has passed ten audits")
	require.Equal(t, verify.RateOf(verify.ProbationRate), seen.Most, "who is new")
}

// TestTheDrawsHoldWhateverHappens repeats them where a liar is caught and its results are made again, and where no server executes shards.
func TestTheDrawsHoldWhateverHappens(t *testing.T) {
	t.Parallel()
	t.Run("a liar", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCourt(&court{}))
		w.opened()
		job := w.workOff(w.submit(2500, bounded(1e-3)), 200, w.agent(honest), w.agent(liar), w.agent(honest))
		seen, _ := w.requireDraws(job.ID)
		require.Positive(t, seen.OfWindow)
	})
	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var agents []*agent
		for range 6 {
			agents = append(agents, w.agent(honest))
		}
		job := w.workOff(w.submit(600, bounded(0.01)), 40, agents...)
		require.Equal(t, functions.JobFinished, job.State)
		seen, without := w.requireDraws(job.ID)
		require.Positive(t, seen.OfWindow+seen.AtOnce)
		require.Less(t, without, 300)
	})
	t.Run("a quorum", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCourt(&court{}), spotted(0.02))
		w.opened()
		job := w.agreed(900)
		seen, without := w.requireDraws(job.ID)
		require.Zero(t, without)
		require.EqualValues(t, 900, seen.Quorum)
		require.Equal(t, w.count("select count(*) from attempts where agent_id = $1", functions.ServerAgent), seen.AtOnce)
		require.Positive(t, seen.AtOnce)
	})
	t.Run("a quorum, where the server differs in the last digit", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, withCourt(&court{answer: func(string, uint32) functions.Result { return ok(`0.3`) }}), spotted(0.02))
		w.opened()
		a, b := w.agent(always(`0.30000000000000004`)), w.agent(always(`0.30000000000000004`))
		job := w.workOff(w.submit(900, tolerant(`{"relative":1e-12}`), func(j *functions.NewJob) { j.Quorum = 2 }), 300, a, b)
		require.Equal(t, functions.JobFinished, job.State)
		seen, without := w.requireDraws(job.ID)
		require.Zero(t, without)
		require.EqualValues(t, 900, seen.Quorum)
		require.Equal(t, w.count("select count(*) from attempts where agent_id = $1", functions.ServerAgent), seen.AtOnce)
		require.Positive(t, seen.AtOnce)
	})
}

// TestAnAuditThatSomebodyChoseIsNamed has whoever runs the database choose what is audited.
func TestAnAuditThatSomebodyChoseIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.workOff(w.submit(3000, bounded(1e-3)), 300, w.agent(honest), w.agent(honest))
	chosen := w.count("select min(number) from shards where in_window is not null and agent_id = (select agent_id from audits where number > 0 order by shard desc limit 1)")
	w.exec("insert into audits (job_id, shard, agent_id, number, rate, state) select job_id, number, agent_id, 0, draw_rate, 'passed' from shards where job_id = $1 and number = $2", job.ID, chosen)
	w.exec("update shards set in_window = null where job_id = $1 and number = $2", job.ID, chosen)
	w.makeReceipt(job.ID)
	r, lines := w.receipt(job.ID)
	_, _, _, err := redraw(r.Statement, lines)
	require.ErrorContains(t, err, "is said to have been drawn")
}

// TestTheSecretIsShownWhenTheJobIsOver: before, nothing says more of it than its digest; a rerun has another.
func TestTheSecretIsShownWhenTheJobIsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(20, func(j *functions.NewJob) { j.Quorum = 2 })
	commitment := func(job uuid.UUID) string {
		var sum []byte
		require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select draws_sha256 from "+w.schema()+".jobs where id = $1", job).Scan(&sum))
		return hex.EncodeToString(sum)
	}
	said := commitment(job.ID)
	require.Len(t, said, 64)
	require.EqualValues(t, 1, w.count("select count(*) from audit where action = 'job.submit' and subject = $1 and detail ->> 'draws_sha256' = $2", job.ID.String(), said))
	_, err := w.MakeReceipt(t.Context(), w.by, w.project, job.ID)
	require.Error(t, err, "it is not over")
	w.settleAll()
	w.workOff(job, 100, w.agent(honest), w.agent(honest))
	w.makeReceipt(job.ID)
	r, _ := w.receipt(job.ID)
	require.Equal(t, said, r.Statement.Draws.Commitment)
	require.Equal(t, said, audit.DigestOf(r.Statement.Draws.Key()))
	require.NotEqual(t, said, commitment(w.agreed(3).ID), "each job has its own")

	none := w.submit(3, func(j *functions.NewJob) { j.Quorum, j.None = 0, true })
	require.Empty(t, commitment(none.ID), "nothing is drawn")
}

// TestReceiptsOfJobsOfBefore: a job that was submitted before secrets were recorded has a receipt of the first version, as it had.
func TestReceiptsOfJobsOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(500, bounded(1e-3))
	w.exec("update jobs set draws_sha256 = null where id = $1", job.ID)
	one, other := w.agent(honest), w.agent(honest)
	one.older, other.older = true, true
	job = w.workOff(job, 300, one, other)
	w.makeReceipt(job.ID)
	r, lines := w.receipt(job.ID)
	require.Equal(t, 1, r.Statement.V)
	require.Nil(t, r.Statement.Signed, "agents of before sign what only we can say anything about")
	require.Nil(t, r.Statement.Draws)
	for _, l := range lines {
		require.Nil(t, l.Draw)
	}
}

// TestAnArchiveKeepsTheDraws: the lines of an archived job are those that the receipt commits to.
func TestAnArchiveKeepsTheDraws(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.workOff(w.submit(1500, bounded(1e-3)), 300, w.agent(honest), w.agent(honest))
	before, _ := w.requireDraws(job.ID)
	_, lines := w.receipt(job.ID)
	w.archive(job.ID)
	r, kept := w.receipt(job.ID)
	require.Equal(t, lines, kept)
	after, _, _, err := redraw(r.Statement, kept)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestAReceiptWhoseSubmissionWasPruned has the secret, and says that nothing vouches for when it was chosen.
func TestAReceiptWhoseSubmissionWasPruned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(3)
	w.exec("update audit set actor = '', action = '', subject = '', detail = '{}', pruned_at = now() where action = 'job.submit' and subject = $1", job.ID.String())
	w.makeReceipt(job.ID)
	r, _ := w.receipt(job.ID)
	require.NotNil(t, r.Statement.Draws.Key())
	require.Nil(t, r.Committed)
	require.Empty(t, r.Statement.Draws.Record)
}

// TestALineWithADrawIsSmall: at most 250 bytes a shard.
func TestALineWithADrawIsSmall(t *testing.T) {
	t.Parallel()
	line, err := audit.ShardLine{
		Shard: 9_999_999, Output: audit.DigestOf(nil), Agents: []string{uuid.NewString()}, Draw: &audit.DrawStated{Rate: 10_000, Window: 40_000, Drawn: true},
	}.Canonical()
	require.NoError(t, err)
	require.LessOrEqual(t, len(append(line, '\n')), 250, bytes.NewBuffer(line).String())
}
