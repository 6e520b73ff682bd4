package monitor

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/webhook"
)

const (
	// WebhookTries is how often a webhook is called for one alert until it answers with success.
	WebhookTries = 3
	// WebhookTryLimit is how long one call may take.
	WebhookTryLimit = 5 * time.Second
	// webhookPause is how long to wait before the second try; it doubles.
	webhookPause = time.Second
	// minSecret is the shortest secret, in bytes: a shorter one could be guessed from a few calls.
	minSecret = 16
	// maxAnswer is how much of an answer is read before the connection is used again.
	maxAnswer = 64 << 10
)

// Webhook posts every alert as JSON. With a secret it signs them as Standard Webhooks does (webhook-id, webhook-timestamp and
// webhook-signature: v1 and HMAC-SHA256 over id.timestamp.body).
type Webhook struct {
	url    string
	shown  string // without what may be secret
	secret []byte
	client *http.Client
	pause  time.Duration
}

// NewWebhook makes a handler of a URL; secretFile, where it is not empty, holds what to sign with.
func NewWebhook(address, secretFile string) (*Webhook, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the alert webhook is not a URL: write https://HOST/PATH")
	}
	w := &Webhook{url: address, shown: u.Scheme + "://" + u.Host, pause: webhookPause, client: &http.Client{
		Timeout: WebhookTryLimit,
		// A redirect would carry the alert to a host that was not named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if secretFile == "" {
		return w, nil
	}
	text, err := os.ReadFile(secretFile)
	if err != nil {
		return nil, fmt.Errorf("reading the secret of the alert webhook: %w", err)
	}
	if w.secret, err = parseSecret(strings.TrimSpace(string(text))); err != nil {
		return nil, fmt.Errorf("reading the secret of the alert webhook from %s: %w", secretFile, err)
	}
	return w, nil
}

// parseSecret takes the form of Standard Webhooks, whsec_ and base64, or any other text as it is.
func parseSecret(text string) (secret []byte, err error) {
	secret = []byte(text)
	if encoded, standard := strings.CutPrefix(text, webhook.SecretPrefix); standard {
		if secret, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, errors.New("what follows whsec_ is not base64")
		}
	}
	if len(secret) < minSecret {
		return nil, fmt.Errorf("it has %d bytes, at least %d are needed", len(secret), minSecret)
	}
	return secret, nil
}

// Name implements Handler.
func (w *Webhook) Name() string { return "webhook " + w.shown }

// Handle implements Handler.
func (w *Webhook) Handle(ctx context.Context, e Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding an alert: %w", err)
	}
	id := "msg_" + uuid.NewString() // the same for all tries: a receiver of two knows
	pause := w.pause
	for try := 1; ; try++ {
		again, err := w.post(ctx, id, body)
		if err == nil || !again || try == WebhookTries {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		pause *= 2
	}
}

// post calls once. again says whether another try may go better.
func (w *Webhook) post(ctx context.Context, id string, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("calling %s: %w", w.shown, err)
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "ostraka-agent")
	req.Header.Set(webhook.HeaderID, id)
	req.Header.Set(webhook.HeaderTimestamp, at)
	if w.secret != nil {
		req.Header.Set(webhook.HeaderSignature, webhook.Sign(w.secret, id, at, body))
	}
	res, err := w.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // it names the URL, with what may be secret in it
		}
		return true, fmt.Errorf("calling %s: %w", w.shown, err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode < http.StatusOK || res.StatusCode >= http.StatusMultipleChoices {
		again = res.StatusCode >= http.StatusInternalServerError || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout
		return again, fmt.Errorf("calling %s: it answers %s", w.shown, res.Status)
	}
	return false, nil
}
