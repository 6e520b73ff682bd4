package engine_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	dispatchsql "github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/testenv"
)

func TestAKeyEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	soon := functions.Expiry{At: time.Now().Add(time.Hour)}
	key, secret, replayed, err := w.CreateKey(ctx, w.by, w.project, "ci", functions.RoleSubmitter, &soon, functions.Idempotency{Key: "k"})
	require.NoError(t, err)
	require.False(t, replayed)
	p, err := w.Authenticate(ctx, secret)
	require.NoError(t, err)
	require.Equal(t, functions.Principal{KeyID: key.ID, Role: functions.RoleSubmitter, Project: w.project}, p)
	again, none, replayed, err := w.CreateKey(ctx, w.by, w.project, "ci", functions.RoleSubmitter, &soon, functions.Idempotency{Key: "k"})
	require.NoError(t, err)
	require.True(t, replayed)
	require.Empty(t, none, "a secret is shown once")
	require.Equal(t, key.ID, again.ID)

	require.NoError(t, w.RevokeKey(ctx, w.by, w.project, key.ID))
	_, err = w.Authenticate(ctx, secret)
	requireCode(t, err, "bad_key")
	require.NoError(t, w.RevokeKey(ctx, w.by, w.project, key.ID))
	requireCode(t, w.RevokeKey(ctx, w.by, w.project, uuid.New()), "not_found")

	_, secret, _, err = w.CreateKey(ctx, w.by, w.project, "short", functions.RoleViewer, &soon, functions.Idempotency{})
	require.NoError(t, err)
	w.sql("update ostraka.api_keys set expires_at = now() where name = 'short'")
	_, err = w.Authenticate(ctx, secret)
	requireCode(t, err, "bad_key")
	for _, bad := range []string{"", "x", secret + "x", "ostraka_" + strings.Repeat("x", 1<<20), "ostraka_\x00"} {
		_, err = w.Authenticate(ctx, bad)
		requireCode(t, err, "bad_key")
	}
	_, secret, err = w.CreateOperatorKey(ctx, "me", nil)
	require.NoError(t, err)
	p, err = w.Authenticate(ctx, secret)
	require.NoError(t, err)
	require.Equal(t, functions.RoleOperator, p.Role)
	require.Zero(t, w.controlCount("select count(*) from api_keys k where k::text like '%' || $1 || '%'", secret), "the secret is not stored")
	list, err := w.ListKeys(ctx, w.project, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 3)
}

// TestAKeyIsRotatedWithAnOverlap: both work for a while, the old one never longer than it would have.
func TestAKeyIsRotatedWithAnOverlap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	old, secret, _, err := w.CreateKey(ctx, w.by, w.project, "ci", functions.RoleSubmitter, nil, functions.Idempotency{})
	require.NoError(t, err)
	_, _, _, err = w.RotateKey(ctx, w.by, w.project, old.ID, -time.Second, nil, functions.Idempotency{})
	requireCode(t, err, "bad_overlap")
	_, _, _, err = w.RotateKey(ctx, w.by, w.project, old.ID, tenant.MaxKeyOverlap+time.Second, nil, functions.Idempotency{})
	requireCode(t, err, "bad_overlap")
	_, _, _, err = w.RotateKey(ctx, w.by, w.project, uuid.New(), time.Hour, nil, functions.Idempotency{})
	requireCode(t, err, "not_found")
	idem := functions.Idempotency{Key: "k"}
	next, newSecret, again, err := w.RotateKey(ctx, w.by, w.project, old.ID, tenant.MaxKeyOverlap, nil, idem)
	require.NoError(t, err)
	require.False(t, again)
	require.Equal(t, "ci", next.Name)
	require.Equal(t, functions.RoleSubmitter, next.Role)
	same, none, again, err := w.RotateKey(ctx, w.by, w.project, old.ID, tenant.MaxKeyOverlap, nil, idem)
	require.NoError(t, err)
	require.True(t, again)
	require.Empty(t, none, "a secret is shown once")
	require.Equal(t, next.ID, same.ID)
	for _, s := range []string{secret, newSecret} {
		_, err = w.Authenticate(ctx, s)
		require.NoError(t, err, "both work")
	}
	_, _, _, err = w.RotateKey(ctx, w.by, w.project, old.ID, 0, nil, functions.Idempotency{})
	require.NoError(t, err)
	_, err = w.Authenticate(ctx, secret)
	requireCode(t, err, "bad_key")
	_, _, _, err = w.RotateKey(ctx, w.by, w.project, old.ID, time.Hour, nil, functions.Idempotency{})
	requireCode(t, err, "key_ended")
	_, err = w.Authenticate(ctx, secret)
	requireCode(t, err, "bad_key")
}

// TestALostOwnersKeyIsReplacedInTheOpen: the project's own log says who made the new one, and why.
func TestALostOwnersKeyIsReplacedInTheOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	_, _, _, err := w.RecoverOwner(ctx, w.by, w.project, "new", "", nil, functions.Idempotency{})
	requireCode(t, err, "bad_reason")
	_, _, _, err = w.RecoverOwner(ctx, w.by, uuid.New(), "new", "lost", nil, functions.Idempotency{})
	requireCode(t, err, "not_found")
	k, secret, _, err := w.RecoverOwner(ctx, w.by, w.project, "new", "lost with her laptop", nil, functions.Idempotency{})
	require.NoError(t, err)
	p, err := w.Authenticate(ctx, secret)
	require.NoError(t, err)
	require.Equal(t, functions.RoleOwner, p.Role)
	require.Equal(t, w.project, p.Project)
	require.EqualValues(t, 1, w.count("select count(*) from audit where action = 'key.recover' and subject = $1 and detail->>'reason' = 'lost with her laptop'", k.ID.String()))
	require.EqualValues(t, 1, w.controlCount("select count(*) from server_audit where action = 'key.recover' and subject = $1", k.ID.String()))
}

// TestOperatorsKeysAreListedAndEnd with the sessions that they opened; a project's keys are not among them.
func TestOperatorsKeysAreListedAndEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	past := functions.Expiry{At: time.Now().Add(-time.Second)}
	_, _, err := w.CreateOperatorKey(ctx, "late", &past)
	requireCode(t, err, "bad_expiry")
	_, _, err = w.CreateOperatorKey(ctx, "", nil)
	requireCode(t, err, "bad_name")
	name := uuid.NewString() // tests share the installation
	_, secret, err := w.CreateOperatorKey(ctx, name, nil)
	require.NoError(t, err)
	find := func() (found functions.Key) {
		page := functions.ListPage{Limit: 500}
		for {
			keys, err := w.ListOperatorKeys(ctx, page)
			require.NoError(t, err)
			for _, k := range keys {
				require.Equal(t, functions.RoleOperator, k.Role)
				if k.Name == name {
					found = k
				}
			}
			if len(keys) < page.Limit {
				return found
			}
			page.After = keys[len(keys)-1].ID.String()
		}
	}
	made := find()
	require.Nil(t, made.UsedAt, "it was not used yet")
	p, err := w.Authenticate(ctx, secret)
	require.NoError(t, err)
	used := find().UsedAt
	require.NotNil(t, used)
	_, err = w.Authenticate(ctx, secret)
	require.NoError(t, err)
	require.Equal(t, used, find().UsedAt, "one write in some minutes, not one a request")
	session, err := w.OpenSession(ctx, p, "browser")
	require.NoError(t, err)
	_, err = w.AuthenticateSession(ctx, session)
	require.NoError(t, err)

	list, err := w.ListKeys(ctx, w.project, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	for _, k := range list {
		requireCode(t, w.RevokeOperatorKey(ctx, k.ID), "not_found")
	}
	require.NoError(t, w.RevokeOperatorKey(ctx, made.ID))
	require.NoError(t, w.RevokeOperatorKey(ctx, made.ID), "revoking twice is harmless")
	_, err = w.Authenticate(ctx, secret)
	requireCode(t, err, "bad_key")
	_, err = w.AuthenticateSession(ctx, session)
	require.Error(t, err)
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	past := functions.Expiry{At: time.Now().Add(-time.Second)}
	for _, c := range []struct {
		code, name string
		role       functions.Role
		expires    *functions.Expiry
	}{
		{"bad_role", "k", functions.RoleOperator, nil},
		{"bad_role", "k", functions.RoleAgent, nil},
		{"bad_role", "k", "god", nil},
		{"bad_name", "", functions.RoleViewer, nil},
		{"bad_name", strings.Repeat("ü", functions.MaxLabel+1), functions.RoleViewer, nil},
		{"bad_text", "a\x00b", functions.RoleViewer, nil},
		{"bad_text", "a\xffb", functions.RoleViewer, nil},
		{"bad_expiry", "k", functions.RoleViewer, &past},
		{"bad_expiry", "k", functions.RoleViewer, &functions.Expiry{Seconds: int64(functions.MaxLifetime.Seconds()) + 1}},
		{"bad_expiry", "k", functions.RoleViewer, &functions.Expiry{Seconds: -1}},
		{"bad_expiry", "k", functions.RoleViewer, &functions.Expiry{At: time.Now().Add(time.Hour), Seconds: 1}},
	} {
		_, _, _, err := w.CreateKey(t.Context(), w.by, w.project, c.name, c.role, c.expires, functions.Idempotency{})
		requireCode(t, err, c.code)
	}
	_, _, _, err := w.CreateKey(t.Context(), w.by, w.project, strings.Repeat("ü", functions.MaxLabel), functions.RoleViewer, nil, functions.Idempotency{})
	require.NoError(t, err)
}

func TestEnrolment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	proof := prove(private, w.token)
	try := func(token string, e fleet.Enrolment, proof []byte) error {
		_, _, err := w.Enrol(ctx, token, e, proof, "")
		return err
	}
	good := enrolment(private, "a")
	bad := good
	bad.Isolation = "perfect"
	requireCode(t, try(w.token, bad, proof), "bad_isolation")
	bad = good
	bad.PublicKey = public[:31]
	requireCode(t, try(w.token, bad, proof), "bad_public_key")
	bad = good
	bad.Name = ""
	requireCode(t, try(w.token, bad, proof), "bad_name")
	bad = good
	bad.Platform.OS = "a\x00"
	requireCode(t, try(w.token, bad, proof), "bad_text")
	require.ErrorIs(t, try(w.token, good, proof[:63]), functions.ErrBadSignature)
	require.ErrorIs(t, try(w.newToken(w.project), good, proof), functions.ErrBadSignature, "a proof is for one token")
	requireCode(t, try("ostraka_enrol_no", good, prove(private, "ostraka_enrol_no")), "bad_token")

	first, oldKey, err := w.Enrol(ctx, w.token, good, proof, "")
	require.NoError(t, err)
	_, _, err = w.Enrol(ctx, w.token, good, proof, "")
	requireCode(t, err, "agent_outdated")
	second, newKey, err := w.join(private, w.token, "renamed", "")
	require.NoError(t, err)
	require.Equal(t, first.ID, second.ID)
	require.Equal(t, "renamed", second.Name)
	_, err = w.Authenticate(ctx, oldKey)
	requireCode(t, err, "bad_key")
	p, err := w.Authenticate(ctx, newKey)
	require.NoError(t, err)
	require.Equal(t, functions.Principal{KeyID: p.KeyID, Role: functions.RoleAgent, Agent: first.ID}, p)

	tokens, err := w.ListEnrolmentTokens(ctx, w.project, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.NoError(t, w.RevokeEnrolmentToken(ctx, w.by, w.project, tokens[0].ID))
	requireCode(t, try(w.token, good, proof), "bad_token")
	_, err = w.Authenticate(ctx, newKey)
	require.NoError(t, err, "agents that have joined stay")
}

func TestARevokedAgentIsOutAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.submit(10, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(5)
	revoked, err := w.DecideAgent(ctx, w.server, a.id, fleet.RevokeAgent, "")
	require.NoError(t, err)
	require.Equal(t, fleet.AgentRevoked, revoked.State)
	_, err = w.Authenticate(ctx, a.secret)
	requireCode(t, err, "agent_revoked")
	_, err = a.Lease(ctx, 1, 0)
	require.ErrorIs(t, err, functions.ErrAgentRevoked)
	_, err = a.post(lease.ID, a.results(lease.Shards)...)
	require.ErrorIs(t, err, functions.ErrAgentRevoked)
	w.settleAll()
	w.check(job.ID)
	b := w.agent(honest)
	require.Equal(t, 10, b.do(10)+b.do(10), "its shards are lent again, after those that nobody had yet")
	_, _, err = w.join(a.key, w.token, "back", "")
	require.ErrorIs(t, err, functions.ErrAgentRevoked, "the same key does not come back")
	_, err = w.DecideAgent(ctx, w.server, uuid.New(), fleet.RevokeAgent, "")
	requireCode(t, err, "not_found")
}

// TestAPollOfARevokedAgentGetsNothing revokes agents while their polls wait, and then brings work.
func TestAPollOfARevokedAgentGetsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	a := w.agent(honest)
	ctx, cancel := context.WithCancel(t.Context())
	var poll sync.WaitGroup
	poll.Go(func() {
		if lease, err := a.Lease(ctx, 5, fleet.MaxLeaseWait); lease != nil || !errors.Is(err, functions.ErrAgentRevoked) {
			t.Errorf("lease %v, error %v", lease, err)
		}
	})
	testenv.Eventually(t, func() bool {
		return w.controlCount("select count(*) from agents where id = $1 and last_seen_at is not null", a.id) == 1
	}, "the agent polls")
	_, err := w.DecideAgent(t.Context(), w.server, a.id, fleet.RevokeAgent, "")
	require.NoError(t, err)
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum = 1 })
	done := w.swarm(job.ID, 1, w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State)
	poll.Wait() // it has heard of it, and did not wait any longer
	cancel()
}

// TestARevocationIsSeenByALeaseThatIsBeingGiven revokes an agent after its poll was let in and before it has its lease.
func TestARevocationIsSeenByALeaseThatIsBeingGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(5)
	w.settleAll()
	a := w.agent(honest)
	asked, release := w.holdUp(dispatchsql.IndexLease)
	refused := make(chan error, 1)
	go func() {
		_, err := a.Lease(t.Context(), 5, 0)
		refused <- err
	}()
	<-asked
	_, err := w.DecideAgent(t.Context(), w.server, a.id, fleet.RevokeAgent, "")
	require.NoError(t, err)
	release()
	require.ErrorIs(t, <-refused, functions.ErrNotEnrolled)
	w.settleAll()
	require.Zero(t, w.controlCount("select count(*) from leases"))
	require.Zero(t, w.count("select count(*) from leases"))
	w.check(job.ID)
}

func TestProjectNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, _, err := w.CreateProject(t.Context(), w.server, "primes", functions.Idempotency{})
	requireCode(t, err, "name_taken")
	_, _, _, err = w.CreateProject(t.Context(), w.server, "No Name", functions.Idempotency{})
	requireCode(t, err, "bad_name")
	var roles int
	require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select count(*) from pg_namespace where nspname like 'project\\_%'").Scan(&roles))
	require.Equal(t, 1, roles, "what was refused leaves no schema")
	list, err := w.ListProjects(t.Context(), functions.ListPage{Limit: 5})
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, err = w.ListProjects(t.Context(), functions.ListPage{After: "x", Limit: 5})
	requireCode(t, err, "bad_cursor")
}
