package webhook

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
)

// The limits of webhooks.
const (
	// MaxWebhooks is how many webhooks a project has: each event is sent to all that want it.
	MaxWebhooks = 20
	// MaxUndelivered is how many deliveries of a project wait at most; older ones give way.
	MaxUndelivered = 1000
	// MaxAtOnce is how many deliveries of a project are sent at a time, so that slow receivers of one project keep no other's waiting.
	MaxAtOnce = 4
	// KeptFor is how long events and their deliveries are kept.
	KeptFor = 30 * 24 * time.Hour
	// OldSecretFor is how long the secret that was replaced signs as well.
	OldSecretFor = 24 * time.Hour
)

// Spec is a webhook as people write it.
type Spec struct {
	Name  string
	URL   string
	Kinds []functions.WebhookKind
	// Paused is for a new one: it gets no events until it is resumed.
	Paused bool
}

// Webhook is a webhook of a project. Its secret is never shown again.
type Webhook struct {
	ID           uuid.UUID
	Name         string
	URL          string
	Kinds        []functions.WebhookKind
	CreatedBy    string
	CreatedAt    time.Time
	Paused       bool
	PauseReason  string
	FailingSince *time.Time // nil: the last try has worked, or there was none
	LastError    string
	DeliveredAt  *time.Time
	Dropped      int64
	Waiting      int64 // deliveries
}

// State is where a delivery stands.
type State string

// The states of a delivery.
const (
	Waiting   State = "waiting"   // for its next try
	Sending   State = "sending"   // a step is about to try
	Delivered State = "delivered" // the receiver has said so
	Failed    State = "failed"    // the last try failed as well
	Dropped   State = "dropped"   // it gave way to newer ones
)

// Delivery is an event on its way to one webhook.
type Delivery struct {
	ID        uuid.UUID             `json:"id"`
	Webhook   uuid.UUID             `json:"webhook" db:"webhook_id"`
	EventID   uuid.UUID             `json:"-"`
	MessageID string                `json:"message" db:"-" doc:"The webhook-id of all its tries, and of replays: receivers that get two know."`
	Kind      functions.WebhookKind `json:"kind"`
	Job       *uuid.UUID            `json:"job,omitempty" db:"job_id"`
	At        time.Time             `json:"at" doc:"When it happened."`
	State     State                 `json:"state" enum:"waiting,sending,delivered,failed,dropped"`
	Tries     int                   `json:"tries"`
	NextAt    time.Time             `json:"next_at" doc:"When the next try is due, of one that waits."`
	EndedAt   *time.Time            `json:"ended_at,omitempty"`
	Status    *int                  `json:"status,omitempty" doc:"Of the receiver's last answer; left out where there was none."`
	Error     string                `json:"error,omitempty" doc:"Why the last try failed."`
}

// named fills in what follows from the rest.
func (d Delivery) named() Delivery {
	d.MessageID = messageID(d.EventID)
	return d
}

// messageID is the webhook-id of an event: the same for all tries and replays, so that a receiver knows a second one.
func messageID(event uuid.UUID) string { return "msg_" + event.String() }

// Shown is a delivery with what is sent.
type Shown struct {
	Delivery
	Body json.RawMessage
}

// message is the body of an event.
type message struct {
	Type      functions.WebhookKind `json:"type"`
	Timestamp time.Time             `json:"timestamp"`
	Data      json.RawMessage       `json:"data"`
}
