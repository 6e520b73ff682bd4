package engine_test

import (
	"bytes"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
)

// downloaded is the file of a receipt.
func (w *world) downloaded(job uuid.UUID) []byte {
	w.t.Helper()
	var text bytes.Buffer
	for part, err := range w.ReceiptBytes(w.t.Context(), w.project, job, true) {
		require.NoError(w.t, err)
		text.Write(part)
	}
	return text.Bytes()
}

// TestAReceiptHasWhatItsAgentsHaveSigned makes the receipt of a job of two agents of now and one of before, and makes it anew when its attempts are
// packed, and reads it when the job is an archive: the signatures are the same.
func TestAReceiptHasWhatItsAgentsHaveSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job := w.submit(2100, func(j *functions.NewJob) { j.Quorum = 2 })
	w.settleAll()
	one, other, older := w.agent(honest), w.agent(honest), w.agent(honest)
	older.older = true
	older.do(100)
	for one.do(90)+other.do(70) > 0 {
		w.settleAll()
	}
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	require.EqualValues(t, 2, w.count("select count(*) from audit where action = 'agent.key'"), "one record for each agent that signs its work")

	w.makeReceipt(job.ID)
	r, lines, check, err := w.signedReceipt(job.ID)
	require.NoError(t, err)
	require.Equal(t, 4, r.Statement.V)
	signed, unsigned := check.Signed()
	require.EqualValues(t, 100, unsigned, "what the agent of before gave")
	require.EqualValues(t, 4100, signed)
	require.Len(t, check.Agents(), 2)
	require.Len(t, lines, 2100)
	plain := 0
	for _, l := range lines {
		text, err := l.Canonical()
		require.NoError(t, err)
		plain += len(text) + 1
	}
	whole := w.downloaded(job.ID)
	first := bytes.IndexByte(whole, '\n') + 1
	t.Logf("%d bytes a shard, of which %.1f are signatures of %d agents in %d submissions", (len(whole)-first)/len(lines),
		float64(len(whole)-first-plain)/float64(len(lines)), r.Statement.Signed.Agents, r.Statement.Signed.Submissions)
	require.Less(t, (len(whole)-first)/len(lines), 250, "bytes a shard")

	w.packEnded()
	require.Positive(t, w.count("select count(*) from attempt_pages"))
	require.Zero(t, w.count("select count(*) from attempts"))
	w.age(job.ID)
	w.makeReceipt(job.ID)
	packed, _, _, err := w.signedReceipt(job.ID)
	require.NoError(t, err)
	require.Equal(t, r.Statement.Signed, packed.Statement.Signed, "of packed attempts")
	before := w.downloaded(job.ID)

	_, err = w.PruneAudit(t.Context(), w.by, w.project, packed.Record.At.Add(1))
	require.NoError(t, err)
	w.archive(job.ID)
	archived, _, check, err := w.signedReceipt(job.ID)
	require.NoError(t, err)
	require.Equal(t, packed.Statement, archived.Statement)
	again, _ := check.Signed()
	require.Equal(t, signed, again, "of an archive, and of a log that was pruned")
	require.Equal(t, bytes.Count(before, []byte("\n")), bytes.Count(w.downloaded(job.ID), []byte("\n")))
}

// TestAServerThatSwapsAResultIsFoundOut: whoever has the database and the key of the log changes an accepted result, or whose it is.
func TestAServerThatSwapsAResultIsFoundOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ swap, want string }{
		"another output": {
			`update attempts set output = '{"n":1,"sum":7}', output_digest = sha256('{"n":1,"sum":7}'), outcome = sha256('{"n":1,"sum":7}') where shard = 4`,
			"has not signed what the receipt says",
		},
		"another agent": {
			"update attempts a set agent_id = (select agent_id from attempts b where b.agent_id <> a.agent_id limit 1) where shard = 4",
			"has signed a result of shard 4, and the receipt does not name it there",
		},
		"another agent for a whole submission": {
			`with one as (select id, agent_id from submissions order by id limit 1), other as (select agent_id from agent_keys where agent_id <> (select agent_id from one) limit 1),
			a as (update attempts set agent_id = (table other) where submission_id = (select id from one)),
			s as (update shards set agent_id = (table other) where agent_id = (select agent_id from one) and number in (select shard from attempts where submission_id = (select id from one)))
			update submissions set agent_id = (table other) where id = (select id from one)`,
			"has not signed what the receipt says",
		},
		"another lease": {"update submissions set lease_id = (select lease_id from submissions b where b.lease_id <> submissions.lease_id limit 1)", "has not signed what the receipt says"},
	} {
		w := newWorld(t)
		job := w.submit(20, func(j *functions.NewJob) { j.Quorum = 1 })
		w.settleAll()
		one, other := w.agent(honest), w.agent(honest)
		for one.do(7)+other.do(6) > 0 {
			w.settleAll()
		}
		require.Equal(t, functions.JobFinished, w.job(job.ID).State, name)
		w.exec(c.swap)
		w.exec("update shards s set agent_id = a.agent_id from attempts a where a.job_id = s.job_id and a.shard = s.number")
		w.makeReceipt(job.ID)
		_, _, _, err := w.signedReceipt(job.ID)
		require.ErrorContains(t, err, c.want, name)
	}
}

// TestASignatureIsOfItsJob: an agent's signature over the work of one lease is refused for another, and where it names another function.
func TestASignatureIsOfItsJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(4)
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(4)
	results := a.results(lease.Shards)
	for name, change := range map[string]func(*functions.Lease){
		"another job":      func(l *functions.Lease) { l.Job = uuid.New() },
		"another project":  func(l *functions.Lease) { l.Project = uuid.New() },
		"another function": func(l *functions.Lease) { l.BundleDigest = audit.DigestOf(nil) },
		"another lease":    func(l *functions.Lease) { l.ID = uuid.New() },
	} {
		changed := *lease
		change(&changed)
		a.leases.Store(lease.ID, &changed)
		_, err := a.post(lease.ID, results...)
		require.ErrorIs(t, err, functions.ErrBadSignature, name)
	}
	require.Zero(t, w.count("select count(*) from agent_keys"))
	a.leases.Store(lease.ID, lease)
	a.report(lease)
	require.EqualValues(t, 1, w.count("select count(*) from agent_keys"))
}
