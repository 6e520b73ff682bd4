package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/tenant"
)

// keyOf makes a key of the project and says who its holder is.
func keyOf(t *testing.T, w *world, role functions.Role) functions.Principal {
	t.Helper()
	_, secret, _, err := w.CreateKey(t.Context(), w.by, w.project, string(role), role, nil, functions.Idempotency{})
	require.NoError(t, err)
	p, err := w.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	return p
}

func TestASessionEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	open := func(as functions.Principal) string {
		secret, err := w.OpenSession(ctx, as, "a browser")
		require.NoError(t, err)
		p, err := w.AuthenticateSession(ctx, secret)
		require.NoError(t, err)
		require.NotEqual(t, uuid.Nil, p.Session)
		p.Session = uuid.Nil
		require.Equal(t, as, p)
		return secret
	}
	ended := func(secret, why string) {
		t.Helper()
		_, err := w.AuthenticateSession(ctx, secret)
		requireCode(t, err, "no_session")
		require.NotEmpty(t, why)
	}
	viewer := keyOf(t, w, functions.RoleViewer)

	secret := open(viewer)
	require.Zero(t, w.controlCount("select count(*) from sessions s where s::text like '%' || $1 || '%'", secret), "the secret is not stored")
	w.sql("update ostraka.sessions set seen_at = now() - $1::interval + interval '1 minute'", tenant.SessionIdle)
	_, err := w.AuthenticateSession(ctx, secret)
	require.NoError(t, err, "it slides")
	require.EqualValues(t, 1, w.controlCount("select count(*) from sessions where seen_at > now() - interval '1 minute'"))
	w.sql("update ostraka.sessions set seen_at = now() - $1::interval", tenant.SessionIdle)
	ended(secret, "it was not used")

	secret = open(viewer)
	w.sql("update ostraka.sessions set created_at = now() - $1::interval", tenant.SessionLife)
	ended(secret, "it is old")
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Zero(t, w.controlCount("select count(*) from sessions"), "what is old is forgotten")

	secret = open(viewer)
	w.sql("update ostraka.api_keys set expires_at = now() where id = $1", viewer.KeyID)
	ended(secret, "its key has expired")
	w.sql("update ostraka.api_keys set expires_at = null where id = $1", viewer.KeyID)
	require.NoError(t, w.RevokeKey(ctx, w.by, w.project, viewer.KeyID))
	ended(secret, "its key was revoked")
	for _, bad := range []string{"", "x", "ostraka_session_x", "ostraka_\x00"} {
		ended(bad, "it never was")
	}
	_, err = w.OpenSession(ctx, functions.Principal{Role: functions.RoleAgent, Agent: uuid.New()}, "")
	requireCode(t, err, "no_session")
}

func TestTooManySessionsEndTheOldest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := keyOf(t, w, functions.RoleViewer)
	var secrets []string
	for range tenant.MaxSessions + 1 {
		secret, err := w.OpenSession(t.Context(), viewer, "\x00\xffa browser")
		require.NoError(t, err)
		secrets = append(secrets, secret)
	}
	_, err := w.AuthenticateSession(t.Context(), secrets[0])
	requireCode(t, err, "no_session")
	_, err = w.AuthenticateSession(t.Context(), secrets[1])
	require.NoError(t, err)
}

func TestWhoEndsWhoseSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	owner, viewer, other := keyOf(t, w, functions.RoleOwner), keyOf(t, w, functions.RoleViewer), keyOf(t, w, functions.RoleViewer)
	_, stranger := w.newProject("another")
	secret, err := w.OpenSession(ctx, viewer, "a browser")
	require.NoError(t, err)
	seen := func(by functions.Principal) []tenant.Session {
		list, err := w.ListSessions(ctx, by, functions.ListPage{Limit: 10})
		require.NoError(t, err)
		return list
	}
	require.Len(t, seen(viewer), 1)
	require.Len(t, seen(owner), 1)
	require.NotEmpty(t, seen(functions.Principal{Role: functions.RoleOperator}))
	require.Empty(t, seen(other))
	require.Empty(t, seen(stranger))
	session := seen(viewer)[0]
	require.Equal(t, functions.RoleViewer, session.Role)
	require.Equal(t, w.project, *session.Project)
	require.Equal(t, "a browser", session.UserAgent)
	require.WithinDuration(t, time.Now().Add(tenant.SessionIdle), session.ExpiresAt, time.Hour)

	for _, by := range []functions.Principal{other, stranger} {
		requireCode(t, w.RevokeSession(ctx, by, session.ID), "not_found")
	}
	require.NoError(t, w.RevokeSession(ctx, owner, session.ID))
	require.NoError(t, w.RevokeSession(ctx, viewer, session.ID))
	_, err = w.AuthenticateSession(ctx, secret)
	requireCode(t, err, "no_session")
	require.Empty(t, seen(owner))
}

func TestASignInLinkWorksOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	owner := keyOf(t, w, functions.RoleOwner)
	link := func() string {
		before := time.Now().Add(-time.Millisecond)
		secret, expires, err := w.CreateSignInLink(ctx, owner)
		require.NoError(t, err)
		require.WithinRange(t, expires.Add(-tenant.SignInLinkTTL), before, time.Now())
		return secret
	}
	refused := func(secret string) {
		t.Helper()
		_, err := w.UseSignInLink(ctx, secret)
		requireCode(t, err, "link_used")
	}
	secret := link()
	require.True(t, tenant.IsSignInLink(secret))
	_, err := w.Authenticate(ctx, secret)
	requireCode(t, err, "bad_key")
	p, err := w.UseSignInLink(ctx, secret)
	require.NoError(t, err)
	require.Equal(t, owner, p)
	refused(secret)

	secret = link()
	w.sql("update ostraka.sign_in_links set created_at = now() - $1::interval", tenant.SignInLinkTTL)
	refused(secret)
	secret = link()
	require.NoError(t, w.RevokeKey(ctx, w.by, w.project, owner.KeyID))
	refused(secret)
	_, _, err = w.CreateSignInLink(ctx, functions.Principal{Role: functions.RoleViewer, Subject: "somebody"})
	requireCode(t, err, "no_key_to_sign_in")
}
