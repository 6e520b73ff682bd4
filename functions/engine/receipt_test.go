package engine_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
)

// makeReceipt asks for the receipt of a job, and makes it.
func (w *world) makeReceipt(job uuid.UUID) auditlog.JobReceipt {
	w.t.Helper()
	asked, err := w.MakeReceipt(w.t.Context(), w.by, w.project, job)
	require.NoError(w.t, err)
	require.Equal(w.t, auditlog.ReceiptMaking, asked.State)
	w.settleAll()
	w.seal()
	made, err := w.GetReceipt(w.t.Context(), w.project, job)
	require.NoError(w.t, err)
	require.Equal(w.t, auditlog.ReceiptMade, made.State)
	return made
}

// receipt downloads a receipt with its shards, and verifies both.
func (w *world) receipt(job uuid.UUID) (r audit.Receipt, shards []audit.ShardLine) {
	w.t.Helper()
	r, shards, _, err := w.signedReceipt(job)
	require.NoError(w.t, err)
	return r, shards
}

// signedReceipt is the same with what agents have signed of it.
func (w *world) signedReceipt(job uuid.UUID) (r audit.Receipt, shards []audit.ShardLine, signatures *audit.SignatureCheck, wrong error) {
	w.t.Helper()
	head, err := w.AuditHead(w.t.Context(), w.project)
	require.NoError(w.t, err)
	var text bytes.Buffer
	for part, err := range w.ReceiptBytes(w.t.Context(), w.project, job, true) {
		require.NoError(w.t, err)
		text.Write(part)
	}
	lines := bytes.Split(bytes.TrimSuffix(text.Bytes(), []byte("\n")), []byte("\n"))
	r, err = audit.OpenReceipt(lines[0], head.Key)
	require.NoError(w.t, err)
	var peaks audit.Peaks
	signatures = audit.NewSignatureCheck(r)
	for _, line := range lines[1:] {
		if audit.IsSignedLine(line) {
			wrong = errors.Join(wrong, signatures.Line(line))
			continue
		}
		shard, err := audit.ParseShardLine(line)
		require.NoError(w.t, err)
		shards = append(shards, shard)
		peaks.Add(audit.Leaf(line))
		wrong = errors.Join(wrong, signatures.Shard(shard))
	}
	root := peaks.Root()
	require.Equal(w.t, r.Statement.Shards.Root, hex.EncodeToString(root[:]), "the tree is that of the lines")
	require.Equal(w.t, r.Statement.Shards.Accepted, peaks.Size())
	return r, shards, signatures, errors.Join(wrong, signatures.End())
}

// age has the receipt of a job made long ago.
func (w *world) age(job uuid.UUID) {
	w.t.Helper()
	w.exec("update receipts set made_at = made_at - interval '1 hour' where job_id = $1", job)
}

// agreed runs a job of that many shards to its end.
func (w *world) agreed(shards int64, change ...func(*functions.NewJob)) functions.Job {
	w.t.Helper()
	job := w.submit(shards, append([]func(*functions.NewJob){func(j *functions.NewJob) { j.Quorum = 2 }}, change...)...)
	w.settleAll()
	a, b := w.agent(honest), w.agent(honest)
	for a.do(700)+b.do(700) > 0 {
		w.settleAll()
	}
	w.settleAll()
	job = w.job(job.ID)
	require.Equal(w.t, functions.JobFinished, job.State)
	return job
}

func TestAReceiptSaysWhatTheJobWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(20)
	made := w.makeReceipt(job.ID)
	require.EqualValues(t, 20, made.Done)
	require.EqualValues(t, 20, made.Shards)
	require.Equal(t, w.by.Actor(), made.AskedBy)
	r, shards := w.receipt(job.ID)
	said := r.Statement
	require.Equal(t, w.project.String(), said.Project)
	require.Equal(t, job.ID.String(), said.Job)
	require.Equal(t, "finished", said.State)
	f, err := w.GetFunction(t.Context(), w.project, job.Function, job.Version)
	require.NoError(t, err)
	require.Equal(t, f.Digest, said.Function.Digest)
	require.JSONEq(t, string(job.Aggregate.Value), string(said.Answer.Value))
	require.Equal(t, audit.DigestOf(job.Aggregate.Value), said.Answer.Digest)
	require.EqualValues(t, 20, said.Answer.Count)
	require.Contains(t, string(said.Policy), `"quorum":2`)
	require.Len(t, shards, 20)
	var results []jobs.ResultLine
	for line, err := range w.Results(t.Context(), w.project, job.ID, jobs.ResultQuery{After: -1}) {
		require.NoError(t, err)
		results = append(results, line)
	}
	for i, line := range shards {
		require.Equal(t, results[i].Shard, line.Shard)
		require.Equal(t, results[i].OutputDigest, line.Output)
		require.Len(t, line.Agents, 2, "both have given it")
		require.Contains(t, line.Agents, results[i].Agent.String())
		require.False(t, line.Server)
	}
	require.Equal(t, audit.ReceiptAction, r.Record.Action)
}

func TestAReceiptIsOfAJobThatHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3)
	w.settleAll()
	_, err := w.MakeReceipt(t.Context(), w.by, w.project, job.ID)
	require.ErrorIs(t, err, auditlog.ErrNoAnswer)
	require.Contains(t, err.Error(), "is running")
	_, err = w.GetReceipt(t.Context(), w.project, job.ID)
	require.ErrorIs(t, err, auditlog.ErrReceiptNotMade)
	_, err = w.MakeReceipt(t.Context(), w.by, w.project, uuid.New())
	requireCode(t, err, "not_found")
	_, err = w.cancel(job.ID)
	require.NoError(t, err)
	_, err = w.MakeReceipt(t.Context(), w.by, w.project, job.ID)
	require.ErrorIs(t, err, auditlog.ErrNoAnswer)
	require.ErrorIs(t, firstError(w.ReceiptBytes(t.Context(), w.project, job.ID, false)), auditlog.ErrReceiptNotMade)
	requireCode(t, firstError(w.ReceiptBytes(t.Context(), w.project, uuid.New(), false)), "not_found")
	_, err = w.DeleteJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err)
	_, err = w.MakeReceipt(t.Context(), w.by, w.project, job.ID)
	require.ErrorIs(t, err, functions.ErrJobDeleted)
	_, err = w.GetReceipt(t.Context(), w.project, job.ID)
	require.ErrorIs(t, err, functions.ErrJobDeleted)
	require.ErrorIs(t, firstError(w.ReceiptBytes(t.Context(), w.project, job.ID, false)), functions.ErrJobDeleted)
	require.Equal(t, partition.MaxShards, audit.MaxReceiptShards, "whatever the number of shards")
}

// TestAReceiptOutlivesItsRecord: the log may be pruned, and the receipt proves what it has proved.
func TestAReceiptOutlivesItsRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(3)
	w.makeReceipt(job.ID)
	before, _ := w.receipt(job.ID)
	_, err := w.PruneAudit(t.Context(), w.by, w.project, before.Record.At.Add(1))
	require.NoError(t, err)
	w.seal()
	after, _ := w.receipt(job.ID)
	require.Equal(t, before.Digest, after.Digest)
	require.Equal(t, before.Record, after.Record)
	require.Greater(t, after.Head.Size, before.Head.Size)
}

// TestAReceiptIsMadeAnew: after a further aggregation it is about the new answer. Asking twice while it is made makes one.
func TestAReceiptIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(3)
	w.makeReceipt(job.ID)
	first, _ := w.receipt(job.ID)
	again, err := w.MakeReceipt(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, auditlog.ReceiptMade, again.State, "it was made a moment ago")
	w.age(job.ID)
	for range 2 {
		again, err = w.MakeReceipt(t.Context(), w.by, w.project, job.ID)
		require.NoError(t, err)
		require.Equal(t, auditlog.ReceiptMaking, again.State)
		before, _ := w.receipt(job.ID)
		require.Equal(t, first.Digest, before.Digest, "what was made is there until the new one is")
	}
	_, _, err = w.Reaggregate(t.Context(), w.by, w.project, job.ID, aggregation.NewAggregation{Module: "count"}, functions.Idempotency{})
	require.NoError(t, err)
	w.settleAll()
	w.seal()
	w.makeReceipt(job.ID)
	second, _ := w.receipt(job.ID)
	require.Equal(t, first.Statement.Run+1, second.Statement.Run)
	require.Contains(t, string(second.Statement.Aggregator), `"count"`)
	require.Equal(t, first.Statement.Shards.Root, second.Statement.Shards.Root)
	require.Equal(t, int64(3), w.count("select count(*) from audit where action = 'job.receipt'"))
}

// TestMakingAReceiptMayBeCutOffAnywhere makes one of two pages, cut off at each statement, and it is the one of a quiet run.
func TestMakingAReceiptMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(1030)
	w.makeReceipt(job.ID)
	quiet, lines := w.receipt(job.ID)
	require.Len(t, lines, 1030)
	w.age(job.ID)
	w.cutOff(uuid.Nil, func() error {
		_, err := w.MakeReceipt(t.Context(), w.by, w.project, job.ID)
		return err
	})
	cuts := 0
	w.drain(func(s waiting) {
		cuts += w.cutOff(uuid.Nil, func() error { return w.step(s) })
		require.NoError(t, w.step(s), "and once more")
	})
	require.Greater(t, cuts, 8)
	w.seal()
	again, _ := w.receipt(job.ID)
	require.Equal(t, quiet.Statement, again.Statement)
	require.Equal(t, int64(2), w.count("select count(*) from audit where action = 'job.receipt'"))
}

// TestAReceiptOfAFailedJob names what failed, and has no line for it.
func TestAReceiptOfAFailedJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(4, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(func(input string) functions.Result {
		r := honest(input)
		if a := "2"; bytes.Contains([]byte(input), []byte(a)) {
			return functions.Result{Status: "error"}
		}
		return r
	})
	for a.do(10) > 0 {
		w.settleAll()
	}
	w.settleAll()
	job = w.job(job.ID)
	if job.State != functions.JobFailed {
		t.Fatalf("the job is %s: %+v", job.State, job.Shards)
	}
	w.makeReceipt(job.ID)
	r, lines := w.receipt(job.ID)
	require.Equal(t, "failed", r.Statement.State)
	require.Equal(t, job.Error, r.Statement.Error)
	require.Equal(t, job.Shards.Failed, r.Statement.Shards.Failed)
	require.Len(t, lines, int(job.Shards.Accepted))
}

// TestAReceiptHasItsWitnesses has agents of two owners co-sign an older head, and one of them the newest: the receipt is proven by the one with
// more owners behind it, and has one agent of each.
func TestAReceiptHasItsWitnesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(5)
	w.makeReceipt(job.ID)
	r, _ := w.receipt(job.ID)
	require.Empty(t, r.Witnesses, "nobody has co-signed a head that has the record")
	one, second, other := w.agent(nil), w.agent(nil), w.agent(nil)
	for _, a := range []*agent{one, second} {
		_, err := w.AssignOwner(t.Context(), w.server, a.id, "ada")
		require.NoError(t, err)
	}
	w.seal()
	older, now := w.head(w.project), time.Now()
	keys := map[*agent]ed25519.PrivateKey{}
	for _, a := range []*agent{one, second, other} {
		keys[a] = w.registered(a)
		require.NoError(t, w.cosign(a, keys[a], older, now))
	}
	w.happen(3)
	w.seal()
	newest := w.head(w.project)
	require.NoError(t, w.cosign(one, keys[one], newest, now))
	r, _ = w.receipt(job.ID)
	require.Equal(t, older.Size, r.Head.Size)
	require.Len(t, r.Witnesses, 2, "one of each owner")
	known, err := audit.Witness(other.id.String(), publicKey(keys[other]))
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(r.Witnesses, func(s audit.WitnessSeen) bool { return s.Key == known }))

	w.exec("update audit_checkpoints set note = replace(note, size::text, (size - 1)::text) where size = $1", older.Size)
	r, _ = w.receipt(job.ID)
	require.Empty(t, r.Witnesses, "what the log does not have is not shown")
	require.Equal(t, newest.Size, r.Head.Size)
}

// TestAReceiptLooksAtTheNewestCosignatures has two owners co-sign a head, and very many agents of one of them a newer one: at 10,000 the older
// head is looked at, and at one more it is not whole.
func TestAReceiptLooksAtTheNewestCosignatures(t *testing.T) {
	t.Parallel()
	const most = 10_000
	w := newWorld(t)
	job := w.agreed(5)
	w.makeReceipt(job.ID)
	one, other, loud := w.agent(nil), w.agent(nil), w.agent(nil)
	w.seal()
	older, now := w.head(w.project), time.Now()
	for _, a := range []*agent{one, other} {
		require.NoError(t, w.cosign(a, w.registered(a), older, now))
	}
	w.happen(3)
	w.seal()
	newest, id := w.head(w.project), loud.id.String()
	require.NoError(t, w.cosign(loud, w.registered(loud), newest, now))
	many := func(from, to int) { // rows as the owner's agents would leave them
		w.sql(fmt.Sprintf(`insert into ostraka.agents select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'public_key', '\x' || encode(sha256(n::text::bytea), 'hex'), 'name', 'many-' || n))).*
			from ostraka.agents a, generate_series(%d, %d) n where a.id = '%s'`, from, to, id))
		w.sql(`insert into ostraka.witness_keys (agent_id, key, proof) select m.id, sha256(m.id::text::bytea), k.proof
			from ostraka.agents m, ostraka.witness_keys k where m.name like 'many-%' and k.agent_id = '` + id + `' on conflict do nothing`)
		w.sql(`insert into ostraka.cosignatures select m.id, c.project_id, c.size, c.at, c.note, c.line
			from ostraka.agents m, ostraka.cosignatures c where m.name like 'many-%' and c.agent_id = '` + id + `' on conflict do nothing`)
	}
	many(1, most-3)
	r, _ := w.receipt(job.ID)
	require.Equal(t, older.Size, r.Head.Size, "two owners are more than one")
	many(most-2, most-2)
	r, _ = w.receipt(job.ID)
	require.Equal(t, newest.Size, r.Head.Size)
}
