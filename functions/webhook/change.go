package webhook

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/webhook/sql"
	"github.com/ostraka/ostraka/runtime/webhook"
)

// change changes a webhook under its lock, and returns it as it is then.
func (s *Service) change(ctx context.Context, project, id uuid.UUID, change func(tx *store.Tx, w Webhook) error) (w Webhook, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := lock(ctx, tx, id); err != nil {
			return err
		}
		w, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		return change(tx, w)
	})
	if err != nil {
		return w, err
	}
	return s.GetWebhook(ctx, project, id)
}

// PauseWebhook has a webhook get nothing until it is resumed. What waits goes on waiting. Pausing twice is harmless.
func (s *Service) PauseWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID) (Webhook, error) {
	return s.change(ctx, project, id, func(tx *store.Tx, w Webhook) error {
		if w.Paused {
			return nil
		}
		if err := s.env.Ask(ctx, tx, stops(by, project, w, "pause")); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.PauseWebhook, id, "paused by "+by.Actor()); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "webhook.pause", id.String(), map[string]any{"name": w.Name})
	})
}

// ResumeWebhook has a paused webhook get events again, and what waits for it as well. Resuming twice is harmless.
func (s *Service) ResumeWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID) (Webhook, error) {
	return s.change(ctx, project, id, func(tx *store.Tx, w Webhook) error {
		if !w.Paused {
			return nil
		}
		if err := s.env.Ask(ctx, tx, changes(by, project, w.spec(), "resume")); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.ResumeWebhook, id); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "webhook.resume", id.String(), map[string]any{"name": w.Name}); err != nil {
			return err
		}
		return base.LookAtWebhooks(ctx, tx, 0)
	})
}

// RotateWebhookSecret makes another secret, and returns it: this once. The old one signs beside it for OldSecretFor.
func (s *Service) RotateWebhookSecret(ctx context.Context, by functions.Principal, project, id uuid.UUID, idem functions.Idempotency) (w Webhook, secret string, replayed bool, err error) {
	w, err = s.change(ctx, project, id, func(tx *store.Tx, w Webhook) (err error) {
		if _, replayed, err = base.RememberInProject(ctx, tx, project, "rotate-webhook", idem, base.NewID()); err != nil || replayed {
			return err
		}
		if err := s.env.Ask(ctx, tx, changes(by, project, w.spec(), "rotate")); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "webhook.rotate", id.String(), map[string]any{"name": w.Name}); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		secret = webhook.NewSecret()
		_, err = store.Exec(ctx, server, sql.ReplaceSecret, id, project, secret, OldSecretFor)
		return err
	})
	return w, secret, replayed, err
}

// DeleteWebhook deletes a webhook with its deliveries and its secret.
func (s *Service) DeleteWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := lock(ctx, tx, id); err != nil { // what drops deliveries has theirs first, and the webhook's then
			return err
		}
		w, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.env.Ask(ctx, tx, stops(by, project, w, "delete")); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DeleteWebhook, id); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "webhook.delete", id.String(), map[string]any{"name": w.Name, "host": hostOf(w.URL)}); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		_, err = store.Exec(ctx, server, sql.DeleteSecret, id, project)
		return err
	})
}
