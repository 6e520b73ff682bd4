package engine_test

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/auditlog"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/runtime/statement"
)

// registered makes an agent a key to co-sign with.
func (w *world) registered(a *agent) ed25519.PrivateKey {
	w.t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(w.t, err)
	require.NoError(w.t, w.RegisterWitnessKey(w.t.Context(), a.id, publicKey(key), ed25519.Sign(a.key, statement.WitnessKey(publicKey(a.key), publicKey(key)))))
	return key
}

func (w *world) cosign(a *agent, key ed25519.PrivateKey, head auditlog.AuditHead, at time.Time) error {
	w.t.Helper()
	text, err := audit.Cosign([]byte(head.Checkpoint), head.Key, a.id.String(), key, at)
	require.NoError(w.t, err)
	return w.KeepCosignature(w.t.Context(), a.id, string(text))
}

func (w *world) head(project uuid.UUID) auditlog.AuditHead {
	w.t.Helper()
	head, err := w.AuditHead(w.t.Context(), project)
	require.NoError(w.t, err)
	return head
}

// TestCosignaturesAreVerifiedAndKept has agents co-sign the heads of a project's log and of the server's own.
func TestCosignaturesAreVerifiedAndKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.agent(nil), w.agent(nil)
	w.seal()
	first, now := w.head(w.project), time.Now()
	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	requireCode(t, w.cosign(a, stranger, first, now), "no_witness_key")
	key := w.registered(a)
	requireCode(t, w.cosign(a, stranger, first, now), "bad_cosignature")
	requireCode(t, w.cosign(b, key, first, now), "no_witness_key")
	requireCode(t, w.cosign(a, key, first, now.Add(-auditlog.MaxCosignatureSkew-time.Minute)), "bad_cosignature")
	require.NoError(t, w.cosign(a, key, first, now))
	require.NoError(t, w.cosign(b, w.registered(b), first, now))

	for _, project := range []uuid.UUID{w.project, uuid.Nil} {
		require.NoError(t, w.cosign(a, key, w.head(project), now))
	}
	head := w.head(w.project)
	require.Equal(t, 2, head.Owners)
	require.Len(t, head.Cosignatures, 2)
	for _, c := range head.Cosignatures {
		signed, err := audit.OpenCosigned([]byte(c.Checkpoint), head.Key, c.Key)
		require.NoError(t, err)
		require.Equal(t, first.Size, signed.Size)
	}
	_, err = audit.Open([]byte(head.Checkpoint), head.Key)
	require.NoError(t, err)
	require.Len(t, w.head(uuid.Nil).Cosignatures, 1)

	w.happen(1)
	w.seal()
	head = w.head(w.project)
	require.Zero(t, head.Owners, "nobody has co-signed this one")
	require.NoError(t, w.cosign(a, key, head, now))
	require.Equal(t, 1, w.head(w.project).Owners)
	requireCode(t, w.cosign(a, key, first, now.Add(time.Minute)), "cosignature_older")
}

// TestAHeadThatIsNotOfTheDatabaseIsNotKept has an agent co-sign what the log signed before a backup was restored.
func TestAHeadThatIsNotOfTheDatabaseIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(nil)
	w.seal()
	key, head := w.registered(a), w.head(w.project)
	w.exec("delete from audit_checkpoints")
	requireCode(t, w.cosign(a, key, head, time.Now()), "unknown_checkpoint")
	_, err := w.LogConsistency(t.Context(), a.id, w.project, 1, head.Size)
	requireCode(t, err, "log_shorter")
}

func TestAWitnessKeyIsVouchedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(nil)
	key := publicKey(w.registered(a))
	proof := func(key ed25519.PublicKey) []byte {
		return ed25519.Sign(a.key, statement.WitnessKey(publicKey(a.key), key))
	}
	require.NoError(t, w.RegisterWitnessKey(t.Context(), a.id, key, proof(key)), "the same again")
	other, _, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	requireCode(t, w.RegisterWitnessKey(t.Context(), a.id, other, proof(key)), "bad_signature")
	requireCode(t, w.RegisterWitnessKey(t.Context(), a.id, publicKey(a.key), proof(publicKey(a.key))), "bad_public_key")
	requireCode(t, w.RegisterWitnessKey(t.Context(), a.id, other[:31], proof(other[:31])), "bad_public_key")
	requireCode(t, w.RegisterWitnessKey(t.Context(), a.id, other, proof(other)), "witness_key_new")
	w.inControl("update witness_keys set registered_at = now() - $1::interval", auditlog.MinWitnessKeyAge)
	require.NoError(t, w.RegisterWitnessKey(t.Context(), a.id, other, proof(other)))
}

// TestHeartbeatsShowTheHeadsOfLogs has an agent with a lease shown two logs, and get the proof that they grow.
func TestHeartbeatsShowTheHeadsOfLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(nil)
	w.seal()
	before := w.head(w.project)
	w.happen(3)
	w.seal()
	d, err := w.Heartbeat(t.Context(), a.id, fleet.Heartbeat{})
	require.NoError(t, err)
	require.Empty(t, d.LeaseProjects)
	heads := w.LogHeads(t.Context(), []uuid.UUID{w.project})
	require.Len(t, heads, 2)
	require.Nil(t, heads[0].Project)
	require.Equal(t, w.project, *heads[1].Project)
	newest, err := audit.Open([]byte(heads[1].Checkpoint), heads[1].Key)
	require.NoError(t, err)
	proof, err := w.LogConsistency(t.Context(), a.id, w.project, before.Size, newest.Size)
	require.NoError(t, err)
	old, err := audit.Open([]byte(before.Checkpoint), before.Key)
	require.NoError(t, err)
	require.NoError(t, audit.CheckConsistency(old, newest, proof))

	_, err = w.LogConsistency(t.Context(), a.id, w.project, 2, 1)
	requireCode(t, err, "bad_sizes")
	strange, _ := w.newProject("another")
	_, err = w.LogConsistency(t.Context(), a.id, strange, 1, 1)
	requireCode(t, err, "not_found")
	many := make([]uuid.UUID, auditlog.MaxLogHeads)
	for i := range many {
		many[i] = w.project
	}
	require.Len(t, w.LogHeads(t.Context(), many[1:]), auditlog.MaxLogHeads)
	require.Len(t, w.LogHeads(t.Context(), many), auditlog.MaxLogHeads, "one past the limit")
}

// TestOneWithManyAgentsCrowdsNoOtherOut has an owner co-sign with as many agents as cosignatures are shown.
func TestOneWithManyAgentsCrowdsNoOtherOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quiet, loud := w.agent(nil), w.agent(nil)
	w.seal()
	head, now := w.head(w.project), time.Now()
	require.NoError(t, w.cosign(quiet, w.registered(quiet), head, now.Add(-time.Minute)))
	require.NoError(t, w.cosign(loud, w.registered(loud), head, now))
	require.Equal(t, 2, w.head(w.project).Owners)
	// The others are rows as the owner's agents would leave them: to make them by requests would take minutes.
	id := loud.id.String()
	w.sql(fmt.Sprintf(`insert into ostraka.agents select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'public_key', '\x' || encode(sha256(n::text::bytea), 'hex'), 'name', 'many-' || n))).*
		from ostraka.agents a, generate_series(1, %d) n where a.id = '%s'`, audit.MaxCosignatures, id))
	w.sql(`insert into ostraka.witness_keys (agent_id, key, proof) select m.id, sha256(m.id::text::bytea), k.proof
		from ostraka.agents m, ostraka.witness_keys k where m.name like 'many-%' and k.agent_id = '` + id + `'`)
	w.sql(`insert into ostraka.cosignatures select m.id, c.project_id, c.size, c.at, c.note, c.line
		from ostraka.agents m, ostraka.cosignatures c where m.name like 'many-%' and c.agent_id = '` + id + `'`)
	shown := w.head(w.project)
	require.Len(t, shown.Cosignatures, audit.MaxCosignatures)
	require.True(t, slices.ContainsFunc(shown.Cosignatures, func(c auditlog.Cosignature) bool { return c.Agent == quiet.id }))
	require.Equal(t, 2, shown.Owners)
}

// TestWhoHasALeaseSeesTheLogThatItIsShown closes a project to an agent that works for it: the heads that its heartbeats bring must be proven to
// it, or it takes the server for one that hides another history.
func TestWhoHasALeaseSeesTheLogThatItIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	w.submit(1)
	w.settleAll()
	lease, err := w.Lease(t.Context(), a.id, dispatch.Poll{Most: 1}, functions.Idempotency{})
	require.NoError(t, err)
	require.NotNil(t, lease)
	w.seal()
	size := w.head(w.project).Size
	w.inControl("delete from agent_projects where agent_id = $1", a.id)
	w.inControl("update projects set agents_open = false where id = $1", w.project)
	_, err = w.LogConsistency(t.Context(), a.id, w.project, 1, size)
	require.NoError(t, err)
	w.inControl("update leases set ended_at = now() where agent_id = $1", a.id)
	_, err = w.LogConsistency(t.Context(), a.id, w.project, 1, size)
	requireCode(t, err, "not_found")
}
