package engine_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/webhook"
	hooks "github.com/ostraka/ostraka/runtime/webhook"
)

// TestAWebhookMoves holds that another URL gets what waited for the one before, at once and signed with the same secret.
func TestAWebhookMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	old, moved := newReceiver(t), newReceiver(t)
	h, secret := w.hook("chat", old.URL+"/secret-path")
	old.answers(status(500))
	w.cancelled()
	w.send()
	require.Len(t, old.messages(), 1)

	_, err := w.UpdateWebhook(t.Context(), w.by, w.project, h.ID, webhook.Change{})
	requireCode(t, err, "bad_webhook")
	_, err = w.UpdateWebhook(t.Context(), w.by, w.project, h.ID, webhook.Change{URL: "https://10.0.0.1/x"})
	requireCode(t, err, "bad_webhook")
	_, err = w.UpdateWebhook(t.Context(), w.by, w.project, h.ID, webhook.Change{Kinds: []functions.WebhookKind{"job.rocks"}})
	requireCode(t, err, "bad_webhook")
	shown, err := w.UpdateWebhook(t.Context(), w.by, w.project, h.ID, webhook.Change{URL: moved.URL + "/moved"})
	require.NoError(t, err)
	require.Equal(t, moved.URL+"/moved", shown.URL)
	require.Equal(t, h.Kinds, shown.Kinds)
	require.Nil(t, shown.FailingSince, "that was the other receiver")
	require.Empty(t, shown.LastError)
	w.send()
	require.Len(t, old.messages(), 1)
	require.Len(t, moved.messages(), 1, "though its next try was some seconds away")
	key, err := hooks.ParseSecret(secret)
	require.NoError(t, err)
	require.NoError(t, hooks.Verify(key, moved.messages()[0], time.Now()))
	require.Equal(t, old.messages()[0].ID, moved.messages()[0].ID)

	_, err = w.UpdateWebhook(t.Context(), w.by, w.project, h.ID, webhook.Change{URL: moved.URL + "/moved", Kinds: h.Kinds})
	require.NoError(t, err)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'webhook.update'"), "a change that changes nothing is none")
	require.Zero(t, w.count("select count(*) from audit where action like 'webhook.%' and (detail::text like '%secret-path%' or detail::text like '%/moved%')"))
	shown, err = w.UpdateWebhook(t.Context(), w.by, w.project, h.ID, webhook.Change{Kinds: []functions.WebhookKind{functions.WebhookJobFailed, functions.WebhookJobFailed}})
	require.NoError(t, err)
	require.Equal(t, []functions.WebhookKind{functions.WebhookJobFailed}, shown.Kinds)
	w.cancelled()
	w.send()
	require.Len(t, moved.messages(), 1, "it does not want that any more")
}

// TestAWebhookIsMadePaused holds that it gets nothing before it is resumed.
func TestAWebhookIsMadePaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	spec := webhook.Spec{Name: "chat", URL: r.URL, Kinds: []functions.WebhookKind{functions.WebhookJobCancelled}, Paused: true}
	h, _, _, err := w.CreateWebhook(t.Context(), w.by, w.project, spec, functions.Idempotency{})
	require.NoError(t, err)
	require.True(t, h.Paused)
	require.Contains(t, h.PauseReason, "made paused by ")
	w.cancelled()
	w.send()
	require.Empty(t, r.messages())
	_, err = w.ResumeWebhook(t.Context(), w.by, w.project, h.ID)
	require.NoError(t, err)
	w.cancelled()
	w.send()
	require.Len(t, r.messages(), 1, "events of before are not sent")
}

// TestAnAnswerOfTheReceiverBeforePausesNothing has a webhook move while its old receiver says that it wants no more.
func TestAnAnswerOfTheReceiverBeforePausesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	old, moved := newReceiver(t), newReceiver(t)
	h, _ := w.hook("chat", old.URL)
	old.answers(func(_ int, rw http.ResponseWriter) {
		if _, err := w.UpdateWebhook(t.Context(), w.by, w.project, h.ID, webhook.Change{URL: moved.URL}); err != nil {
			t.Error(err)
		}
		rw.WriteHeader(http.StatusGone)
	})
	w.cancelled()
	w.send()
	shown, err := w.GetWebhook(t.Context(), w.project, h.ID)
	require.NoError(t, err)
	require.False(t, shown.Paused, shown.PauseReason)
	w.cancelled()
	w.send()
	require.Len(t, moved.messages(), 1)
}
