package webhook

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/ostraka/ostraka/runtime/webhook"
)

const (
	// MaxTries is how often a delivery is tried.
	MaxTries = 8
	// MaxRetryAfter is for how long a receiver may have the next try put off.
	MaxRetryAfter = 24 * time.Hour
	// FailingFor is how long no try has worked when a webhook is paused: nobody seems to look.
	FailingFor = 5 * 24 * time.Hour
	// maxReason is how much of a reason is kept, in bytes: a receiver may have a say in it.
	maxReason = 300
	// jitterShare is by how much of itself a pause may be longer, so that what failed together is not tried together.
	jitterShare = 0.1
)

// pauses are those after the first try, the second and so on: MaxTries-1 of them.
func pauses() []time.Duration {
	return []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour,
	}
}

// try is what is known when a try has ended.
type try struct {
	answer  webhook.Answer
	err     error // there was no answer
	number  int   // 1: the first one
	failing time.Duration
	jitter  float64 // 0 to 1
}

// outcome is what follows from a try.
type outcome struct {
	state  State
	again  time.Duration // of one that waits: until the next try
	status *int
	text   string // why it failed; "": it did not
	pause  string // why the webhook is paused; "": it is not
}

// outcome decides.
func (t try) outcome() (o outcome) {
	if t.err == nil {
		o.status = &t.answer.Status
	}
	if t.err == nil && t.answer.Status >= http.StatusOK && t.answer.Status < http.StatusMultipleChoices {
		o.state = Delivered
		return o
	}
	o.text = t.reason()
	switch {
	case t.err == nil && t.answer.Status == http.StatusGone:
		o.state, o.pause = Failed, "its receiver answers 410 Gone: it wants no events any more"
	case t.number >= MaxTries:
		o.state = Failed
	default:
		o.state, o.again = Waiting, t.again()
	}
	if o.pause == "" && t.failing >= FailingFor {
		o.pause = fmt.Sprintf("no try has worked for %d days, the last one so: %s", int(FailingFor.Hours()/24), o.text)
	}
	return o
}

func (t try) reason() string {
	switch {
	case t.err != nil:
		return plain(t.err.Error())
	case t.answer.Status >= http.StatusMultipleChoices && t.answer.Status < http.StatusBadRequest:
		return fmt.Sprintf("it answers %d: redirects are not followed, name the URL that it leads to", t.answer.Status)
	default:
		return fmt.Sprintf("it answers %d", t.answer.Status)
	}
}

// plain is as much of a text as is kept, of characters that a person can see and a database can store.
func plain(text string) string {
	text = text[:min(len(text), maxReason)]
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// again is how long to wait before the next try.
func (t try) again() time.Duration {
	pause := pauses()[t.number-1]
	pause += time.Duration(float64(pause) * jitterShare * t.jitter)
	if t.err == nil && (t.answer.Status == http.StatusTooManyRequests || t.answer.Status == http.StatusServiceUnavailable) {
		pause = max(pause, min(t.answer.RetryAfter, MaxRetryAfter))
	}
	return pause
}
