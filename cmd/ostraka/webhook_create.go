package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// webhookSecret prints the secret of a webhook, once, or writes it into a file.
type webhookSecret struct {
	outputFlag
	terminal *terminal
	file     string
}

func (s *webhookSecret) register(f *pflag.FlagSet) {
	s.outputFlag.register(f)
	f.StringVar(&s.file, "secret-file", "", "write the secret into this file, which must not be there yet and which only you can read; left out: stdout")
}

// run asks for a webhook with a secret. The file is made before, so that no secret is made that has no place to go.
func (s *webhookSecret) run(doing string, request func() (*http.Response, error)) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	var file *os.File
	if s.file != "" {
		if file, err = os.OpenFile(s.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return &exitError{code: exitUsage, err: fmt.Errorf("--secret-file: %w", err), hint: "name a file that is not there yet, in a folder that is: no secret is written over"}
		}
	}
	doc, err := answer.Read[client.SecretWebhook](request())
	if err != nil {
		if file != nil {
			_ = file.Close()
			_ = os.Remove(s.file) // it is empty
		}
		return explain(doing, err)
	}
	if file == nil {
		return s.print(doc)
	}
	return s.write(file, doc.Value)
}

func (s *webhookSecret) print(doc answer.Document[client.SecretWebhook]) error {
	if s.json() {
		return writeJSON(s.terminal.out, doc.Raw)
	}
	s.terminal.say("webhook %s (%s)", doc.Value.Name, doc.Value.ID)
	return printSecret(s.terminal, &s.outputFlag, "secret", doc.Value.Secret, nil)
}

// write keeps the secret out of what is printed.
func (s *webhookSecret) write(file *os.File, w client.SecretWebhook) error {
	_, err := fmt.Fprintln(file, w.Secret)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("writing the secret of the webhook %s, which is lost (make another: ostraka webhook rotate): %w", w.ID, err)
	}
	s.terminal.say("the secret of the webhook %s is in %s", w.Name, s.file)
	if s.json() {
		w.Secret = ""
		return writeValue(s.terminal.out, w)
	}
	_, err = fmt.Fprintln(s.terminal.out, w.ID)
	return err
}

func newWebhookCreate(t *terminal, server *serverFlags) *cobra.Command {
	s := &webhookSecret{terminal: t}
	var url string
	var kinds []string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Have events posted to a URL, and print the secret that signs them, once", Args: arguments(1),
		Long: `Have events posted to a URL, and print the secret that signs them, once. They are signed as Standard Webhooks 1.0.0 has it,
and tried again when the receiver does not answer. Private addresses are called only where the server's operator allows it.`,
		Example: `  ostraka webhook create chat --url https://hooks.example/ostraka --event job.finished,job.failed --secret-file chat.secret
  ostraka webhook create flags --url https://hooks.example/flags --event flag.raised -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if url == "" || len(kinds) == 0 {
				return usageError("where to, and what? give --url and --event, for example --event job.finished,job.failed")
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			request := client.WebhookRequest{Name: args[0], URL: url}
			for _, kind := range kinds {
				request.Kinds = append(request.Kinds, client.WebhookRequestKinds(kind))
			}
			return s.run("creating the webhook", func() (*http.Response, error) {
				return c.CreateWebhook(cmd.Context(), c.project, &client.CreateWebhookParams{IdempotencyKey: new(uuid.NewString())}, request)
			})
		},
	}
	s.register(cmd.Flags())
	cmd.Flags().StringVar(&url, "url", "", "where events are posted, for example https://hooks.example/ostraka")
	cmd.Flags().StringSliceVar(&kinds, "event", nil, "which events: job.finished, job.failed, job.cancelled, flag.raised, schedule.missed, webhook.paused (may be repeated)")
	return cmd
}

func newWebhookRotate(t *terminal, server *serverFlags) *cobra.Command {
	s := &webhookSecret{terminal: t}
	cmd := &cobra.Command{
		Use: "rotate WEBHOOK", Short: "Replace the secret of a webhook, and print the new one, once", Args: arguments(1), ValidArgsFunction: server.complete(webhookNames),
		Long:    "Replace the secret of a webhook, and print the new one, once. For a day both sign, so that a receiver can change it without a gap.",
		Example: "  ostraka webhook rotate chat --secret-file chat.new-secret",
		RunE: func(cmd *cobra.Command, args []string) error {
			return rotateWebhook(cmd.Context(), server, s, args[0])
		},
	}
	s.register(cmd.Flags())
	return cmd
}

func rotateWebhook(ctx context.Context, server *serverFlags, s *webhookSecret, text string) error {
	c, err := server.connectProject()
	if err != nil {
		return err
	}
	id, err := findWebhook(ctx, c, text)
	if err != nil {
		return err
	}
	return s.run("replacing the secret", func() (*http.Response, error) {
		return c.RotateWebhookSecret(ctx, c.project, id, &client.RotateWebhookSecretParams{IdempotencyKey: new(uuid.NewString())})
	})
}
