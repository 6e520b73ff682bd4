package engine_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/stepargs"
)

func TestAnEnrolmentTokenIsCheckedByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.CheckEnrolmentToken(t.Context(), w.token))
	requireCode(t, w.CheckEnrolmentToken(t.Context(), w.token+"x"), "bad_token")
}

func TestATokenIsForSoManyAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	mint := func(n fleet.NewEnrolmentToken) (fleet.EnrolmentToken, string, error) {
		n.Name = "t"
		made, secret, _, err := w.CreateEnrolmentToken(ctx, w.by, w.project, n, functions.Idempotency{})
		return made, secret, err
	}
	usual, _, err := mint(fleet.NewEnrolmentToken{})
	require.NoError(t, err)
	require.EqualValues(t, fleet.DefaultTokenUses, *usual.MaxUses)
	require.WithinDuration(t, time.Now().Add(fleet.DefaultTokenLife), *usual.ExpiresAt, time.Hour)
	_, _, err = mint(fleet.NewEnrolmentToken{MaxUses: functions.MaxTokenUses})
	require.NoError(t, err)
	for _, uses := range []int64{-1, functions.MaxTokenUses + 1} {
		_, _, err = mint(fleet.NewEnrolmentToken{MaxUses: uses})
		requireCode(t, err, "bad_uses")
	}

	two, secret, err := mint(fleet.NewEnrolmentToken{MaxUses: 2})
	require.NoError(t, err)
	first := w.enrol(secret, "first", honest)
	w.enrol(secret, "second", honest)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	_, _, err = w.join(key, secret, "third", "")
	requireCode(t, err, "token_used_up")
	require.Zero(t, w.controlCount("select count(*) from agents where name = 'third'"))
	_, _, err = w.join(first.key, secret, "first", "")
	require.NoError(t, err, "one that has joined does not count again")
	list, err := w.ListEnrolmentTokens(ctx, w.project, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, two.ID, list[len(list)-1].ID)
	require.EqualValues(t, 2, list[len(list)-1].Uses)

	// A token of before has no limit.
	w.sql("update ostraka.enrolment_tokens set max_uses = null, expires_at = null where id = $1", two.ID)
	w.enrol(secret, "third", honest)
}

func TestStrangersLeaveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	rows := func() int64 {
		return w.controlCount("select (select count(*) from api_keys) + (select count(*) from server_audit) + (select count(*) from agents)")
	}
	before := rows()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	const there = "203.0.113.7:1"
	for range 5 {
		_, _, err = w.join(key, "", "stranger", there)
		require.NoError(t, err)
	}
	require.Equal(t, before+2, rows(), "one agent and its one key, however often it asks")
	try := func(from string) error {
		_, key, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		_, _, err = w.join(key, "", "stranger", from)
		return err
	}
	for range fleet.MaxPendingEach - 1 {
		require.NoError(t, try("203.0.113.9:2"), "of the same block")
	}
	requireCode(t, try(there), "too_many_pending")
	require.NoError(t, try("198.51.100.1:1"), "others may")
	for range fleet.MaxPendingEach + 1 {
		require.NoError(t, try("192.168.0.1:1"), "the server's own network has no blocks")
	}

	// Who is never heard of is forgotten within an hour, who is heard of after a week.
	w.sql("update ostraka.agents set created_at = now() - interval '61 minutes' where state = 'pending'")
	w.sql("update ostraka.agents set last_seen_at = now() where public_key = $1", []byte(publicKey(key)))
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.EqualValues(t, 1, w.controlCount("select count(*) from agents where state = 'pending'"))
	w.sql("update ostraka.agents set created_at = now() - interval '169 hours' where state = 'pending'")
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Equal(t, before, rows(), "nothing is left")
}
