package webhook

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/webhook/sql"
)

// ListWebhookDeliveries lists the deliveries of a webhook, the newest first.
func (s *Service) ListWebhookDeliveries(ctx context.Context, project, id uuid.UUID, page functions.ListPage) (list []Delivery, err error) {
	before, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	if before == uuid.Nil {
		before = uuid.Max
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, err := get(ctx, tx, id); err != nil {
			return err
		}
		list, err = store.Many[Delivery](ctx, tx, sql.ListDeliveries, id, before, base.PageLimit(page))
		return err
	})
	for i := range list {
		list[i] = list[i].named()
	}
	return list, err
}

// deliveryRow is a delivery with what is sent.
type deliveryRow struct {
	Delivery
	Data   json.RawMessage
	URL    string
	Paused bool // the webhook
}

// GetWebhookDelivery returns a delivery with what is sent.
func (s *Service) GetWebhookDelivery(ctx context.Context, project, id, delivery uuid.UUID) (d Shown, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		r, err := getDelivery(ctx, tx, id, delivery)
		if err != nil {
			return err
		}
		d.Delivery = r.named()
		d.Body, err = r.body()
		return err
	})
	return d, err
}

func getDelivery(ctx context.Context, tx *store.Tx, id, delivery uuid.UUID) (deliveryRow, error) {
	r, found, err := store.One[deliveryRow](ctx, tx, sql.GetDelivery, delivery)
	if err == nil && found && r.Webhook != id {
		found = false
	}
	if err != nil || !found {
		return r, base.OrNotFound(err, "delivery", delivery)
	}
	return r, nil
}

// ReplayWebhookDelivery sends an event to a webhook again, under the same ID.
func (s *Service) ReplayWebhookDelivery(ctx context.Context, by functions.Principal, project, id, delivery uuid.UUID) (Shown, error) {
	_, err := s.change(ctx, project, id, func(tx *store.Tx, w Webhook) error {
		r, err := getDelivery(ctx, tx, id, delivery)
		if err != nil {
			return err
		}
		if r.State == Waiting || r.State == Sending {
			return nil // it is on its way
		}
		if err := s.mayAdd(ctx, tx, by, project, w, "replay"); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.ReplayDelivery, delivery); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "webhook.replay", id.String(), map[string]any{"name": w.Name, "delivery": delivery}); err != nil {
			return err
		}
		return base.LookAtWebhooks(ctx, tx, 0)
	})
	if err != nil {
		return Shown{}, err
	}
	return s.GetWebhookDelivery(ctx, project, id, delivery)
}

// TestWebhook sends an event to a webhook that says nothing but that it is one.
func (s *Service) TestWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID, idem functions.Idempotency) (d Shown, replayed bool, err error) {
	delivery := base.NewID()
	_, err = s.change(ctx, project, id, func(tx *store.Tx, w Webhook) (err error) {
		if delivery, replayed, err = base.RememberInProject(ctx, tx, project, "test-webhook", idem, delivery); err != nil || replayed {
			return err
		}
		if err := s.mayAdd(ctx, tx, by, project, w, "test"); err != nil {
			return err
		}
		data, err := json.Marshal(map[string]any{"project": project, "webhook": id, "name": w.Name})
		if err != nil {
			return fmt.Errorf("encoding a test event: %w", err)
		}
		if _, err := store.Exec(ctx, tx, sql.AddTest, base.NewID(), functions.WebhookTest, id, data, delivery); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "webhook.test", id.String(), map[string]any{"name": w.Name}); err != nil {
			return err
		}
		return base.LookAtWebhooks(ctx, tx, 0)
	})
	if err != nil {
		return Shown{}, false, err
	}
	d, err = s.GetWebhookDelivery(ctx, project, id, delivery)
	return d, replayed, err
}

// mayAdd refuses what would have one more delivery wait.
func (s *Service) mayAdd(ctx context.Context, tx *store.Tx, by functions.Principal, project uuid.UUID, w Webhook, action string) error {
	if w.Paused {
		return &functions.Error{Kind: functions.KindConflict, Code: "webhook_paused", Message: fmt.Sprintf("the webhook %s is paused: %s", w.Name, w.PauseReason), Hint: "resume it first: ostraka webhook resume " + w.Name}
	}
	if err := s.env.Ask(ctx, tx, changes(by, project, w.spec(), action)); err != nil {
		return err
	}
	n, _, err := store.Value[int64](ctx, tx, sql.CountOpen)
	if err != nil {
		return err
	}
	if n >= MaxUndelivered {
		return &functions.Error{Kind: functions.KindConflict, Code: "too_many_undelivered", Message: fmt.Sprintf("%d deliveries of the project wait, which is the most", n), Hint: "wait until some are delivered, or delete the webhook that they wait for"}
	}
	return nil
}

// gate has what counts a project's deliveries pass one after the other.
func gate(ctx context.Context, tx *store.Tx) error {
	_, err := store.Exec(ctx, tx, sql.Gate)
	return err
}

// lock keeps other transactions from changing a webhook, or counting deliveries, until this one ends.
func lock(ctx context.Context, tx *store.Tx, id uuid.UUID) error {
	if err := gate(ctx, tx); err != nil {
		return err
	}
	_, err := store.Exec(ctx, tx, sql.LockWebhook, id)
	return err
}
