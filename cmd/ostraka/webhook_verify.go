package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/runtime/webhook"
)

const (
	// maxReceived is the largest body that is verified, in bytes. Ostraka sends smaller ones.
	maxReceived = 1 << 20
	// maxSecretFile is how long the file with a secret may be, in bytes.
	maxSecretFile = 1 << 10
)

// webhookVerify are the flags of `ostraka webhook verify`.
type webhookVerify struct {
	terminal   *terminal
	secretFile string
	file       string
	at         string
	message    webhook.Message
}

func newWebhookVerify(t *terminal) *cobra.Command {
	v := &webhookVerify{terminal: t}
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify a message that was received, without a server", Args: arguments(0),
		Long: `Verify a message that was received, without a server: its body as it came, to the byte, and its three headers. Any sender of
Standard Webhooks 1.0.0 that signs with HMAC (v1) will do.`,
		Example: `  ostraka webhook verify --secret-file chat.secret --body body.json --id msg_… --timestamp 1800000000 --signature v1,…`,
		RunE:    func(*cobra.Command, []string) error { return v.run() },
	}
	f := cmd.Flags()
	f.StringVar(&v.secretFile, "secret-file", "", "file with the secret, whsec_…")
	f.StringVar(&v.file, "body", "", "file with the body; - is stdin")
	f.StringVar(&v.message.ID, "id", "", "the header webhook-id")
	f.StringVar(&v.message.Timestamp, "timestamp", "", "the header webhook-timestamp")
	f.StringVar(&v.message.Signature, "signature", "", "the header webhook-signature")
	f.StringVar(&v.at, "at", "", "when it was received, for example 2027-01-01T00:00:00Z; left out: now")
	return cmd
}

func (v *webhookVerify) run() error {
	if v.secretFile == "" || v.file == "" || v.message.ID == "" || v.message.Timestamp == "" || v.message.Signature == "" {
		return usageError("give --secret-file, --body, --id, --timestamp and --signature")
	}
	now := time.Now()
	if v.at != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, v.at); err != nil {
			return usageError("--at %q is no time: write for example 2027-01-01T00:00:00Z", v.at)
		}
	}
	text, err := readAtMost(v.secretFile, maxSecretFile)
	if err != nil {
		return err
	}
	secret, err := webhook.ParseSecret(strings.TrimSpace(string(text)))
	if err != nil {
		return usageError("--secret-file %s: %v", v.secretFile, err)
	}
	if v.message.Body, err = v.readBody(); err != nil {
		return err
	}
	if err := webhook.Verify(secret, v.message, now); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("the message %s does not hold: %w", v.message.ID, err), hint: "compare the body to the byte, and the clocks; --at says when it came"}
	}
	_, err = fmt.Fprintf(v.terminal.out, "verified %s\n", v.message.ID)
	return err
}

func (v *webhookVerify) readBody() ([]byte, error) {
	if v.file != "-" {
		return readAtMost(v.file, maxReceived)
	}
	body, err := io.ReadAll(io.LimitReader(v.terminal.in, maxReceived+1))
	if err == nil && len(body) > maxReceived {
		err = errors.New("stdin has more bytes than a message")
	}
	return body, err
}
