package webhook

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/webhook/sql"
)

// Change is what to change of a webhook; what is empty stays.
type Change struct {
	URL   string
	Kinds []functions.WebhookKind
}

// apply is the webhook with the change.
func (c Change) apply(spec Spec) Spec {
	if c.URL != "" {
		spec.URL = c.URL
	}
	if len(c.Kinds) > 0 {
		spec.Kinds = slices.Clone(c.Kinds)
	}
	return spec
}

// UpdateWebhook gives a webhook another URL, or other events. Its secret stays, and so does a pause. What waits goes to the new URL at once, since
// the pauses between tries were made for the receiver before. A change that changes nothing is none.
func (s *Service) UpdateWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID, change Change) (Webhook, error) {
	if change.URL == "" && len(change.Kinds) == 0 {
		return Webhook{}, functions.Invalid("bad_webhook", "the change says nothing", "give url, kinds or both")
	}
	return s.change(ctx, project, id, func(tx *store.Tx, w Webhook) error {
		spec := change.apply(w.spec())
		if err := s.check(&spec); err != nil {
			return err
		}
		if spec.URL == w.URL && slices.Equal(spec.Kinds, w.Kinds) {
			return nil
		}
		if err := s.env.Ask(ctx, tx, changes(by, project, spec, "update")); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.UpdateWebhook, id, spec.URL, spec.Kinds); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "webhook.update", id.String(), updated(w, spec)); err != nil || spec.URL == w.URL {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.HastenDeliveries, id); err != nil {
			return err
		}
		return base.LookAtWebhooks(ctx, tx, 0)
	})
}

// updated is what the audit log has of a change: hosts, and whether more of the URL is another than its host. The path may be a secret.
func updated(w Webhook, spec Spec) map[string]any {
	return map[string]any{"name": w.Name, "host": hostOf(spec.URL), "host_before": hostOf(w.URL), "url_changed": spec.URL != w.URL, "kinds": spec.Kinds}
}
