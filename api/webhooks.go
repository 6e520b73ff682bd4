package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/webhook"
)

// Webhooks is what the API asks of the domain about events to the outside.
type Webhooks interface {
	CreateWebhook(ctx context.Context, by functions.Principal, project uuid.UUID, spec webhook.Spec, idem functions.Idempotency) (w webhook.Webhook, secret string, replayed bool, err error)
	ListWebhooks(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]webhook.Webhook, error)
	GetWebhook(ctx context.Context, project, id uuid.UUID) (webhook.Webhook, error)
	UpdateWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID, change webhook.Change) (webhook.Webhook, error)
	PauseWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID) (webhook.Webhook, error)  // pausing twice is harmless
	ResumeWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID) (webhook.Webhook, error) // so is resuming
	RotateWebhookSecret(ctx context.Context, by functions.Principal, project, id uuid.UUID, idem functions.Idempotency) (w webhook.Webhook, secret string, replayed bool, err error)
	DeleteWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID) error
	TestWebhook(ctx context.Context, by functions.Principal, project, id uuid.UUID, idem functions.Idempotency) (d webhook.Shown, replayed bool, err error)
	ListWebhookDeliveries(ctx context.Context, project, id uuid.UUID, page functions.ListPage) ([]webhook.Delivery, error)
	GetWebhookDelivery(ctx context.Context, project, id, delivery uuid.UUID) (webhook.Shown, error)
	ReplayWebhookDelivery(ctx context.Context, by functions.Principal, project, id, delivery uuid.UUID) (webhook.Shown, error) // one that is on its way goes on
}

// CreateWebhookInput is a new webhook.
type CreateWebhookInput struct {
	InProject
	Body WebhookRequest
}

// UpdateWebhookInput is what to change of a webhook.
type UpdateWebhookInput struct {
	WebhookPath
	Body WebhookChange
}

// WebhookPath names a webhook of a project.
type WebhookPath struct {
	InProject
	Webhook PathID `path:"webhook"`
}

func (p WebhookPath) ids() (project, id uuid.UUID, err error) { return p.and("webhook", p.Webhook) }

// DeliveryPath names a delivery of a webhook.
type DeliveryPath struct {
	WebhookPath
	Delivery PathID `path:"delivery"`
}

func (p DeliveryPath) ids() (project, webhook, id uuid.UUID, err error) {
	if project, webhook, err = p.WebhookPath.ids(); err != nil {
		return project, webhook, id, err
	}
	id, err = pathID("delivery", p.Delivery)
	return project, webhook, id, err
}

// ListDeliveriesInput asks for deliveries of a webhook.
type ListDeliveriesInput struct {
	WebhookPath
	Paging
}

type secretWebhookOutput struct {
	Body SecretWebhook
}

type webhookOutput struct {
	Body Webhook
}

type deliveryOutput struct {
	Body WebhookDelivery
}

type testedWebhookOutput struct {
	Replayed
	Body WebhookDelivery
}

func (s *server) webhookOperations() {
	const path = "/v1/projects/{project}/webhooks"
	const one = path + "/{webhook}"
	const deliveries = one + "/deliveries"
	const secret = "The secret is in this answer and nowhere else: a repetition with the same `Idempotency-Key` answers 409 `secret_shown_once`."
	owners := roles(functions.RoleOwner)
	register(s, operation{
		id: "createWebhook", method: http.MethodPost, path: path, tag: "webhooks", summary: "Have events posted to a URL", about: secret,
		access: owners, status: http.StatusCreated, body: body{limit: MaxJSONBody}, retry: retryWithKey,
	}, s.createWebhook)
	register(s, operation{
		id: "listWebhooks", method: http.MethodGet, path: path, tag: "webhooks", summary: "List webhooks", about: "Owners see whole URLs, others their hosts.", access: readers(),
	}, s.listWebhooks)
	register(s, operation{
		id: "getWebhook", method: http.MethodGet, path: one, tag: "webhooks", summary: "Get a webhook", about: "Owners see its whole URL, others its host.", access: readers(),
	}, s.getWebhook)
	register(s, operation{
		id: "updateWebhook", method: http.MethodPatch, path: one, tag: "webhooks", summary: "Give a webhook another URL, or other events",
		about: "Its secret and its name stay. What waits goes to the new URL, at once; a webhook that is paused stays so.", access: owners, body: body{limit: MaxJSONBody},
	}, s.updateWebhook)
	register(s, operation{
		id: "pauseWebhook", method: http.MethodPost, path: one + "/pause", tag: "webhooks", summary: "Pause a webhook",
		about: "It gets no events until it is resumed; deliveries that wait go on waiting.", access: owners,
	}, s.pauseWebhook)
	register(s, operation{
		id: "resumeWebhook", method: http.MethodPost, path: one + "/resume", tag: "webhooks", summary: "Resume a webhook",
		about: "Events that happened while it was paused are not sent; deliveries that waited are.", access: owners,
	}, s.resumeWebhook)
	register(s, operation{
		id: "rotateWebhookSecret", method: http.MethodPost, path: one + "/rotate", tag: "webhooks", summary: "Replace the secret of a webhook",
		about: "For a day the old secret signs beside the new one. " + secret, access: owners, retry: retryWithKey,
	}, s.rotateWebhookSecret)
	register(s, operation{
		id: "testWebhook", method: http.MethodPost, path: one + "/test", tag: "webhooks", summary: "Send a test event to a webhook",
		access: owners, status: http.StatusCreated, retry: retryWithKey,
	}, s.testWebhook)
	register(s, operation{
		id: "deleteWebhook", method: http.MethodDelete, path: one, tag: "webhooks", summary: "Delete a webhook", about: "Its deliveries go with it, those that wait too.",
		access: owners, status: http.StatusNoContent,
	}, s.deleteWebhook)
	register(s, operation{
		id: "listWebhookDeliveries", method: http.MethodGet, path: deliveries, tag: "webhooks", summary: "List deliveries of a webhook, the newest first", access: readers(),
	}, s.listDeliveries)
	register(s, operation{
		id: "getWebhookDelivery", method: http.MethodGet, path: deliveries + "/{delivery}", tag: "webhooks", summary: "Get a delivery and what is sent", access: readers(),
	}, s.getDelivery)
	register(s, operation{
		id: "replayWebhookDelivery", method: http.MethodPost, path: deliveries + "/{delivery}/replay", tag: "webhooks", summary: "Send an event once more",
		about: "Under the ID that it had, by which receivers know that they have seen it. One that is on its way goes on.", access: owners,
	}, s.replayDelivery)
}

func (s *server) createWebhook(ctx context.Context, c *call, in *CreateWebhookInput) (*secretWebhookOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	w, secret, again, err := s.service.CreateWebhook(ctx, c.principal, project, in.Body.spec(), c.idem)
	return withSecret(c, w, secret, again, err)
}

func (s *server) rotateWebhookSecret(ctx context.Context, c *call, in *WebhookPath) (*secretWebhookOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	w, secret, again, err := s.service.RotateWebhookSecret(ctx, c.principal, project, id, c.idem)
	return withSecret(c, w, secret, again, err)
}

func withSecret(c *call, w webhook.Webhook, secret string, again bool, err error) (*secretWebhookOutput, error) {
	switch {
	case err != nil:
		return nil, err
	case again:
		return nil, shownOnce("the secret of the webhook "+w.ID.String(), "if it is lost, make another one: ostraka webhook rotate")
	}
	return &secretWebhookOutput{Body: SecretWebhook{Webhook: webhookOf(c, w), Secret: secret}}, nil
}

func (s *server) listWebhooks(ctx context.Context, c *call, in *ListInProject) (*Listed[Webhook], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]Webhook, error) {
		rows, err := s.service.ListWebhooks(ctx, project, page)
		list := make([]Webhook, len(rows))
		for i, w := range rows {
			list[i] = webhookOf(c, w)
		}
		return list, err
	}
	return listOfProject(ctx, c, in, cursorOfID, list, func(w Webhook) string { return w.ID.String() })
}

func (s *server) getWebhook(ctx context.Context, c *call, in *WebhookPath) (*webhookOutput, error) {
	return aboutWebhook(c, in, func(project, id uuid.UUID) (webhook.Webhook, error) { return s.service.GetWebhook(ctx, project, id) })
}

func (s *server) updateWebhook(ctx context.Context, c *call, in *UpdateWebhookInput) (*webhookOutput, error) {
	return aboutWebhook(c, &in.WebhookPath, func(project, id uuid.UUID) (webhook.Webhook, error) {
		return s.service.UpdateWebhook(ctx, c.principal, project, id, in.Body.change())
	})
}

func (s *server) pauseWebhook(ctx context.Context, c *call, in *WebhookPath) (*webhookOutput, error) {
	return aboutWebhook(c, in, func(project, id uuid.UUID) (webhook.Webhook, error) {
		return s.service.PauseWebhook(ctx, c.principal, project, id)
	})
}

func (s *server) resumeWebhook(ctx context.Context, c *call, in *WebhookPath) (*webhookOutput, error) {
	return aboutWebhook(c, in, func(project, id uuid.UUID) (webhook.Webhook, error) {
		return s.service.ResumeWebhook(ctx, c.principal, project, id)
	})
}

func aboutWebhook(c *call, in *WebhookPath, do func(project, id uuid.UUID) (webhook.Webhook, error)) (*webhookOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	w, err := do(project, id)
	if err != nil {
		return nil, err
	}
	return &webhookOutput{Body: webhookOf(c, w)}, nil
}

func (s *server) deleteWebhook(ctx context.Context, c *call, in *WebhookPath) (*nothing, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteWebhook(ctx, c.principal, project, id)
}

func (s *server) testWebhook(ctx context.Context, c *call, in *WebhookPath) (*testedWebhookOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	d, again, err := s.service.TestWebhook(ctx, c.principal, project, id, c.idem)
	if err != nil {
		return nil, err
	}
	return &testedWebhookOutput{Replayed: replayed(again), Body: WebhookDelivery(d)}, nil
}

func (s *server) listDeliveries(ctx context.Context, c *call, in *ListDeliveriesInput) (*Listed[webhook.Delivery], error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	page, err := in.page(cursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListWebhookDeliveries(ctx, project, id, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(d webhook.Delivery) string { return d.ID.String() }), nil
}

func (s *server) getDelivery(ctx context.Context, _ *call, in *DeliveryPath) (*deliveryOutput, error) {
	project, id, delivery, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownDelivery(s.service.GetWebhookDelivery(ctx, project, id, delivery))
}

func (s *server) replayDelivery(ctx context.Context, c *call, in *DeliveryPath) (*deliveryOutput, error) {
	project, id, delivery, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownDelivery(s.service.ReplayWebhookDelivery(ctx, c.principal, project, id, delivery))
}

func shownDelivery(d webhook.Shown, err error) (*deliveryOutput, error) {
	if err != nil {
		return nil, err
	}
	return &deliveryOutput{Body: WebhookDelivery(d)}, nil
}
