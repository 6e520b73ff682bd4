package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newAuditRestart(t *terminal, server *serverFlags) *cobra.Command {
	var reason, lostHead string
	var yes bool
	var output outputFlag
	log := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "restart --reason TEXT", Short: "Have the log begin anew, in the open, after a backup was restored", Args: arguments(0),
		Long: `Have the log begin anew, in the open, after a backup was restored. Its records go on; the one that says why, what was
restored and what is known to be lost is the first under another name of the log, which nothing signed before contradicts.
Everybody sees it for ever: ostraka audit checkpoint, ostraka audit verify and the owners of machines.

An agent that remembers no more than was restored goes on by itself. One that remembers what is lost takes no work until
its owner has accepted the restart. All servers must run this version of Ostraka, or a later one.`,
		Example: `  ostraka audit restart --reason "disk of the database broke; restored the backup of 3 May" --lost-head head.txt
  ostraka audit restart --operator --reason "the same, of the server's own log"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if strings.TrimSpace(reason) == "" {
				return usageError("what has happened? give --reason: everybody who reads the log sees it")
			}
			wanted := client.NewLogRestart{Reason: reason}
			if lostHead != "" {
				text, err := readAtMost(lostHead, audit.MaxCheckpointBytes)
				if err != nil {
					return err
				}
				wanted.LostHead = string(text)
			}
			c, err := log.connect()
			if err != nil {
				return err
			}
			if err := t.confirm(cmd.Context(), yes, "beginning the log anew"); err != nil {
				return err
			}
			key := new(uuid.NewString())
			doc, err := answer.Read[client.LogRestart](log.pick(
				func() (*http.Response, error) {
					return c.RestartServerAudit(cmd.Context(), &client.RestartServerAuditParams{IdempotencyKey: key}, wanted)
				},
				func() (*http.Response, error) {
					return c.RestartAudit(cmd.Context(), c.project, &client.RestartAuditParams{IdempotencyKey: key}, wanted)
				}))
			if err != nil {
				return explain("beginning the log anew", err)
			}
			return showRestart(t, &output, doc)
		},
	}
	f := cmd.Flags()
	output.register(f)
	log.register(f)
	f.StringVar(&reason, "reason", "", "what has happened, in at most 200 characters: everybody who reads the log sees it")
	f.StringVar(&lostHead, "lost-head", "", "file with a checkpoint that was kept and that the log does not grow out of any more")
	f.BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func showRestart(t *terminal, output *outputFlag, doc answer.Document[client.LogRestart]) error {
	r, err := audit.ParseRestart([]byte(doc.Value.Record))
	if err != nil || r.Origin != doc.Value.Origin {
		return &exitError{code: exitFailed, err: errors.Join(errors.New("the server gave a record of a restart that is none"), err)}
	}
	r.Index = doc.Value.Index
	if err := printOne(t, output, doc.Raw, [][2]string{
		{"record", fmt.Sprint(r.Index)},
		{"log", r.Origin},
		{"before", r.From},
		{"restored", count(r.Restored.Size, "record")},
		{"lost", lostText(r)},
		{"reason", r.Reason},
	}); err != nil {
		return err
	}
	t.say("keep a new checkpoint: ostraka audit checkpoint. Owners of machines that remember what is lost see this with ostraka agent witness show")
	return nil
}

func lostText(r audit.Restart) string {
	if r.Lost == nil {
		return "not known: neither agents nor --lost-head have shown a later head"
	}
	return fmt.Sprintf("a head of %s", count(r.Lost.Size, "record"))
}

// sayRestarts says how often a log began anew; of the last time the proof is checked here, and the others are proven by audit verify. None
// can be left out, since each says what the log was called before.
func sayRestarts(t *terminal, head client.AuditHead) error {
	restarts, err := openRestarts(head)
	if err != nil {
		return &exitError{code: exitFailed, err: err, hint: "ostraka audit verify says more"}
	}
	for _, r := range restarts {
		t.say("the log began anew %s", restartText(r))
	}
	return nil
}

func openRestarts(head client.AuditHead) (restarts []audit.Restart, err error) {
	called, _ := audit.Epoch(head.Origin)
	for i, shown := range head.Restarts {
		r, err := audit.ParseRestart([]byte(shown.Record))
		r.Index = shown.Index
		if err == nil && i == len(head.Restarts)-1 {
			r, err = audit.OpenRestart([]byte(shown.Record), []byte(shown.Proof), head.Key)
		}
		if err != nil {
			return nil, fmt.Errorf("what the server says of a restart does not hold: %w", err)
		}
		if r.From != called {
			return nil, fmt.Errorf("the server leaves out why the log that was called %s began anew as %s, before record %d", plain(called), plain(r.From), r.Index)
		}
		called, restarts = r.Origin, append(restarts, r)
	}
	if called != head.Origin {
		return nil, fmt.Errorf("the log is called %s, and the server does not say why it began anew", plain(head.Origin))
	}
	return restarts, nil
}
