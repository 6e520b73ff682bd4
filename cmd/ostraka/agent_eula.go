package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/eula"
)

// agreer asks the owner of the machine about an agreement.
type agreer struct {
	terminal *terminal
	version  string // accepted beforehand; "": none
}

// ask shows the text and asks, where there is somebody to ask. An owner who names a version has read it.
func (a agreer) ask(ctx context.Context, d eula.Document) (bool, error) {
	if a.version != "" {
		if a.version != d.Version {
			return false, &exitError{
				code: exitAuth, err: fmt.Errorf("version %s of the agreement is accepted, and the server asks for version %s", a.version, d.Version),
				hint: "read it with ostraka agent eula show, and accept that version",
			}
		}
		return true, nil
	}
	t := a.terminal
	t.say("%s", strings.TrimRight(d.Text, "\n"))
	t.say("\nSHA-256 of this text: %s", d.Digest)
	if !t.asks {
		return false, nil
	}
	fmt.Fprintf(t.talk, "\nDo you accept version %s? Type yes or no: ", d.Version)
	line, err := t.answerTo(ctx)
	if err != nil {
		return false, fmt.Errorf("reading your answer: %w", err)
	}
	return strings.EqualFold(strings.TrimSpace(line), "yes"), nil
}

// notAgreed says what to do about an agreement that is missing.
func notAgreed(t *terminal, err error) error {
	return &exitError{
		code: exitAuth, err: err,
		hint: "read the agreement with " + t.program + " agent eula show, then start with --accept-eula VERSION (or OSTRAKA_ACCEPT_EULA)",
	}
}

func newAgentEULA(t *terminal, server *serverFlags) *cobra.Command {
	cmd := noun("eula", "The agreement that the owner of a machine accepts", newAgentEULAShow(t, server), newAgentEULAAccept(t, server))
	cmd.Long = `The agreement that the owner of a machine accepts before the agent does anything. When the server asks
for a new version, agents that run keep running and do no work until it is accepted.`
	return cmd
}

// requiredEULA is the agreement that the server asks for; without a server the one in this program.
func requiredEULA(ctx context.Context, server *serverFlags) (eula.Document, error) {
	if firstOf(server.url, server.terminal.env("OSTRAKA_URL")) == "" {
		return eula.Embedded(), nil
	}
	address, err := server.address()
	if err != nil {
		return eula.Document{}, err
	}
	c, err := dial(address, "")
	if err != nil {
		return eula.Document{}, err
	}
	doc, err := answer.Read[client.Document](c.GetEULA(ctx))
	if err != nil {
		return eula.Document{}, explain("reading the agreement", err)
	}
	d := eula.Document{Version: doc.Value.Version, Digest: doc.Value.Digest, Text: doc.Value.Text}
	return d, d.Check()
}

func newAgentEULAShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var data dataFlag
	cmd := &cobra.Command{
		Use: "show", Short: "Show the agreement that the server asks for, and whether it is accepted here", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			dir, err := data.dir()
			if err != nil {
				return err
			}
			d, err := requiredEULA(cmd.Context(), server)
			if err != nil {
				return err
			}
			kept, err := agent.ReadAcceptance(dir)
			if err != nil {
				return err
			}
			accepted := kept.Digest == d.Digest
			if output.json() {
				return writeValue(t.out, map[string]any{"version": d.Version, "digest": d.Digest, "text": d.Text, "accepted": accepted})
			}
			t.put("%s", d.Text)
			t.say("\nversion %s, SHA-256 %s", d.Version, d.Digest)
			switch {
			case accepted:
				t.say("accepted here on %s", shortTime(kept.AcceptedAt))
			case kept.Digest != "":
				t.say("not accepted here; version %s was, on %s", kept.Version, shortTime(kept.AcceptedAt))
			default:
				t.say("not accepted here")
			}
			return nil
		},
	}
	output.register(cmd.Flags())
	data.register(cmd.Flags())
	return cmd
}

func newAgentEULAAccept(t *terminal, server *serverFlags) *cobra.Command {
	var data dataFlag
	cmd := &cobra.Command{
		Use: "accept [VERSION]", Short: "Accept the agreement that the server asks for",
		Long: `Accept the agreement that the server asks for. Without a version the text is shown and you are asked.
An agent that runs in the folder notices it within seconds and goes on.`,
		Example: "  ostraka agent eula accept 2026-11 --url https://ostraka.example.org --data ~/ostraka-agent",
		Args:    argumentsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := data.dir()
			if err != nil {
				return err
			}
			d, err := requiredEULA(cmd.Context(), server)
			if err != nil {
				return err
			}
			ask := agreer{terminal: t}
			if len(args) == 1 {
				ask.version = args[0]
			}
			yes, err := ask.ask(cmd.Context(), d)
			if err != nil {
				return err
			}
			if !yes {
				return &exitError{code: exitAuth, err: errors.New("the agreement is not accepted"), hint: "name the version to accept it: " + t.program + " agent eula accept " + d.Version}
			}
			if err := agent.Accept(dir, d); err != nil {
				return err
			}
			t.say("accepted version %s of the agreement, for the agent in %s", d.Version, dir)
			return nil
		},
	}
	data.register(cmd.Flags())
	return cmd
}
