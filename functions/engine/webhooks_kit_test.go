package engine_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/webhook"
	hooks "github.com/ostraka/ostraka/runtime/webhook"
)

// receiver is a real server that gets events, and answers as the test wants.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []hooks.Message
	answer func(n int, w http.ResponseWriter) // to the nth message, from 1 on
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Errorf("reading an event: %v", err)
		}
		r.mu.Lock()
		r.got = append(r.got, hooks.Message{ID: req.Header.Get(hooks.HeaderID), Timestamp: req.Header.Get(hooks.HeaderTimestamp), Signature: req.Header.Get(hooks.HeaderSignature), Body: body})
		n, answer := len(r.got), r.answer
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(n, w)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) messages() []hooks.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// answers has the receiver answer so from now on.
func (r *receiver) answers(answer func(n int, w http.ResponseWriter)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func status(code int) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) { w.WriteHeader(code) }
}

// loopback lets webhooks call this machine.
func loopback(o *engine.Options) {
	o.Webhooks = hooks.NewClient(hooks.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, "test")
}

func (w *world) hook(name, url string, kinds ...functions.WebhookKind) (webhook.Webhook, string) {
	w.t.Helper()
	if len(kinds) == 0 {
		kinds = functions.WebhookKinds()
	}
	h, secret, replayed, err := w.CreateWebhook(w.t.Context(), w.by, w.project, webhook.Spec{Name: name, URL: url, Kinds: kinds}, functions.Idempotency{})
	require.NoError(w.t, err)
	require.False(w.t, replayed)
	return h, secret
}

// send carries out all that is to be done for webhooks now.
func (w *world) send() {
	w.t.Helper()
	require.NoError(w.t, w.DueWebhooks(w.t.Context(), stepargs.DueWebhooksArgs{}))
	for {
		done := false
		for _, s := range w.steps() {
			switch s.Kind {
			case stepargs.SpreadWebhooksArgs{}.Kind(), stepargs.DeliverWebhookArgs{}.Kind():
				w.once(s)
				w.done(s)
				done = true
			}
		}
		if !done {
			return
		}
	}
}

// later has so much time pass for what waits.
func (w *world) later(d time.Duration) {
	w.t.Helper()
	w.inProject("update webhook_deliveries set next_at = next_at - $1::interval where state = 'waiting'", d)
	w.inProject("update webhooks set failing_since = failing_since - $1::interval", d)
	_, err := w.store.Pool.Exec(w.t.Context(), "update ostraka.webhook_looks set look_at = look_at - $1::interval", d)
	require.NoError(w.t, err)
}

func (w *world) deliveries(id uuid.UUID) []webhook.Delivery {
	w.t.Helper()
	list, err := w.ListWebhookDeliveries(w.t.Context(), w.project, id, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	return list
}

// cancelled is a job that has ended by being cancelled.
func (w *world) cancelled() functions.Job {
	w.t.Helper()
	job := w.submit(3)
	done, err := w.cancel(job.ID)
	require.NoError(w.t, err)
	return done
}
