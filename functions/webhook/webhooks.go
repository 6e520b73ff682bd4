package webhook

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/webhook/sql"
	"github.com/ostraka/ostraka/runtime/webhook"
)

// CreateWebhook stores a webhook, and returns the secret that signs what it gets: this once. It is empty when the request is replayed.
func (s *Service) CreateWebhook(ctx context.Context, by functions.Principal, project uuid.UUID, spec Spec, idem functions.Idempotency) (w Webhook, secret string, replayed bool, err error) {
	if err := s.check(&spec); err != nil {
		return w, "", false, err
	}
	id := base.NewID()
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if id, replayed, err = base.RememberInProject(ctx, tx, project, "create-webhook", idem, id); err != nil || replayed {
			return err
		}
		if err := s.env.Ask(ctx, tx, changes(by, project, spec, "create")); err != nil {
			return err
		}
		if err := insert(ctx, tx, by, id, spec); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		secret = webhook.NewSecret()
		_, err = store.Exec(ctx, server, sql.AddSecret, id, project, secret)
		return err
	})
	if err != nil {
		return Webhook{}, "", false, err
	}
	w, err = s.GetWebhook(ctx, project, id)
	return w, secret, replayed, err
}

// check refuses what is no webhook, and puts the kinds into order.
func (s *Service) check(spec *Spec) error {
	if err := functions.CheckName("webhook", spec.Name); err != nil {
		return err
	}
	if _, err := s.client.Guard().CheckURL(spec.URL); err != nil {
		return functions.Invalid("bad_webhook", "url: "+err.Error(), "name a URL of the public internet that begins with https://")
	}
	if len(spec.Kinds) == 0 {
		return functions.Invalid("bad_webhook", "kinds: it asks for no event", fmt.Sprintf("choose from %v", functions.WebhookKinds()))
	}
	for _, k := range spec.Kinds {
		if !k.Known() {
			return functions.Invalid("bad_webhook", fmt.Sprintf("kinds: there is no event %.40q", k), fmt.Sprintf("choose from %v", functions.WebhookKinds()))
		}
	}
	slices.Sort(spec.Kinds)
	spec.Kinds = slices.Compact(spec.Kinds)
	return nil
}

func insert(ctx context.Context, tx *store.Tx, by functions.Principal, id uuid.UUID, spec Spec) error {
	if _, err := store.Exec(ctx, tx, sql.LockWebhooks); err != nil {
		return err
	}
	n, _, err := store.Value[int64](ctx, tx, sql.CountWebhooks)
	if err != nil {
		return err
	}
	if n >= MaxWebhooks {
		return &functions.Error{Kind: functions.KindConflict, Code: "too_many_webhooks", Message: fmt.Sprintf("a project has at most %d webhooks", MaxWebhooks), Hint: "delete one that is not used"}
	}
	reason := ""
	if spec.Paused {
		reason = "made paused by " + by.Actor()
	}
	if _, err := store.Exec(ctx, tx, sql.AddWebhook, id, spec.Name, spec.URL, spec.Kinds, by.Actor(), spec.Paused, reason); err != nil {
		return tenant.NameTaken(err, "webhook", spec.Name)
	}
	return base.Audit(ctx, tx, by.Actor(), "webhook.create", id.String(), map[string]any{"name": spec.Name, "host": hostOf(spec.URL), "kinds": spec.Kinds, "paused": spec.Paused})
}

// GetWebhook returns one webhook.
func (s *Service) GetWebhook(ctx context.Context, project, id uuid.UUID) (w Webhook, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		w, err = get(ctx, tx, id)
		return err
	})
	return w, err
}

func get(ctx context.Context, tx *store.Tx, id uuid.UUID) (Webhook, error) {
	w, found, err := store.One[Webhook](ctx, tx, sql.GetWebhook, id)
	if err != nil || !found {
		return w, base.OrNotFound(err, "webhook", id)
	}
	return w, nil
}

// ListWebhooks lists webhooks in the order of their IDs.
func (s *Service) ListWebhooks(ctx context.Context, project uuid.UUID, page functions.ListPage) (list []Webhook, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		list, err = store.Many[Webhook](ctx, tx, sql.ListWebhooks, after, base.PageLimit(page))
		return err
	})
	return list, err
}
