package main

import (
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/runtime/monitor"
)

// alertFlags say what the owner of a machine wants to hear of sandboxes, and how.
type alertFlags struct {
	thresholds []string
	command    string
	webhook    string
	secretFile string
}

func (a *alertFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&a.thresholds, "threshold", nil, "what a sandbox may come to, for example memory.warning=80%, processes.critical=64 or samples=5; a critical one ends the shard; give the flag several times")
	f.StringVar(&a.command, "alert-command", "", "absolute path of a program that is run at every alert, with the alert as JSON on its standard input")
	f.StringVar(&a.webhook, "alert-webhook", "", "URL that every alert is posted to, as JSON")
	f.StringVar(&a.secretFile, "alert-webhook-secret-file", "", "file with the secret to sign those posts with")
}

func (a *alertFlags) complete(o *agent.Options) error {
	for _, text := range a.thresholds {
		if err := o.Thresholds.ParseFlag(text); err != nil {
			return usageError("--threshold %w", err)
		}
	}
	if err := o.Thresholds.Check(); err != nil {
		return usageError("--threshold: %w", err)
	}
	if a.command != "" {
		c, err := monitor.NewCommand(a.command)
		if err != nil {
			return usageError("--alert-command: %w", err)
		}
		o.AlertHandlers = append(o.AlertHandlers, c)
	}
	if a.webhook == "" {
		if a.secretFile != "" {
			return usageError("--alert-webhook-secret-file signs what goes to --alert-webhook, which is missing")
		}
		return nil
	}
	w, err := monitor.NewWebhook(a.webhook, a.secretFile)
	if err != nil {
		return usageError("--alert-webhook: %w", err)
	}
	o.AlertHandlers = append(o.AlertHandlers, w)
	return nil
}
