package webhook

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/webhook/sql"
	"github.com/ostraka/ostraka/runtime/webhook"
)

// DeliverWebhook tries one delivery once, outside any transaction, and then begins the next one of the project. A server that dies in between
// has it tried again under the same ID.
func (s *Service) DeliverWebhook(ctx context.Context, args stepargs.DeliverWebhookArgs) error {
	r, secrets, err := s.readDelivery(ctx, args)
	if err != nil {
		return fmt.Errorf("reading the delivery %s: %w", args.Delivery, err)
	}
	var done *try
	if r.State == Sending && !r.Paused {
		if done, err = s.post(ctx, r, secrets); err != nil {
			return err
		}
	}
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error { return s.record(ctx, tx, r, done) })
	if err != nil {
		return fmt.Errorf("recording what became of the delivery %s: %w", args.Delivery, err)
	}
	return nil
}

// readDelivery reads what is sent and what signs it. A delivery that was deleted meanwhile is one without a state.
func (s *Service) readDelivery(ctx context.Context, args stepargs.DeliverWebhookArgs) (r deliveryRow, secrets [][]byte, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		var found bool
		if r, found, err = store.One[deliveryRow](ctx, tx, sql.GetDelivery, args.Delivery); err != nil || !found {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		texts, err := store.Values[string](ctx, server, sql.Secrets, r.Webhook, args.Project)
		if err != nil {
			return err
		}
		for _, text := range texts {
			secret, err := webhook.ParseSecret(text)
			if err != nil {
				return fmt.Errorf("reading the secret of webhook %s: %w", r.Webhook, err)
			}
			secrets = append(secrets, secret)
		}
		if len(secrets) == 0 {
			return fmt.Errorf("the webhook %s has no secret", r.Webhook) // nothing is sent that a receiver could not believe
		}
		return nil
	})
	return r, secrets, err
}

// noPause has a delivery be due at once.
const noPause time.Duration = 0

// post sends it. An error is the server's: it stops.
func (s *Service) post(ctx context.Context, r deliveryRow, secrets [][]byte) (*try, error) {
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	t := &try{number: r.Tries + 1, jitter: rand.Float64()} //nolint:gosec // spreads load, protects nothing
	t.answer, t.err = s.client.Post(ctx, r.URL, messageID(r.EventID), body, secrets...)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("sending the delivery %s: %w", r.ID, err)
	}
	return t, nil
}

// record writes the outcome of a try, and begins what is due. Without a try the delivery waits: its webhook was paused.
func (s *Service) record(ctx context.Context, tx *store.Tx, r deliveryRow, t *try) error {
	if err := lock(ctx, tx, r.Webhook); err != nil {
		return err
	}
	switch {
	case t != nil:
		if err := s.write(ctx, tx, r, t); err != nil {
			return err
		}
	case r.State == Sending:
		if _, err := store.Exec(ctx, tx, sql.EndTry, r.ID, Waiting, r.Tries, r.Status, r.Error, noPause); err != nil {
			return err
		}
	}
	return s.begin(ctx, tx)
}

func (s *Service) write(ctx context.Context, tx *store.Tx, r deliveryRow, t *try) error {
	failing, found, err := store.Value[time.Duration](ctx, tx, sql.FailingFor, r.Webhook)
	if err != nil || !found {
		return err // it was deleted
	}
	t.failing = failing
	o := t.outcome()
	n, err := store.Exec(ctx, tx, sql.EndTry, r.ID, o.state, t.number, o.status, o.text, o.again)
	if err != nil || n == 0 {
		return err // another run of the step has written it
	}
	if _, err := store.Exec(ctx, tx, sql.NoteTry, r.Webhook, o.text); err != nil {
		return err
	}
	if o.pause != "" {
		if err := s.pause(ctx, tx, r, o.pause); err != nil {
			return err
		}
	}
	if o.state != Waiting {
		return nil
	}
	return base.LookAtWebhooks(ctx, tx, o.again)
}

// pause pauses a webhook whose receiver wants nothing, or does not answer, and tells the project's others. One that was given another URL while
// the delivery r was sent has another receiver.
func (s *Service) pause(ctx context.Context, tx *store.Tx, r deliveryRow, why string) error {
	id := r.Webhook
	w, err := get(ctx, tx, id)
	if err != nil || w.Paused || w.URL != r.URL {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.PauseWebhook, id, why); err != nil {
		return err
	}
	if err := base.Audit(ctx, tx, actor(w.Name), "webhook.pause", id.String(), map[string]any{"name": w.Name, "reason": why}); err != nil {
		return err
	}
	return base.Announce(ctx, tx, functions.WebhookPaused, nil, map[string]any{
		"project": tx.Project(), "webhook": id, "name": w.Name, "reason": why, "url": fmt.Sprintf("/v1/projects/%s/webhooks/%s", tx.Project(), id),
	})
}
