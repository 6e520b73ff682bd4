package tenant

import (
	"encoding/json"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/webhook"
)

// WebhookRequest is a webhook as people write it.
type WebhookRequest struct {
	Name   string                  `json:"name" minLength:"1" maxLength:"63" doc:"Lower-case letters, digits and hyphens, starting with a letter." example:"chat"`
	URL    string                  `json:"url" minLength:"1" maxLength:"2048" doc:"Where events are posted: https, without user, password and fragment. Private addresses are called only where an operator allows them." example:"https://hooks.example/ostraka"`
	Kinds  []functions.WebhookKind `json:"kinds" minItems:"1" maxItems:"20" enum:"job.finished,job.failed,job.cancelled,flag.raised,schedule.missed,webhook.paused" doc:"Which events it gets."`
	Paused bool                    `json:"paused,omitempty" doc:"It gets no events until it is resumed."`
}

func (r WebhookRequest) spec() webhook.Spec {
	return webhook.Spec{Name: r.Name, URL: r.URL, Kinds: r.Kinds, Paused: r.Paused}
}

// WebhookChange is what to change of a webhook; what is left out stays.
type WebhookChange struct {
	URL   string                  `json:"url,omitempty" maxLength:"2048" doc:"Where events are posted from now on, by the rules for new webhooks." example:"https://hooks.example/ostraka"`
	Kinds []functions.WebhookKind `json:"kinds,omitempty" maxItems:"20" enum:"job.finished,job.failed,job.cancelled,flag.raised,schedule.missed,webhook.paused" doc:"Which events it gets from now on."`
}

func (r WebhookChange) change() webhook.Change { return webhook.Change{URL: r.URL, Kinds: r.Kinds} }

// Webhook is a webhook of a project.
type Webhook struct {
	ID           uuid.UUID               `json:"id"`
	Name         string                  `json:"name"`
	URL          string                  `json:"url" doc:"For owners; others see the host alone, since the path may be a secret."`
	Kinds        []functions.WebhookKind `json:"kinds"`
	CreatedBy    string                  `json:"created_by"`
	CreatedAt    time.Time               `json:"created_at"`
	Paused       bool                    `json:"paused"`
	PauseReason  string                  `json:"pause_reason,omitempty" doc:"Why: somebody did it, the receiver answered 410, or no try has worked for five days."`
	FailingSince *time.Time              `json:"failing_since,omitempty" doc:"Since when no try has worked."`
	LastError    string                  `json:"last_error,omitempty" doc:"Why the last try failed, if it did."`
	DeliveredAt  *time.Time              `json:"delivered_at,omitempty" doc:"When a try worked last."`
	Waiting      int64                   `json:"waiting" doc:"How many deliveries wait."`
	Dropped      int64                   `json:"dropped" doc:"How many gave way to newer ones, as too many of the project waited."`
}

// SecretWebhook is a webhook with what signs its events.
type SecretWebhook struct {
	Webhook
	Secret string `json:"secret" doc:"What signs its events, as Standard Webhooks has it. It is shown this once."`
}

// WebhookDelivery is a delivery with what is sent.
type WebhookDelivery struct {
	webhook.Delivery
	Body json.RawMessage `json:"body" doc:"What is sent, byte for byte but for white space: type, timestamp and data."`
}

func webhookOf(c *rest.Call, w webhook.Webhook) Webhook {
	shown := Webhook{
		ID: w.ID, Name: w.Name, URL: w.URL, Kinds: w.Kinds, CreatedBy: w.CreatedBy, CreatedAt: w.CreatedAt, Paused: w.Paused, PauseReason: w.PauseReason,
		FailingSince: w.FailingSince, LastError: w.LastError, DeliveredAt: w.DeliveredAt, Waiting: w.Waiting, Dropped: w.Dropped,
	}
	if c.Principal.Role != functions.RoleOwner {
		shown.URL = withoutPath(w.URL)
	}
	return shown
}

// withoutPath is what of a URL is no secret.
func withoutPath(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
