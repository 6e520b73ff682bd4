package api_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/webhook"
)

// hooked is a webhook that can be shown.
func hooked() webhook.Webhook {
	return webhook.Webhook{ID: thingID, Name: "w", URL: "https://hooks.example/secret-path", Kinds: []functions.WebhookKind{functions.WebhookJobFailed}}
}

func sent() webhook.Delivery {
	return webhook.Delivery{ID: thingID, Webhook: thingID, Kind: functions.WebhookJobFailed, State: webhook.Waiting}
}

func shownSent() webhook.Shown { return webhook.Shown{Delivery: sent(), Body: []byte("{}")} }

func (f *fake) CreateWebhook(_ context.Context, _ functions.Principal, _ uuid.UUID, _ webhook.Spec, idem functions.Idempotency) (webhook.Webhook, string, bool, error) {
	f.idem = idem
	return hooked(), "whsec_x", f.replayed, f.begin()
}

func (f *fake) ListWebhooks(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]webhook.Webhook, error) {
	return list(f, page, func(int) webhook.Webhook { return hooked() })
}

func (f *fake) GetWebhook(context.Context, uuid.UUID, uuid.UUID) (webhook.Webhook, error) {
	return hooked(), f.begin()
}

func (f *fake) UpdateWebhook(context.Context, functions.Principal, uuid.UUID, uuid.UUID, webhook.Change) (webhook.Webhook, error) {
	return hooked(), f.begin()
}

func (f *fake) PauseWebhook(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (webhook.Webhook, error) {
	return hooked(), f.begin()
}

func (f *fake) ResumeWebhook(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (webhook.Webhook, error) {
	return hooked(), f.begin()
}

func (f *fake) RotateWebhookSecret(_ context.Context, _ functions.Principal, _, _ uuid.UUID, idem functions.Idempotency) (webhook.Webhook, string, bool, error) {
	f.idem = idem
	return hooked(), "whsec_x", f.replayed, f.begin()
}

func (f *fake) DeleteWebhook(context.Context, functions.Principal, uuid.UUID, uuid.UUID) error {
	return f.begin()
}

func (f *fake) TestWebhook(_ context.Context, _ functions.Principal, _, _ uuid.UUID, idem functions.Idempotency) (webhook.Shown, bool, error) {
	f.idem = idem
	return shownSent(), f.replayed, f.begin()
}

func (f *fake) ListWebhookDeliveries(_ context.Context, _, _ uuid.UUID, page functions.ListPage) ([]webhook.Delivery, error) {
	return list(f, page, func(int) webhook.Delivery { return sent() })
}

func (f *fake) GetWebhookDelivery(context.Context, uuid.UUID, uuid.UUID, uuid.UUID) (webhook.Shown, error) {
	return shownSent(), f.begin()
}

func (f *fake) ReplayWebhookDelivery(context.Context, functions.Principal, uuid.UUID, uuid.UUID, uuid.UUID) (webhook.Shown, error) {
	return shownSent(), f.begin()
}
