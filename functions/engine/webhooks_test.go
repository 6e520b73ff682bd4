package engine_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/webhook"
	webhooksql "github.com/ostraka/ostraka/functions/webhook/sql"
	hooks "github.com/ostraka/ostraka/runtime/webhook"
	"github.com/ostraka/ostraka/testenv"
)

func TestAWebhookGetsWhatItWants(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	missed := w.cancelled()
	all, secret := w.hook("all", r.URL+"/all")
	none, _ := w.hook("none", r.URL+"/none", functions.WebhookJobFailed)
	job := w.submit(3, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	require.Equal(t, 3, w.agent(honest).do(3))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	w.send()
	got := r.messages()
	require.Len(t, got, 1)
	key, err := hooks.ParseSecret(secret)
	require.NoError(t, err)
	require.NoError(t, hooks.Verify(key, got[0], time.Now()))
	var body struct {
		Type string
		Data struct {
			Project, Job  uuid.UUID
			Function, URL string
			MetricsURL    string `json:"metrics_url"`
			State         functions.JobState
			Shards        struct{ Total, Accepted int }
		}
	}
	require.NoError(t, json.Unmarshal(got[0].Body, &body))
	require.Less(t, len(got[0].Body), hooks.MaxBody)
	require.Equal(t, "job.finished", body.Type)
	require.Equal(t, job.ID, body.Data.Job)
	require.Equal(t, w.project, body.Data.Project)
	require.Equal(t, "numbers", body.Data.Function)
	require.Equal(t, functions.JobFinished, body.Data.State)
	require.Equal(t, 3, body.Data.Shards.Accepted)
	require.Equal(t, "/v1/projects/"+w.project.String()+"/jobs/"+job.ID.String(), body.Data.URL)
	require.Equal(t, body.Data.URL+"/metrics", body.Data.MetricsURL)
	require.Empty(t, w.deliveries(none.ID))
	require.NotContains(t, string(got[0].Body), missed.ID.String(), "what happened before is not told")

	list := w.deliveries(all.ID)
	require.Len(t, list, 1)
	require.Equal(t, webhook.Delivered, list[0].State)
	require.Equal(t, got[0].ID, list[0].MessageID)
	require.Equal(t, 204, *list[0].Status)
	shown, err := w.GetWebhookDelivery(t.Context(), w.project, all.ID, list[0].ID)
	require.NoError(t, err)
	require.JSONEq(t, string(got[0].Body), string(shown.Body))
	_, err = w.GetWebhookDelivery(t.Context(), w.project, none.ID, list[0].ID)
	requireCode(t, err, "not_found")
	w.send()
	require.Len(t, r.messages(), 1, "once")
}

func TestFlagsAndFailuresAreAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	w.hook("all", r.URL)
	job := w.cancelled()
	shard := int64(1)
	raise := func() {
		require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
			return flag.Raise(t.Context(), tx, flag.Mark{Kind: flag.FlagFinding, Rule: strings.Repeat("r", 300), Job: job.ID, Shard: &shard})
		}))
	}
	raise()
	raise()
	w.send()
	kinds := map[string]int{}
	for _, m := range r.messages() {
		var body struct {
			Type string
			Data map[string]any
		}
		require.NoError(t, json.Unmarshal(m.Body, &body))
		kinds[body.Type]++
		require.Equal(t, job.ID.String(), body.Data["job"])
		require.Less(t, len(m.Body), 1500)
	}
	require.Equal(t, map[string]int{"job.cancelled": 1, "flag.raised": 1}, kinds, "what is flagged already is not told again")
}

func TestMissedTimesAreAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	w.hook("all", r.URL, functions.WebhookScheduleMissed)
	d := w.schedule("hourly")
	w.due(d.ID, 2*time.Hour+30*time.Minute)
	w.look()
	w.look()
	w.send()
	require.Len(t, r.messages(), 1, "several that were missed together are told together")
	var body struct {
		Type string
		Data struct{ From, Until time.Time }
	}
	require.NoError(t, json.Unmarshal(r.messages()[0].Body, &body))
	require.Equal(t, "schedule.missed", body.Type)
	require.Equal(t, 2*time.Hour, body.Data.Until.Sub(body.Data.From))
}

func TestADeliveryIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	h, _ := w.hook("all", r.URL)
	r.answers(status(500))
	w.cancelled()
	w.send()
	require.Len(t, r.messages(), 1)
	for n := 2; n <= webhook.MaxTries; n++ {
		d := w.deliveries(h.ID)[0]
		require.Equal(t, webhook.Waiting, d.State)
		require.Equal(t, n-1, d.Tries)
		require.Equal(t, "it answers 500", d.Error)
		w.later(-time.Hour) // the first pause is of seconds, and a slow machine may have used it up
		w.send()
		require.Len(t, r.messages(), n-1, "nothing is due")
		w.later(15 * time.Hour)
		w.send()
		require.Len(t, r.messages(), n)
	}
	d := w.deliveries(h.ID)[0]
	require.Equal(t, webhook.Failed, d.State)
	require.Equal(t, webhook.MaxTries, d.Tries)
	for _, m := range r.messages() {
		require.Equal(t, d.MessageID, m.ID, "all tries have the same ID")
	}
	w.later(100 * time.Hour)
	w.send()
	require.Len(t, r.messages(), webhook.MaxTries)

	r.answers(nil)
	again, err := w.ReplayWebhookDelivery(t.Context(), w.by, w.project, h.ID, d.ID)
	require.NoError(t, err)
	require.Equal(t, webhook.Waiting, again.State)
	w.send()
	require.Equal(t, webhook.Delivered, w.deliveries(h.ID)[0].State)
	require.Equal(t, d.MessageID, r.messages()[webhook.MaxTries].ID, "so has a replay")
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'webhook.replay'"))
}

func TestAReceiverThatIsGonePausesItsWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r, other := newReceiver(t), newReceiver(t)
	h, _ := w.hook("gone", r.URL, functions.WebhookJobCancelled)
	w.hook("other", other.URL, functions.WebhookPaused)
	r.answers(status(410))
	w.cancelled()
	w.send()
	w.send()
	shown, err := w.GetWebhook(t.Context(), w.project, h.ID)
	require.NoError(t, err)
	require.True(t, shown.Paused)
	require.Contains(t, shown.PauseReason, "410")
	require.Len(t, other.messages(), 1, "others are told")
	require.Contains(t, string(other.messages()[0].Body), `"webhook.paused"`)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'webhook.pause' and actor = 'webhook:gone'"))
	w.cancelled()
	w.send()
	require.Len(t, r.messages(), 1, "it gets nothing more")
	_, _, err = w.TestWebhook(t.Context(), w.by, w.project, h.ID, functions.Idempotency{})
	requireCode(t, err, "webhook_paused")
	r.answers(nil)
	_, err = w.ResumeWebhook(t.Context(), w.by, w.project, h.ID)
	require.NoError(t, err)
	w.send()
	require.Len(t, r.messages(), 1, "what happened meanwhile is not sent")
	test, replayed, err := w.TestWebhook(t.Context(), w.by, w.project, h.ID, functions.Idempotency{Key: "test"})
	require.NoError(t, err)
	require.False(t, replayed)
	same, replayed, err := w.TestWebhook(t.Context(), w.by, w.project, h.ID, functions.Idempotency{Key: "test"})
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, test.ID, same.ID)
	w.send()
	require.Len(t, r.messages(), 2)
	require.Contains(t, string(r.messages()[1].Body), `"webhook.test"`)
}

func TestAWebhookThatFailsForDaysIsPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	h, _ := w.hook("all", r.URL)
	r.answers(status(500))
	w.cancelled()
	w.send()
	w.later(webhook.FailingFor - time.Hour)
	w.send()
	shown, err := w.GetWebhook(t.Context(), w.project, h.ID)
	require.NoError(t, err)
	require.False(t, shown.Paused)
	require.NotNil(t, shown.FailingSince)
	w.later(time.Hour)
	w.send()
	shown, err = w.GetWebhook(t.Context(), w.project, h.ID)
	require.NoError(t, err)
	require.True(t, shown.Paused)
	require.Contains(t, shown.PauseReason, "for 5 days")
	require.Equal(t, webhook.Waiting, w.deliveries(h.ID)[0].State, "it goes on when the webhook is resumed")
	r.answers(nil)
	_, err = w.ResumeWebhook(t.Context(), w.by, w.project, h.ID)
	require.NoError(t, err)
	w.later(time.Hour)
	w.send()
	require.Equal(t, webhook.Delivered, w.deliveries(h.ID)[0].State)
}

func TestWhatIsNotCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t)
	for url, says := range map[string]string{
		"https://127.0.0.1/x":        "--webhook-allow",
		"https://localhost/x":        "loopback",
		"http://hooks.example/x":     "clear text",
		"https://me:pw@a.example/x":  "password",
		"https://a.example/#x":       "fragment",
		"ftp://a.example/":           "https",
		"https://[::ffff:10.0.0.1]/": "private",
	} {
		_, _, _, err := w.CreateWebhook(t.Context(), w.by, w.project, webhook.Spec{Name: "bad", URL: url, Kinds: functions.WebhookKinds()}, functions.Idempotency{})
		requireCode(t, err, "bad_webhook")
		require.Contains(t, err.Error(), says, url)
	}
	// What an operator has allowed once, and a name that is one thing now and another one later, are refused when they are called.
	h, _ := w.hook("later", "https://hooks.example/x")
	w.inProject("update webhooks set url = $1", strings.Replace(r.URL, "http://", "https://", 1))
	w.cancelled()
	w.send()
	require.Empty(t, r.messages())
	require.Contains(t, w.deliveries(h.ID)[0].Error, "is not called: the loopback network")
	require.Contains(t, w.deliveries(h.ID)[0].Error, "an operator can allow its network")
}

// TestAProjectSendsSoMuchAtATime holds that a project's deliveries begin one another, and take so many workers at most.
func TestAProjectSendsSoMuchAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	h, _ := w.hook("all", r.URL)
	const events = webhook.MaxAtOnce + 3
	for range events {
		w.cancelled()
	}
	w.settleAll()
	require.NoError(t, w.DueWebhooks(t.Context(), stepargs.DueWebhooksArgs{}))
	for _, s := range w.steps() {
		w.once(s)
		w.done(s)
	}
	for left := events; left > 0; left-- {
		list := w.steps()
		require.Len(t, list, min(left, webhook.MaxAtOnce))
		require.Equal(t, int64(min(left, webhook.MaxAtOnce)), w.count("select count(*) from webhook_deliveries where state = 'sending'"))
		w.once(list[0])
		w.done(list[0])
	}
	require.Empty(t, w.steps())
	require.Len(t, r.messages(), events)
	require.Len(t, w.deliveries(h.ID), events)
}

// TestADeliveryThatHasLostItsStepIsSent holds that an operator who cancels steps stops no project's webhooks.
func TestADeliveryThatHasLostItsStepIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	w.hook("all", r.URL)
	for range webhook.MaxAtOnce {
		w.cancelled()
	}
	w.settleAll()
	require.NoError(t, w.DueWebhooks(t.Context(), stepargs.DueWebhooksArgs{}))
	for _, s := range w.steps() {
		w.once(s)
		w.done(s)
	}
	for _, s := range w.steps() {
		w.done(s) // without having done it
	}
	w.cancelled()
	w.send()
	require.Empty(t, r.messages(), "as far as anybody knows they are being sent")
	w.inProject("update webhook_deliveries set next_at = next_at - interval '61 minutes' where state = 'sending'")
	w.cancelled()
	w.send()
	require.Len(t, r.messages(), webhook.MaxAtOnce+2)
}

// TestWebhooksThatWorkComeFirst has a receiver that fails for a long time keep no other one of its project waiting.
func TestWebhooksThatWorkComeFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	bad, good := newReceiver(t), newReceiver(t)
	failing, _ := w.hook("bad", bad.URL)
	w.hook("good", good.URL)
	bad.answers(status(http.StatusInternalServerError))
	w.inProject("update webhooks set failing_since = now() where id = $1", failing.ID)
	for range webhook.MaxAtOnce {
		w.cancelled()
	}
	w.settleAll()
	require.NoError(t, w.DueWebhooks(t.Context(), stepargs.DueWebhooksArgs{}))
	for range webhook.MaxAtOnce + 1 { // one spreads
		s := w.steps()[0]
		w.once(s)
		w.done(s)
	}
	require.Len(t, good.messages(), webhook.MaxAtOnce)
	require.Empty(t, bad.messages())
	w.send()
	require.Len(t, bad.messages(), webhook.MaxAtOnce)
}

func TestLimitsOfWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	h, _ := w.hook("first", r.URL)
	for n := 1; n < webhook.MaxWebhooks; n++ {
		w.hook("more-"+string(rune('a'+n)), r.URL, functions.WebhookJobFailed)
	}
	_, _, _, err := w.CreateWebhook(t.Context(), w.by, w.project, webhook.Spec{Name: "last", URL: r.URL, Kinds: functions.WebhookKinds()}, functions.Idempotency{})
	requireCode(t, err, "too_many_webhooks")

	wait := func(n int) {
		w.inProject(`with e as (insert into webhook_events (id, kind, data, spread) select gen_random_uuid(), 'webhook.test', '{}', true from generate_series(1, $2) returning id)
			insert into webhook_deliveries (id, webhook_id, event_id, next_at) select gen_random_uuid(), $1, id, now() + interval '1 day' from e`, h.ID, n)
	}
	wait(webhook.MaxUndelivered - 1)
	_, _, err = w.TestWebhook(t.Context(), w.by, w.project, h.ID, functions.Idempotency{})
	require.NoError(t, err)
	_, _, err = w.TestWebhook(t.Context(), w.by, w.project, h.ID, functions.Idempotency{})
	requireCode(t, err, "too_many_undelivered")
	w.inProject("delete from webhook_deliveries where next_at < now() + interval '1 hour'")
	r.answers(status(500))
	w.cancelled()
	w.send()
	require.Zero(t, w.count("select count(*) from webhook_deliveries where state = 'dropped'"), "at the limit")
	w.cancelled()
	w.send()
	require.Equal(t, int64(1), w.count("select count(*) from webhook_deliveries where state = 'dropped'"), "one past it")
	shown, err := w.GetWebhook(t.Context(), w.project, h.ID)
	require.NoError(t, err)
	require.Equal(t, int64(1), shown.Dropped)
	require.Equal(t, int64(webhook.MaxUndelivered), shown.Waiting)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'webhook.drop' and detail = '{\"deliveries\": 1}'"))
}

func TestASecretIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	h, first := w.hook("all", r.URL)
	_, second, _, err := w.RotateWebhookSecret(t.Context(), w.by, w.project, h.ID, functions.Idempotency{Key: "rotate"})
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	_, none, replayed, err := w.RotateWebhookSecret(t.Context(), w.by, w.project, h.ID, functions.Idempotency{Key: "rotate"})
	require.NoError(t, err)
	require.True(t, replayed)
	require.Empty(t, none)
	signed := func(secret string) bool {
		w.cancelled()
		w.send()
		list := r.messages()
		key, err := hooks.ParseSecret(secret)
		require.NoError(t, err)
		return hooks.Verify(key, list[len(list)-1], time.Now()) == nil
	}
	require.True(t, signed(first), "for a day both sign")
	require.True(t, signed(second))
	w.sql("update ostraka.webhook_secrets set old_until = now()")
	require.False(t, signed(first))
	require.True(t, signed(second))
	require.Zero(t, w.count("select count(*) from audit where detail::text like '%whsec%'"))
}

func TestADeletedWebhookLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	h, _ := w.hook("all", r.URL)
	r.answers(status(500))
	w.cancelled()
	w.send()
	require.NoError(t, w.DeleteWebhook(t.Context(), w.by, w.project, h.ID))
	require.Zero(t, w.count("select count(*) from webhook_deliveries"))
	require.Zero(t, w.controlCount("select count(*) from ostraka.webhook_secrets"))
	w.later(time.Hour)
	w.send()
	require.Len(t, r.messages(), 1)
	_, err := w.GetWebhook(t.Context(), w.project, h.ID)
	requireCode(t, err, "not_found")
}

// TestAWebhookIsDeletedInItsTurn: deleting one takes its row and then its deliveries, and dropping deliveries takes them the other way round.
func TestAWebhookIsDeletedInItsTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	h, _ := w.hook("all", newReceiver(t).URL)
	w.cancelled()
	dropping, release := w.holdUp(webhooksql.DropDeliveries)
	spread, deleted := make(chan error, 1), make(chan error, 1)
	go func() {
		spread <- w.SpreadWebhooks(context.WithoutCancel(t.Context()), stepargs.SpreadWebhooksArgs{Project: w.project})
	}()
	<-dropping
	go func() { deleted <- w.DeleteWebhook(context.WithoutCancel(t.Context()), w.by, w.project, h.ID) }()
	const waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
	testenv.Eventually(t, func() bool { return w.controlCount(waiting) > 0 }, "it waits")
	require.Equal(t, int64(1), w.controlCount(waiting+" and wait_event = 'advisory'"), "at the gate, before it has locked anything")
	release()
	require.NoError(t, <-spread)
	require.NoError(t, <-deleted)
	require.Zero(t, w.count("select count(*) from webhook_deliveries"))
}

func TestEventsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	h, _ := w.hook("all", r.URL)
	w.cancelled()
	w.send()
	w.inProject("update webhook_events set at = now() - $1::interval", webhook.KeptFor-time.Minute)
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	require.Len(t, w.deliveries(h.ID), 1)
	w.inProject("update webhook_events set at = at - $1::interval", 2*time.Minute)
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	require.Empty(t, w.deliveries(h.ID))
}

// TestSendingMayBeCutOffAnywhere cuts off each step of an event at each of its statements: it comes, and each time under the same ID.
func TestSendingMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, loopback)
	r := newReceiver(t)
	h, _ := w.hook("all", r.URL)
	r.answers(status(http.StatusInternalServerError))
	job := w.submit(3)
	w.cutOff(job.ID, func() error { _, err := w.cancel(job.ID); return err })
	w.settleAll()
	ctx := t.Context()
	cuts := w.cutOff(uuid.Nil, func() error { return w.DueWebhooks(ctx, stepargs.DueWebhooksArgs{}) })
	require.Greater(t, cuts, 2)
	careful := func(s waiting) {
		require.Greater(t, w.cutOff(uuid.Nil, func() error { return w.step(s) }), 3, s.Kind)
		require.NoError(t, w.step(s), "and once more")
	}
	w.drain(careful)
	d := w.deliveries(h.ID)
	require.Len(t, d, 1)
	require.Equal(t, webhook.Waiting, d[0].State)
	require.Equal(t, 1, d[0].Tries, "a try is written once")
	r.answers(nil)
	w.later(time.Minute)
	require.NoError(t, w.DueWebhooks(ctx, stepargs.DueWebhooksArgs{}))
	w.drain(careful)
	d = w.deliveries(h.ID)
	require.Len(t, d, 1)
	require.Equal(t, webhook.Delivered, d[0].State)
	require.Equal(t, 2, d[0].Tries)
	for _, m := range r.messages() {
		require.Equal(t, d[0].MessageID, m.ID)
	}
	require.Zero(t, w.controlCount("select count(*) from ostraka.webhook_looks"))
}
