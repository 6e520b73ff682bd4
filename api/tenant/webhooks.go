package tenant

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.InProject
	Body WebhookRequest
}

// UpdateWebhookInput is what to change of a webhook.
type UpdateWebhookInput struct {
	WebhookPath
	Body WebhookChange
}

// WebhookPath names a webhook of a project.
type WebhookPath struct {
	rest.InProject
	Webhook rest.PathID `path:"webhook"`
}

func (p WebhookPath) ids() (project, id uuid.UUID, err error) { return p.And("webhook", p.Webhook) }

// DeliveryPath names a delivery of a webhook.
type DeliveryPath struct {
	WebhookPath
	Delivery rest.PathID `path:"delivery"`
}

func (p DeliveryPath) ids() (project, webhook, id uuid.UUID, err error) {
	if project, webhook, err = p.WebhookPath.ids(); err != nil {
		return project, webhook, id, err
	}
	id, err = rest.ReadID("delivery", p.Delivery)
	return project, webhook, id, err
}

// ListDeliveriesInput asks for deliveries of a webhook.
type ListDeliveriesInput struct {
	WebhookPath
	rest.Paging
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
	rest.Replayed
	Body WebhookDelivery
}

func (s *server) webhookOperations() {
	const path = "/v1/projects/{project}/webhooks"
	const one = path + "/{webhook}"
	const deliveries = one + "/deliveries"
	const secret = "The secret is in this answer and nowhere else: a repetition with the same `Idempotency-Key` answers 409 `secret_shown_once`."
	owners := rest.Roles(functions.RoleOwner)
	rest.Register(s.Server, rest.Operation{
		ID: "createWebhook", Method: http.MethodPost, Path: path, Tag: "webhooks", Summary: "Have events posted to a URL", About: secret,
		Access: owners, Status: http.StatusCreated, Body: rest.Body{Limit: rest.MaxJSONBody}, Retry: rest.RetryWithKey,
	}, s.createWebhook)
	rest.Register(s.Server, rest.Operation{
		ID: "listWebhooks", Method: http.MethodGet, Path: path, Tag: "webhooks", Summary: "List webhooks", About: "Owners see whole URLs, others their hosts.", Access: rest.Readers(),
	}, s.listWebhooks)
	rest.Register(s.Server, rest.Operation{
		ID: "getWebhook", Method: http.MethodGet, Path: one, Tag: "webhooks", Summary: "Get a webhook", About: "Owners see its whole URL, others its host.", Access: rest.Readers(),
	}, s.getWebhook)
	rest.Register(s.Server, rest.Operation{
		ID: "updateWebhook", Method: http.MethodPatch, Path: one, Tag: "webhooks", Summary: "Give a webhook another URL, or other events",
		About: "Its secret and its name stay. What waits goes to the new URL, at once; a webhook that is paused stays so.", Access: owners, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.updateWebhook)
	rest.Register(s.Server, rest.Operation{
		ID: "pauseWebhook", Method: http.MethodPost, Path: one + "/pause", Tag: "webhooks", Summary: "Pause a webhook",
		About: "It gets no events until it is resumed; deliveries that wait go on waiting.", Access: owners,
	}, s.pauseWebhook)
	rest.Register(s.Server, rest.Operation{
		ID: "resumeWebhook", Method: http.MethodPost, Path: one + "/resume", Tag: "webhooks", Summary: "Resume a webhook",
		About: "Events that happened while it was paused are not sent; deliveries that waited are.", Access: owners,
	}, s.resumeWebhook)
	rest.Register(s.Server, rest.Operation{
		ID: "rotateWebhookSecret", Method: http.MethodPost, Path: one + "/rotate", Tag: "webhooks", Summary: "Replace the secret of a webhook",
		About: "For a day the old secret signs beside the new one. " + secret, Access: owners, Retry: rest.RetryWithKey,
	}, s.rotateWebhookSecret)
	rest.Register(s.Server, rest.Operation{
		ID: "testWebhook", Method: http.MethodPost, Path: one + "/test", Tag: "webhooks", Summary: "Send a test event to a webhook",
		Access: owners, Status: http.StatusCreated, Retry: rest.RetryWithKey,
	}, s.testWebhook)
	rest.Register(s.Server, rest.Operation{
		ID: "deleteWebhook", Method: http.MethodDelete, Path: one, Tag: "webhooks", Summary: "Delete a webhook", About: "Its deliveries go with it, those that wait too.",
		Access: owners, Status: http.StatusNoContent,
	}, s.deleteWebhook)
	rest.Register(s.Server, rest.Operation{
		ID: "listWebhookDeliveries", Method: http.MethodGet, Path: deliveries, Tag: "webhooks", Summary: "List deliveries of a webhook, the newest first", Access: rest.Readers(),
	}, s.listDeliveries)
	rest.Register(s.Server, rest.Operation{
		ID: "getWebhookDelivery", Method: http.MethodGet, Path: deliveries + "/{delivery}", Tag: "webhooks", Summary: "Get a delivery and what is sent", Access: rest.Readers(),
	}, s.getDelivery)
	rest.Register(s.Server, rest.Operation{
		ID: "replayWebhookDelivery", Method: http.MethodPost, Path: deliveries + "/{delivery}/replay", Tag: "webhooks", Summary: "Send an event once more",
		About: "Under the ID that it had, by which receivers know that they have seen it. One that is on its way goes on.", Access: owners,
	}, s.replayDelivery)
}

func (s *server) createWebhook(ctx context.Context, c *rest.Call, in *CreateWebhookInput) (*secretWebhookOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	w, secret, again, err := s.service.CreateWebhook(ctx, c.Principal, project, in.Body.spec(), c.Idem)
	return withSecret(c, w, secret, again, err)
}

func (s *server) rotateWebhookSecret(ctx context.Context, c *rest.Call, in *WebhookPath) (*secretWebhookOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	w, secret, again, err := s.service.RotateWebhookSecret(ctx, c.Principal, project, id, c.Idem)
	return withSecret(c, w, secret, again, err)
}

func withSecret(c *rest.Call, w webhook.Webhook, secret string, again bool, err error) (*secretWebhookOutput, error) {
	switch {
	case err != nil:
		return nil, err
	case again:
		return nil, rest.ShownOnce("the secret of the webhook "+w.ID.String(), "if it is lost, make another one: ostraka webhook rotate")
	}
	return &secretWebhookOutput{Body: SecretWebhook{Webhook: webhookOf(c, w), Secret: secret}}, nil
}

func (s *server) listWebhooks(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[Webhook], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]Webhook, error) {
		rows, err := s.service.ListWebhooks(ctx, project, page)
		list := make([]Webhook, len(rows))
		for i, w := range rows {
			list[i] = webhookOf(c, w)
		}
		return list, err
	}
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfID, list, func(w Webhook) string { return w.ID.String() })
}

func (s *server) getWebhook(ctx context.Context, c *rest.Call, in *WebhookPath) (*webhookOutput, error) {
	return aboutWebhook(c, in, func(project, id uuid.UUID) (webhook.Webhook, error) { return s.service.GetWebhook(ctx, project, id) })
}

func (s *server) updateWebhook(ctx context.Context, c *rest.Call, in *UpdateWebhookInput) (*webhookOutput, error) {
	return aboutWebhook(c, &in.WebhookPath, func(project, id uuid.UUID) (webhook.Webhook, error) {
		return s.service.UpdateWebhook(ctx, c.Principal, project, id, in.Body.change())
	})
}

func (s *server) pauseWebhook(ctx context.Context, c *rest.Call, in *WebhookPath) (*webhookOutput, error) {
	return aboutWebhook(c, in, func(project, id uuid.UUID) (webhook.Webhook, error) {
		return s.service.PauseWebhook(ctx, c.Principal, project, id)
	})
}

func (s *server) resumeWebhook(ctx context.Context, c *rest.Call, in *WebhookPath) (*webhookOutput, error) {
	return aboutWebhook(c, in, func(project, id uuid.UUID) (webhook.Webhook, error) {
		return s.service.ResumeWebhook(ctx, c.Principal, project, id)
	})
}

func aboutWebhook(c *rest.Call, in *WebhookPath, do func(project, id uuid.UUID) (webhook.Webhook, error)) (*webhookOutput, error) {
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

func (s *server) deleteWebhook(ctx context.Context, c *rest.Call, in *WebhookPath) (*rest.Nothing, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteWebhook(ctx, c.Principal, project, id)
}

func (s *server) testWebhook(ctx context.Context, c *rest.Call, in *WebhookPath) (*testedWebhookOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	d, again, err := s.service.TestWebhook(ctx, c.Principal, project, id, c.Idem)
	if err != nil {
		return nil, err
	}
	return &testedWebhookOutput{Replayed: rest.ReplayedAs(again), Body: WebhookDelivery(d)}, nil
}

func (s *server) listDeliveries(ctx context.Context, c *rest.Call, in *ListDeliveriesInput) (*rest.Listed[webhook.Delivery], error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	page, err := in.Page(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListWebhookDeliveries(ctx, project, id, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(d webhook.Delivery) string { return d.ID.String() }), nil
}

func (s *server) getDelivery(ctx context.Context, _ *rest.Call, in *DeliveryPath) (*deliveryOutput, error) {
	project, id, delivery, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownDelivery(s.service.GetWebhookDelivery(ctx, project, id, delivery))
}

func (s *server) replayDelivery(ctx context.Context, c *rest.Call, in *DeliveryPath) (*deliveryOutput, error) {
	project, id, delivery, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownDelivery(s.service.ReplayWebhookDelivery(ctx, c.Principal, project, id, delivery))
}

func shownDelivery(d webhook.Shown, err error) (*deliveryOutput, error) {
	if err != nil {
		return nil, err
	}
	return &deliveryOutput{Body: WebhookDelivery(d)}, nil
}
