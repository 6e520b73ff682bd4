package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers of a message.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

const (
	// Tolerance is how far the clocks of sender and receiver may be apart. A message that is older may be one that somebody repeats.
	Tolerance = 5 * time.Minute
	// version marks an HMAC with SHA-256.
	version = "v1,"
	// maxSignatures is how many signatures of a header are looked at: a sender has two while a secret is being replaced.
	maxSignatures = 20
)

// Why a message must not be believed.
var (
	ErrTimestamp = errors.New("the timestamp is not a number of seconds, or too far from now")
	ErrSignature = errors.New("no signature fits: the body, the ID or the timestamp were changed, or the secret is another one")
)

// Sign makes the signature of a message: of its ID, its time in seconds and its body as it is sent.
func Sign(secret []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(id + "." + timestamp + ".")) // cannot fail
	_, _ = mac.Write(body)
	return version + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Message is what a receiver has got.
type Message struct {
	ID        string
	Timestamp string
	Signature string // one or more, with spaces between them
	Body      []byte
}

// Verify says whether a message was signed with the secret around now.
func Verify(secret []byte, m Message, now time.Time) error {
	seconds, err := strconv.ParseInt(m.Timestamp, 10, 64)
	if err != nil {
		return ErrTimestamp
	}
	if apart := now.Sub(time.Unix(seconds, 0)).Abs(); apart > Tolerance {
		return fmt.Errorf("%w: it is %v away, and %v are tolerated", ErrTimestamp, apart.Round(time.Second), Tolerance)
	}
	want := []byte(Sign(secret, m.ID, m.Timestamp, m.Body))
	for i, got := range strings.Fields(m.Signature) {
		if i == maxSignatures {
			break
		}
		if hmac.Equal([]byte(got), want) {
			return nil
		}
	}
	return ErrSignature
}
