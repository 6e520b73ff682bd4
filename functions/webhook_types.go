package functions

import "slices"

// WebhookKind is a kind of event that webhooks get.
type WebhookKind string

// The kinds of events. What a webhook has asked for is stored by these names.
const (
	WebhookJobFinished    WebhookKind = "job.finished"    // every shard was accepted and the answer stands
	WebhookJobFailed      WebhookKind = "job.failed"      // some shard failed, or the answer could not be made
	WebhookJobCancelled   WebhookKind = "job.cancelled"   // somebody has cancelled it
	WebhookFlagRaised     WebhookKind = "flag.raised"     // there is something that a person should look at
	WebhookScheduleMissed WebhookKind = "schedule.missed" // times of a schedule had passed when they were looked at
	WebhookPaused         WebhookKind = "webhook.paused"  // another webhook of the project was paused, since its receiver does not answer
	// WebhookTest is sent when somebody asks for it, to the one webhook that is named.
	WebhookTest WebhookKind = "webhook.test"
)

// WebhookKinds are those that a webhook can ask for.
func WebhookKinds() []WebhookKind {
	return []WebhookKind{WebhookJobFinished, WebhookJobFailed, WebhookJobCancelled, WebhookFlagRaised, WebhookScheduleMissed, WebhookPaused}
}

// Known says whether a webhook can ask for it.
func (k WebhookKind) Known() bool { return slices.Contains(WebhookKinds(), k) }

// WebhookKindOf is the kind of the event that a job's end is.
func WebhookKindOf(state JobState) WebhookKind { return WebhookKind("job." + string(state)) }
